"""A memory's front matter, read strictly: what it says, or why it may not stand."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import yaml
from frontmatter.default_handlers import YAMLHandler

TYPES = ("user", "feedback", "project", "reference")
"""What a memory can be about (DESIGN §5)."""

DEEPEST = 4
"""Mappings and lists inside one another; `metadata` needs two."""

_PARSED_CHARS = 16 * 1024
"""More front matter than any law allows is not parsed."""

_YAML = YAMLHandler()
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_FENCE = re.compile(r"^-{3,}[^\S\n]*$", re.MULTILINE)
"""A closing fence as the most generous reader sees it: white space of any kind after it."""


@dataclass(frozen=True, slots=True)
class Header:
    """What a front matter says; parts that it lacks are empty."""

    name: str = ""
    description: str = ""
    type: str = ""


@dataclass(slots=True)
class _Open:
    """A mapping or list that is being read, and the keys that it had so far."""

    is_mapping: bool
    expects_key: bool = True
    keys: set[str] = field(default_factory=set)

    def take(self, scalar: str | None) -> str | None:
        """Given the next node's text, None for a mapping or list, return what is wrong with it."""
        is_key = self.is_mapping and self.expects_key
        self.expects_key = not self.expects_key
        if not is_key:
            return None
        if scalar is None:
            return "The front matter has a key that is no plain word"
        if scalar == "<<":
            return "The front matter has a merge key, which only some readers follow"
        if scalar in self.keys:
            return "The front matter has one key twice"
        self.keys.add(scalar)
        return None


def split(text: str) -> tuple[str, str] | None:
    """Given a memory's text, return front matter and body; None where there is no front matter.

    Both fences are exactly `---`, and the first line that any reader could take for the closing
    one is it: so two readers never see two headers.
    """
    if not text.startswith(("---\n", "---\r\n")):
        return None
    start = text.index("\n") + 1
    closing = _FENCE.search(text, start)
    if closing is None or closing[0].rstrip("\r") != "---":
        return None
    return text[start : closing.start()], text[closing.end() :].removeprefix("\n")


def body(text: str) -> str:
    """Given a memory's text, return it without its front matter."""
    parts = split(text)
    return text if parts is None else parts[1]


def read_header(raw: str) -> Header | str:
    """Given the text between the fences, return what it says, or what is wrong with it."""
    try:
        fault = _first_fault(raw)
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        return _yaml_fault(error)
    if fault is not None:
        return fault
    try:
        values = _YAML.load(raw)
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        return _yaml_fault(error)
    if not isinstance(values, dict):
        return "The front matter is no mapping"
    metadata = values.get("metadata", {})
    if isinstance(metadata, dict) and "type" in metadata and "type" in values:
        return "The front matter has two types"
    kind = metadata.get("type") if isinstance(metadata, dict) else None
    return Header(
        name=_words(values.get("name")),
        description=_words(values.get("description")),
        type=_words(values.get("type", kind)),
    )


def hidden_words(text: str) -> tuple[str, ...]:
    """Given a memory's text, return the scalars of its front matter that do not stand in it as such.

    YAML can write any character as an escape: what a reader gets is judged too.
    """
    parts = split(text)
    if parts is None or len(parts[0]) > _PARSED_CHARS:
        return ()
    try:
        events = list(yaml.parse(parts[0], Loader=_LOADER))
    except (yaml.YAMLError, ValueError):
        return ()
    scalars = (event.value for event in events if isinstance(event, yaml.ScalarEvent))
    return tuple(scalar for scalar in scalars if scalar not in text)


def _first_fault(raw: str) -> str | None:
    """Given YAML, return which of its constructs may not stand; nothing is built meanwhile."""
    open_nodes: list[_Open] = []
    for event in yaml.parse(raw, Loader=_LOADER):
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            return "The front matter has a YAML anchor or alias"
        if getattr(event, "tag", None) is not None:
            return "The front matter has a YAML tag"
        if isinstance(event, yaml.NodeEvent) and open_nodes:
            fault = open_nodes[-1].take(getattr(event, "value", None))
            if fault is not None:
                return fault
        if isinstance(event, yaml.CollectionStartEvent):
            open_nodes.append(_Open(is_mapping=isinstance(event, yaml.MappingStartEvent)))
            if len(open_nodes) > DEEPEST:
                return "The front matter is nested too deeply"
        elif isinstance(event, yaml.CollectionEndEvent):
            open_nodes.pop()
    return None


def _yaml_fault(error: Exception) -> str:
    """Given why YAML could not be read, return a sentence that repeats none of it."""
    mark = getattr(error, "problem_mark", None)
    where = f" at its line {mark.line + 1}" if mark is not None else ""
    return f"The front matter is no valid YAML{where}"


def _words(value: object) -> str:
    """Given a value of YAML, return its words; what is no scalar has none."""
    return "" if value is None or isinstance(value, dict | list) else str(value).strip()
