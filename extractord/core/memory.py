"""A memory's text: what it says, and our stamps put in and taken out of its raw header."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import msgspec
import yaml

from extractord.core.records import Stamp

STAMPS = ("recorded_at", "observed_at", "trust", "source", "run")
"""The keys under `metadata` that only the store writes."""

HEADER_CHARS = 16 * 1024
"""A longer front matter is not parsed at all; the law allows far less to be written."""

_FRONT = re.compile(
    r"\A(\ufeff?---[ \t]*(?P<eol>\r?\n))(?P<header>.*?)^---[ \t]*(?:\r?\n|\Z)", re.MULTILINE | re.DOTALL
)
_OPENED = re.compile(r"\A\ufeff?---[ \t]*(?:\r?\n|\Z)")
_OTHER_BREAK = re.compile("\r(?!\n)|[\x85\u2028\u2029]")
_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+(.*?)[ \t]*#*[ \t]*\r?$", re.MULTILINE)
_PLAIN = re.compile(r"[A-Za-z0-9](?:[\w./@+-]|[: ](?=[\w./@+-]))*", re.ASCII)
_LOADER: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
"""Every scalar stays the text that it is; tags are ignored; nothing is constructed."""


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
        return found[1] if found else ""


@dataclass(frozen=True, slots=True)
class Malformed:
    """A text whose front matter cannot be used, and why: a sentence for a person."""

    reason: str


@dataclass(frozen=True, slots=True)
class _Entry:
    """One key of `metadata` and its value; offsets into the text, whole lines."""

    key: str
    start: int
    end: int
    indent: str


@dataclass(frozen=True, slots=True)
class _Front:
    """A front matter taken apart; offsets into the text."""

    end: int
    """Where the closing line begins."""
    after: int
    """Where the body begins."""
    eol: str
    values: Mapping[str, object]
    entries: tuple[_Entry, ...]
    """Of a block `metadata`."""
    title: tuple[int, int] | None
    """The line `metadata:` where nothing else stands on it."""


def parse(text: str) -> Memory | Malformed:
    """Given a memory's text, return what it says, or why it cannot be read.

    A text without any front matter is a memory without a name: people write such files.
    """
    front = _front(text)
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
    front = _front(text)
    if not isinstance(front, _Front):
        return text
    lines = list(_lines(marks))
    if front.entries:
        at = front.entries[-1].end
        lines = [front.entries[-1].indent + line for line in lines]
    else:
        at = front.end
        lines = ["metadata:", *(f"  {line}" for line in lines)]
    stamped = text[:at] + "".join(line + front.eol for line in lines) + text[at:]
    return stamped if unstamp(stamped) == text else text


def unstamp(text: str) -> str:
    """Given a text, return it without the lines of our stamps, whoever wrote them.

    A `metadata:` that held nothing else goes too. A malformed text is returned as it is.
    """
    front = _front(text)
    if not isinstance(front, _Front):
        return text
    spans = [(entry.start, entry.end) for entry in front.entries if entry.key in STAMPS]
    if spans and len(spans) == len(front.entries) and front.title:
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


def _front(text: str) -> _Front | Malformed | None:
    found = _FRONT.match(text)
    if found is None:
        return Malformed("the front matter is not closed by a line `---`") if _OPENED.match(text) else None
    header, start = found["header"], found.start("header")
    loaded = _load(header)
    if isinstance(loaded, Malformed):
        return loaded
    node, values = loaded
    pairs = node.value if node else []
    title, inner = next(((key, value) for key, value in pairs if key.value == "metadata"), (None, None))
    entries: tuple[_Entry, ...] = ()
    if isinstance(inner, yaml.MappingNode) and not inner.flow_style:
        entries = tuple(_entry(header, start, key, value) for key, value in inner.value)
    fault = _doubled(pairs) or _misplaced(title, inner, entries)
    if fault:
        return Malformed(fault)
    return _Front(
        end=found.end("header"),
        after=found.end(),
        eol=found["eol"],
        values=values,
        entries=entries,
        title=_title(text, start + title.start_mark.index) if title else None,
    )


def _misplaced(title: yaml.Node | None, inner: yaml.Node | None, entries: tuple[_Entry, ...]) -> str:
    """Why our lines could not be told from the rest of `metadata`; empty where they can."""
    if title is None or not isinstance(inner, yaml.MappingNode):
        return ""
    if inner.start_mark.index < title.end_mark.index:
        return "`metadata` is an alias"
    if inner.flow_style and any(key.value in STAMPS for key, _ in inner.value):
        return "a stamp stands in braces: `metadata` has one key a line"
    if any(entry.indent.strip(" ") for entry in entries):
        return "`metadata` has something before a key on its line"
    return _doubled(inner.value)


def _load(header: str) -> tuple[yaml.MappingNode | None, Mapping[str, object]] | Malformed:
    """The header's node, for the places, and its values, every scalar as text."""
    if len(header) > HEADER_CHARS:
        return Malformed(f"the front matter is longer than {HEADER_CHARS} characters")
    if _OTHER_BREAK.search(header):
        return Malformed("the front matter has line breaks other than LF and CRLF")
    try:
        loader = _LOADER(header)
        node = loader.get_single_node()
        values = loader.construct_document(node) if node else {}
    except yaml.MarkedYAMLError as error:
        line = f" in line {error.problem_mark.line + 2}" if error.problem_mark else ""
        return Malformed(f"the front matter is not YAML: {error.problem}{line}")
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        return Malformed(f"the front matter is not YAML: {type(error).__name__}")
    if not isinstance(values, dict):
        return Malformed("the front matter is not a mapping")
    return node, values


def _doubled(pairs: Iterable[tuple[yaml.Node, yaml.Node]]) -> str:
    """The first key that stands twice, in words: readers differ on which one counts."""
    seen: set[str] = set()
    for key, _ in pairs:
        if isinstance(key, yaml.ScalarNode):
            if key.value in seen:
                return f"`{key.value}` stands twice in the front matter"
            seen.add(key.value)
    return ""


def _entry(header: str, offset: int, key: yaml.Node, value: yaml.Node) -> _Entry:
    start = header.rfind("\n", 0, key.start_mark.index) + 1
    # An alias has the place of its anchor, which is earlier than the key.
    end = max(key.end_mark.index, value.end_mark.index)
    end = len(header[:end].rstrip())
    while not isinstance(value, yaml.ScalarNode):
        line = header.rfind("\n", 0, end) + 1
        if line <= key.end_mark.index or not header[line:end].lstrip().startswith("#"):
            break
        end = len(header[:line].rstrip())
    return _Entry(
        key=key.value if isinstance(key, yaml.ScalarNode) else "",
        start=offset + start,
        end=offset + header.index("\n", end) + 1,
        indent=header[start : key.start_mark.index],
    )


def _title(text: str, at: int) -> tuple[int, int] | None:
    end = text.index("\n", at) + 1
    alone = text[at:end].rstrip("\r\n") == "metadata:" and text[:at].endswith("\n")
    return (at, end) if alone else None
