"""Which folder a project's memories have, and which directories are no project at all."""

from __future__ import annotations

import hashlib
import re
import unicodedata

SLUG_CHARACTERS = 48
HASH_CHARACTERS = 16
UNNAMED = "project"
_HASH = re.compile(f"[0-9a-f]{{{HASH_CHARACTERS}}}")


def slug_of(identity: str) -> str:
    """Given a project's identity, a path or a configured name, return `<name>-<hash>` (§5).

    The name is the identity's last segment in letters and digits of any script, `.`, `_` and `-`;
    the hash is over the identity as it is, so that no two projects share a folder.
    """
    sealed = hashlib.sha256(identity.encode("utf-8", "surrogateescape")).hexdigest()
    return f"{_name(identity)}-{sealed[:HASH_CHARACTERS]}"


def is_slug(text: str) -> bool:
    """True for what `slug_of` can have made: a folder's name, and nothing that leads out of a folder."""
    name, dash, sealed = (
        text[: -HASH_CHARACTERS - 1],
        text[-HASH_CHARACTERS - 1 :][:1],
        text[-HASH_CHARACTERS:],
    )
    return dash == "-" and _HASH.fullmatch(sealed) is not None and _name(name) == name


def is_project(directory: str, *, home: str, tmp: str) -> bool:
    """Given a directory, return whether it is one: exactly $HOME, `/` and the temporary folder are none."""
    return directory not in {home, "/", tmp}


def _name(identity: str) -> str:
    last = re.split(r"[/\\]", identity.rstrip("/\\"))[-1]
    kept = "".join(
        character if _stays(character) else "-" for character in unicodedata.normalize("NFC", last)
    )
    return re.sub(r"-{2,}", "-", kept).strip("-.")[:SLUG_CHARACTERS].rstrip("-.") or UNNAMED


def _stays(character: str) -> bool:
    return character.isalnum() or character in "-_." or unicodedata.category(character) in {"Mn", "Mc"}
