"""A memory's text: what it says, and our stamps put in and taken out of its raw header."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

import msgspec

from extractord.core.front_matter import STAMPS, Front, Malformed, front_of
from extractord.core.records import Stamp

__all__ = ["STAMPS", "Malformed", "Memory", "parse", "stamp", "unstamp", "utc"]

_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+([^\n]*)", re.MULTILINE)
_PLAIN = re.compile(r"[A-Za-z0-9](?:[\w./@+-]|[: ](?=[\w./@+-]))*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Memory:
    """What a memory's text says; a part that it does not have is empty."""

    name: str = ""
    description: str = ""
    type: str = ""
    """`metadata.type`, or a bare top-level `type`."""
    body: str = ""
    """All after the front matter, as it stands."""
    metadata: Mapping[str, object] = field(default_factory=dict)
    """Scalars as they are written: `1.10` stays `1.10`."""

    @property
    def heading(self) -> str:
        """The first heading of the body."""
        found = _HEADING.search(self.body)
        return found[1].rstrip(" \t\r").rstrip("#").rstrip(" \t") if found else ""


def parse(text: str) -> Memory | Malformed:
    """Given a memory's text, return what it says, or why it cannot be read.

    A text without any front matter is a memory without a name: people write such files.
    """
    front = front_of(text)
    if front is None:
        return Memory(body=text)
    if isinstance(front, Malformed):
        return front
    values, metadata = front.values, front.values.get("metadata") or {}
    if not isinstance(metadata, dict):
        return Malformed("`metadata` is not a mapping")
    words = {
        "name": values.get("name", ""),
        "description": values.get("description", ""),
        "type": metadata.get("type", values.get("type", "")),
    }
    wrong = [key for key, value in words.items() if not isinstance(value, str)]
    if wrong:
        return Malformed(f"`{wrong[0]}` is not plain text")
    return Memory(
        name=str(words["name"]),
        description=str(words["description"]),
        type=str(words["type"]),
        body=text[front.after :],
        metadata=metadata,
    )


def stamp(text: str, marks: Stamp) -> str:
    """Given a text without our stamps, return it with them; every other byte is unchanged.

    They stand at the end of a block `metadata`, which is added where there is none. Where the
    front matter has no place for them (absent, malformed, `metadata` empty or in braces) the
    text is returned as it is: the ledger keeps the trust, the stamp is for people to see.
    """
    front = front_of(text)
    if not isinstance(front, Front):
        return text
    lines = list(_lines(marks))
    if front.pairs:
        at = front.pairs[-1].end
        lines = [front.pairs[-1].indent + line for line in lines]
    else:
        at = front.end
        lines = ["metadata:", *(f"  {line}" for line in lines)]
    stamped = text[:at] + "".join(line + front.eol for line in lines) + text[at:]
    return stamped if unstamp(stamped) == text else text


def unstamp(text: str) -> str:
    """Given a text, return it without the lines of our stamps, whoever wrote them.

    A `metadata:` that held nothing else goes too. A malformed text is returned as it is.
    """
    front = front_of(text)
    if not isinstance(front, Front):
        return text
    spans = [(pair.start, pair.end) for pair in front.pairs if pair.key in STAMPS]
    if spans and len(spans) == len(front.pairs) and front.title:
        spans.insert(0, front.title)
    kept, last = [], 0
    for start, end in spans:
        kept.append(text[last:start])
        last = end
    return "".join([*kept, text[last:]])


def utc(moment: datetime) -> str:
    """Given an aware time, return it as stamps have it: UTC, whole seconds, `Z`."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _lines(marks: Stamp) -> Iterator[str]:
    yield f"recorded_at: {utc(marks.recorded_at)}"
    if marks.observed_at is not None:
        yield f"observed_at: {utc(marks.observed_at)}"
    yield f"trust: {marks.trust.word}"
    yield f"source: {_scalar(marks.source)}"
    yield f"run: {_scalar(marks.run)}"


def _scalar(words: str) -> str:
    """The words on one line, quoted where plain YAML could take them for something else."""
    line = " ".join("".join(char if char.isprintable() else " " for char in words).split())
    return line if _PLAIN.fullmatch(line) else msgspec.json.encode(line).decode()
