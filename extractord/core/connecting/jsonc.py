"""Additions to JSON with comments: no other character of the text changes, and none is left behind."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence

from extractord.core.connecting.jsontext import Node, Place, last_solid, parsed
from extractord.core.connecting.target import Trace
from extractord.errors import InstallError

_BLANK = "\ufeff \t\r\n"
_NOTHING = -1


def added(text: str | None, where: Place, value: object) -> tuple[str, Trace]:
    """Put a value where `where` says: its last part is a new key, or -1 for one more element.

    What is missing on the way is made. The trace is how many containers were there, and what
    stood in the last of them where it was empty. Raise InstallError where the text is malformed
    or holds something else on the way.
    """
    if text is None or not text.strip(_BLANK):
        whole = json.dumps(_wrapped(where, value), indent=2, ensure_ascii=False) + "\n"
        return whole, (str(_NOTHING), text or "")
    node, depth = parsed(text), 0
    while (inner := node.under(where[depth])) is not None:
        node, depth = inner, depth + 1
        if depth == len(where):
            raise InstallError(f"{_named(where)} is there already: take it out first")
    if node.kind != ("[" if where[depth] == -1 else "{"):
        line = text.count("\n", 0, node.start) + 1
        raise InstallError(
            f"line {line}: {_named(where[:depth])} is not what its agent expects: fix it first"
        )
    was = text[node.start + 1 : node.end - 1] if not node.items else ""
    return _put(text, node, where[depth], _wrapped(where[depth + 1 :], value)), (str(depth), was)


def removed(text: str, where: Place, is_ours: Callable[[object], bool], trace: Trace) -> str | None:
    """Take out every value at `where` that is ours, and the containers that were made for it.

    -1 in `where` is any element. Without a trace all containers count as made. None where the
    text began as nothing and is nothing again. Raise InstallError where the text is malformed.
    """
    depth, was = (int(trace[0]), trace[1]) if trace else (0, "")
    began = text
    while found := next(_matching(parsed(text), where, is_ours), None):
        while found:
            *outer, nth = found
            text = _cut(text, _at(parsed(text), outer), nth, was if len(outer) == depth else "")
            is_made = len(outer) > max(depth, 0) and _is_bare(text, _at(parsed(text), outer))
            found = tuple(outer) if is_made else ()
    if depth == _NOTHING and text != began and _is_bare(text, parsed(text)):
        return was or None
    return text


def values(text: str | None, where: Place) -> tuple[object, ...]:
    """Return every value that stands at `where`; -1 is any element."""
    if text is None or not text.strip(_BLANK):
        return ()
    root = parsed(text)
    return tuple(_at(root, found).value() for found in _matching(root, where, lambda _: True))


def _matching(
    node: Node, where: Place, is_ours: Callable[[object], bool], at: tuple[int, ...] = ()
) -> Iterator[tuple[int, ...]]:
    if not where:
        if is_ours(node.value()):
            yield at
        return
    if node.kind not in ("[" if where[0] == -1 else "{"):
        return
    for nth, item in enumerate(node.items):
        if where[0] in (-1, item.key):
            yield from _matching(item.node, where[1:], is_ours, (*at, nth))


def _at(node: Node, place: Sequence[int]) -> Node:
    """Given the numbers of items on the way, return the value there."""
    for nth in place:
        node = node.items[nth].node
    return node


def _put(text: str, node: Node, key: str | int, value: object) -> str:
    """Write one more item at a container's end, as its other items are written."""
    end = last_solid(text, node)
    newline = "\r\n" if "\r\n" in text else "\n"
    base = _indent(text, node.start)
    unit = (re.search(r'^([ \t]+)["{\[]', text, re.MULTILINE) or ["", "  "])[1]
    lead = base + unit
    if node.items:
        first = node.items[0].start
        is_spread = "\n" in text[node.start : first]
        lead = _indent(text, first) if is_spread else ""
    else:
        is_spread = "\n" in text or node.start == len(text) - len(text.lstrip(_BLANK))
    if is_spread:
        written = json.dumps(value, indent=unit, ensure_ascii=False).replace("\n", newline + lead)
        before, colon = newline + lead, ": "
    else:
        tight = '": ' not in text
        written = json.dumps(value, ensure_ascii=False, separators=(",", ":") if tight else None)
        before, colon = ("" if tight or not node.items else " "), ":" if tight else ": "
        if text[end] in "\r\n":  # a comment may reach to the line's end
            before = newline + lead
    item = before + (json.dumps(key, ensure_ascii=False) + colon if isinstance(key, str) else "") + written
    if not node.items:
        if _is_bare(text, node):
            return (
                text[: node.start + 1] + item + (newline + base if is_spread else "") + text[node.end - 1 :]
            )
        return text[:end] + item + text[end:]
    last = node.items[-1]
    if last.comma is not None:
        return text[:end] + item + "," + text[end:]
    return text[: last.node.end] + "," + text[last.node.end : end] + item + text[end:]


def _cut(text: str, node: Node, nth: int, was: str) -> str:
    """Take one item out of a container, with the white space and the comma that came with it."""
    item = node.items[nth]
    start = last_solid(text, node, item.start)
    end = item.node.end if item.comma is None else item.comma + 1
    if len(node.items) == 1 and not (text[node.start + 1 : start] + text[end : node.end - 1]).strip(_BLANK):
        return text[: node.start + 1] + was + text[node.end - 1 :]
    if nth and item.comma is None:  # the comma before it was there for its sake
        comma = node.items[nth - 1].comma or 0
        return text[:comma] + text[comma + 1 : start] + text[end:]
    is_first_of_more = nth == 0 < len(node.items) - 1
    rest = text[end:]
    return text[:start] + (rest.lstrip(" \t") if is_first_of_more and start == item.start else rest)


def _is_bare(text: str, node: Node) -> bool:
    return not text[node.start + 1 : node.end - 1].strip(_BLANK)


def _indent(text: str, at: int) -> str:
    """The white space that the line begins with."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _wrapped(where: Place, value: object) -> object:
    for key in reversed(where):
        value = [value] if key == -1 else {key: value}
    return value


def _named(where: Place) -> str:
    return "`" + ".".join(str(key) for key in where if key != -1) + "`" if where else "all of it"
