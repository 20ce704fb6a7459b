"""Where an identifier stands in what was said, by itself and in whatever notation."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from extractord.core.dates import Day, days_said, is_said
from extractord.core.folding import is_unspaced
from extractord.core.identifiers import Identifier, Kind, searchable
from extractord.core.numerals import numbers

_JOINING = "-/@."


@dataclass(frozen=True, slots=True)
class Said:
    """All text of one trust, in source order, made searchable."""

    text: str
    starts: tuple[int, ...]
    """Where each entry's part begins."""
    orders: tuple[int, ...]
    """The entry's place in the window, for each part."""
    numbers: frozenset[str]
    days: frozenset[Day]

    def first(self, identifier: Identifier) -> int | None:
        """The place of the first entry that has the identifier; None where none has.

        Numbers and dates that occur in another notation count as the first entry's.
        """
        at = find(self.text, identifier)
        if at is not None:
            return self.orders[bisect_right(self.starts, at) - 1]
        if identifier.values & self.numbers or any(is_said(day, self.days) for day in identifier.days):
            return 0
        return None


def gathered(parts: Sequence[tuple[int, str, date | None]]) -> Said:
    """Given texts of one trust, each with its entry's place and day, return them made searchable."""
    texts, starts, orders = [], [], []
    values: set[str] = set()
    days: set[Day] = set()
    at = 0
    for order, text, on in parts:
        part = searchable(text)
        texts.append(part)
        starts.append(at)
        orders.append(order)
        at += len(part) + 1
        values |= numbers(text)
        days |= days_said(text, on)
    return Said("\0".join(texts), tuple(starts), tuple(orders), frozenset(values), frozenset(days))


def find(text: str, identifier: Identifier) -> int | None:
    """Given a searchable text, return where the identifier stands in it by itself, or None."""
    if identifier.kind is Kind.NUMBER and identifier.values:
        return None  # by value alone: 3 is not in 3.11
    key = identifier.key
    at = text.find(key)
    while at >= 0:
        if _begins(text, at, key) and _ends(text, at + len(key), identifier):
            return at
        at = text.find(key, at + 1)
    return None


def _begins(text: str, at: int, key: str) -> bool:
    before = text[at - 1] if at else " "
    if before == "v" and key[0].isdigit():
        at, before = at - 1, text[at - 2] if at > 1 else " "
    if not _is_word(key[0]):
        return not _is_word(before)
    return not (_is_word(before) or (before in "@-_." and at > 1 and _is_word(text[at - 2])))


def _ends(text: str, end: int, identifier: Identifier) -> bool:
    after = text[end] if end < len(text) else " "
    following = text[end + 1] if end + 1 < len(text) else " "
    command = identifier.kind is Kind.COMMAND
    if not _is_word(identifier.key[-1]):
        return not (command and (_is_word(after) or after in _JOINING))
    if after == "/":
        return not command
    return not (_is_word(after) or (after in _JOINING and _is_word(following)))


def _is_word(character: str) -> bool:
    return character == "_" or (character.isalnum() and not is_unspaced(character))
