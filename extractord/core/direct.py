"""Whether a path that a transcript names lies below a root, by its words alone."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection
from functools import lru_cache

_HOMES = {"home": 2, "Users": 2, "root": 1}
"""How deep another user's home lies, by what it begins with."""
_PLAIN = re.compile(r"[A-Za-z0-9._-]+")
_LOWERED = bytes.maketrans(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ", b"abcdefghijklmnopqrstuvwxyz")
_LOOKED_THROUGH = b"\\\"'`_"


def under(path: str, roots: Collection[str], home: str) -> bool:
    """Given a recorded path, return True if it is one of the roots or lies below one.

    Compared component by component after `~` and `.` and `..`; neither needs to exist. A path that
    is still relative lies nowhere. Roots come as configured and as real paths.
    """
    return below(path, roots, home) is not None


def below(path: str, roots: Collection[str], home: str) -> str | None:
    """Given the same as `under`, return the path below the first root that it lies under, with `/`."""
    parts = _parts(path, home) if roots else None
    if parts is None:
        return None
    for root in roots:
        above = _parts(root, home)
        if above is not None and parts[: len(above)] == above:
            return "/".join(parts[len(above) :])
    return None


@lru_cache(16)
def telling(roots: tuple[str, ...], home: str) -> tuple[bytes, ...]:
    """Given roots, return of each the longest name on its way: a path below the root must spell it.

    Empty for one that has none, which anything spells. What leads to a home can hide behind `~` in a
    transcript of any user; a name with other characters than ASCII letters, digits, `-`, `_` and `.` can
    be spelt in more than one way.
    """
    own = _parts(home, home) or ()
    names: list[bytes] = []
    for parts in (_parts(root, home) or () for root in roots):
        hidden = max(_HOMES.get(parts[0], 0) if parts else 0, len(own) if parts[: len(own)] == own else 0)
        plain = (part for part in parts[hidden:] if _PLAIN.fullmatch(part))
        names.append(max(plain, key=len, default="").encode())
    return tuple(dict.fromkeys(names))


def may_spell(names: tuple[bytes, ...], record: bytes, cwd: str | None) -> bool:
    """Given names of `telling` and a record as it came, return False where no path in it can have one.

    `cwd` may stand beside it. Quotes and backslashes of shells, programs and JSON are looked through,
    and so are `_` and case; what holds a variable or an escape by number might spell anything.
    """
    if b"$" in record or b"\\u" in record or b"\\x" in record:
        return True
    told = b"\n".join((_folded(record), _folded((cwd or "").encode())))
    return any(name in told for name in _spelt(names))


@lru_cache(16)
def _spelt(names: tuple[bytes, ...]) -> tuple[bytes, ...]:
    return tuple(map(_folded, names))


def _folded(spelt: bytes) -> bytes:
    return spelt.translate(_LOWERED, _LOOKED_THROUGH)


@lru_cache(4096)
def _parts(path: str, home: str) -> tuple[str, ...] | None:
    if path == "~" or path.startswith("~/"):
        path = home + path[1:]
    if not path.startswith("/"):
        return None
    return tuple(part for part in posixpath.normpath(path).split("/") if part)
