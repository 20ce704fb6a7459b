"""JSON with comments and trailing commas, as a tree that knows where each value stands in the text."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, NoReturn

from extractord.errors import InstallError

_TOKEN = re.compile(
    r"""(?P<blank>\A\ufeff|[ \t\r\n]+)|(?P<comment>//[^\r\n]*|/\*.*?\*/)"""
    r"""|(?P<string>"(?:[^"\\]|\\.)*")|(?P<mark>[{}\[\],:])|(?P<word>[^\s{}\[\],:"/]+)|(?P<odd>.)""",
    re.DOTALL,
)
_CLOSED_BY = {"{": "}", "[": "]"}

Place = tuple[str | int, ...]
"""Keys on the way to a value; -1 is any element of an array."""


class _Token(NamedTuple):
    kind: str | None
    text: str
    at: int

    @property
    def is_solid(self) -> bool:
        return self.kind not in ("blank", "comment")


@dataclass(frozen=True, slots=True)
class Item:
    """A member from its key on, or an element; `comma` is where the one behind it is, if any."""

    key: str | None
    start: int
    node: Node
    comma: int | None


@dataclass(frozen=True, slots=True)
class Node:
    """A value, by its first character: `{` and `[` have items, everything else is a leaf."""

    kind: str
    start: int
    end: int
    leaf: object = None
    items: tuple[Item, ...] = ()

    def under(self, key: str | int) -> Node | None:
        """The last member of that key: what JavaScript takes of several; None for -1."""
        return next((item.node for item in reversed(self.items) if item.key == key), None)

    def value(self) -> object:
        """What it says, in Python's types."""
        if self.kind == "{":
            return {item.key: item.node.value() for item in self.items}
        return [item.node.value() for item in self.items] if self.kind == "[" else self.leaf


def parsed(text: str) -> Node:
    """Given a file's text, return its root. Raise InstallError with the place."""
    tokens = [_Token(found.lastgroup, found[0], found.start()) for found in _TOKEN.finditer(text)]
    solid = [token for token in tokens if token.is_solid]
    _require_json(text, tokens, solid)
    return _node(solid, 0)[0]


def last_solid(text: str, node: Node, before: int | None = None) -> int:
    """Where in a container the last token or comment ends, in front of its close or of `before`."""
    stop = node.end - 1 if before is None else before
    end = node.start + 1
    for found in _TOKEN.finditer(text, end, stop):
        if found.lastgroup != "blank":
            end = found.end()
    return end


def _require_json(text: str, tokens: Sequence[_Token], solid: Sequence[_Token]) -> None:
    """Raise InstallError unless it is JSON where comments and trailing commas are blank."""
    trailing = {
        here.at
        for before, here, after in zip(solid, solid[1:], solid[2:], strict=False)
        if here.text == "," and after.text in ("}", "]") and before.text not in ("{", "[", ",", ":")
    }
    plain = "".join(
        token.text if token.is_solid and token.at not in trailing else re.sub(r"[^\r\n]", " ", token.text)
        for token in tokens
    )
    try:
        json.loads(plain, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        at = error.pos if isinstance(error, json.JSONDecodeError) else 0
        line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
        raise InstallError(
            f"malformed at line {line}, column {column} ({error}): fix it first; nothing was changed"
        ) from error


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON")


def _node(tokens: Sequence[_Token], at: int) -> tuple[Node, int]:
    """Given tokens that are JSON, return the value that begins at one of them, and what follows it."""
    token = tokens[at]
    if token.text not in _CLOSED_BY:
        return Node(token.text[0], token.at, token.at + len(token.text), json.loads(token.text)), at + 1
    items = []
    at += 1
    while tokens[at].text != _CLOSED_BY[token.text]:
        start = tokens[at].at
        key = json.loads(tokens[at].text) if token.text == "{" else None
        node, at = _node(tokens, at + 2 if token.text == "{" else at)
        comma = tokens[at].at if tokens[at].text == "," else None
        items.append(Item(key, start, node, comma))
        at += comma is not None
    return Node(token.text, token.at, tokens[at].at + 1, items=tuple(items)), at + 1
