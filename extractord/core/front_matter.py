"""The front matter of a memory taken apart: what it says, and where each key of ours stands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import yaml

STAMPS = ("recorded_at", "observed_at", "trust", "source", "run")
"""The keys under `metadata` that only the store writes."""

_HEADER_CHARS = 16 * 1024
"""A longer front matter is not parsed at all; the law allows far less to be written."""

_FRONT = re.compile(
    r"\A(\ufeff?---[ \t]*(?P<eol>\r?\n))(?P<header>.*?)^---[ \t]*(?:\r?\n|\Z)", re.MULTILINE | re.DOTALL
)
_OPENED = re.compile(r"\A\ufeff?---[ \t]*(?:\r?\n|\Z)")
_OTHER_BREAK = re.compile("\r(?!\n)|[\x85\u2028\u2029]")
_LOADER: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
"""Every scalar stays the text that it is; tags are ignored; nothing is constructed."""


@dataclass(frozen=True, slots=True)
class Malformed:
    """A text whose front matter cannot be used, and why: a sentence for a person."""

    reason: str


@dataclass(frozen=True, slots=True)
class Pair:
    """One key of `metadata` and its value; offsets into the text, whole lines."""

    key: str
    start: int
    end: int
    indent: str


@dataclass(frozen=True, slots=True)
class Front:
    """A front matter taken apart; offsets into the text."""

    end: int
    """Where the closing line begins."""
    after: int
    """Where the body begins."""
    eol: str
    values: Mapping[str, object]
    pairs: tuple[Pair, ...]
    """Of a block `metadata`."""
    title: tuple[int, int] | None
    """The line `metadata:` where nothing else stands on it."""


@lru_cache(2)  # of one text after the other more is asked than once, and the parsing is most of it
def front_of(text: str) -> Front | Malformed | None:
    """Given a memory's text, take its front matter apart; None where it has none at all."""
    found = _FRONT.match(text)
    if found is None:
        return Malformed("the front matter is not closed by a line `---`") if _OPENED.match(text) else None
    header, start = found["header"], found.start("header")
    loaded = _load(header)
    if isinstance(loaded, Malformed):
        return loaded
    node, values = loaded
    nodes = node.value if node else []
    title, inner = next(((key, value) for key, value in nodes if key.value == "metadata"), (None, None))
    pairs: tuple[Pair, ...] = ()
    if isinstance(inner, yaml.MappingNode) and not inner.flow_style:
        pairs = tuple(_pair(header, start, key, value) for key, value in inner.value)
    fault = _doubled(nodes) or _misplaced(title, inner, pairs)
    if fault:
        return Malformed(fault)
    return Front(
        end=found.end("header"),
        after=found.end(),
        eol=found["eol"],
        values=values,
        pairs=pairs,
        title=_title(text, start + title.start_mark.index) if title else None,
    )


def _misplaced(title: yaml.Node | None, inner: yaml.Node | None, pairs: tuple[Pair, ...]) -> str:
    """Why our lines could not be told from the rest of `metadata`; empty where they can."""
    if title is None or not isinstance(inner, yaml.MappingNode):
        return ""
    if inner.start_mark.index < title.end_mark.index:
        return "`metadata` is an alias"
    if inner.flow_style and any(key.value in STAMPS for key, _ in inner.value):
        return "a stamp stands in braces: `metadata` has one key a line"
    if any(pair.indent.strip(" ") for pair in pairs):
        return "`metadata` has something before a key on its line"
    return _doubled(inner.value)


def _load(header: str) -> tuple[yaml.MappingNode | None, Mapping[str, object]] | Malformed:
    """The header's node, for the places, and its values, every scalar as text."""
    if len(header) > _HEADER_CHARS:
        return Malformed(f"the front matter is longer than {_HEADER_CHARS} characters")
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


def _doubled(nodes: Iterable[tuple[yaml.Node, yaml.Node]]) -> str:
    """The first key that stands twice, in words: readers differ on which one counts."""
    seen: set[str] = set()
    for key, _ in nodes:
        if isinstance(key, yaml.ScalarNode):
            if key.value in seen:
                return f"`{key.value}` stands twice in the front matter"
            seen.add(key.value)
    return ""


def _pair(header: str, offset: int, key: yaml.Node, value: yaml.Node) -> Pair:
    start = header.rfind("\n", 0, key.start_mark.index) + 1
    # An alias has the place of its anchor, which is earlier than the key.
    end = max(key.end_mark.index, value.end_mark.index)
    end = len(header[:end].rstrip())
    while not isinstance(value, yaml.ScalarNode):
        line = header.rfind("\n", 0, end) + 1
        if line <= key.end_mark.index or not header[line:end].lstrip().startswith("#"):
            break
        end = len(header[:line].rstrip())
    return Pair(
        key=key.value if isinstance(key, yaml.ScalarNode) else "",
        start=offset + start,
        end=offset + header.index("\n", end) + 1,
        indent=header[start : key.start_mark.index],
    )


def _title(text: str, at: int) -> tuple[int, int] | None:
    end = text.index("\n", at) + 1
    alone = text[at:end].rstrip("\r\n") == "metadata:" and text[:at].endswith("\n")
    return (at, end) if alone else None
