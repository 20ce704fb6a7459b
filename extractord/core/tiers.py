"""Which entries of a window are shown: by tiers, newest first, each cut to its share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum
from itertools import islice

from msgspec import Struct
from msgspec.structs import replace

from extractord.core.attribution import foreign_spans
from extractord.core.prose import Span, prose
from extractord.core.quotes import gap
from extractord.core.records import Entry, Origin, Role, Window
from extractord.core.redact import replace as put
from extractord.core.tokens import estimate_tokens

AHEAD = 4
"""Before redaction so many times the budget is taken, and of each entry: what a cut may have split
is then in the middle of the text, and cut away after redaction."""
LABEL_TOKENS = 28
"""What an entry's label and the gap before it cost."""
_LEAST_TOKENS = 40
"""Less of an entry than this is not worth its label."""
_HEAD = 2 / 3
_MARK_CHARACTERS = 64
"""More than the mark for what was cut."""
_CHARACTERS_A_TOKEN = 3


class Tier(IntEnum):
    """What is shown first where not all of it fits."""

    HUMAN = 0
    FINAL = 1
    ASSISTANT = 2
    CONTEXT = 3
    TOOL = 4


_CHARACTERS = {
    Tier.HUMAN: 12_000,
    Tier.FINAL: 6_000,
    Tier.ASSISTANT: 3_000,
    Tier.CONTEXT: 2_000,
    Tier.TOOL: 1_200,
}
"""The most that is shown of one entry."""
_SEARCHED_CHARACTERS = 200_000
"""Of a longer prompt only head and tail are searched for pastes: the rest is never shown."""


class Excerpt(Struct, frozen=True, kw_only=True):
    """An entry as far as it is shown; its text and pastes are cut alike."""

    order: int
    """Its place among the window's entries, from 1."""
    tier: Tier
    entry: Entry


def excerpts(window: Window, tokens: int) -> tuple[Excerpt, ...]:
    """Given a window and a budget, return what may be shown, for redaction: four times too much.

    In source order. Entries of abandoned branches and those without text are left out; pastes of
    a person's prompt are marked.
    """
    ranked = _ranked(window)
    return _filled(ranked, tokens * AHEAD, AHEAD)


def leaned(window: Window, tokens: int) -> tuple[Excerpt, ...]:
    """As `excerpts`, and cut a little more: taken again from what is left, nothing more is cut."""
    return _filled(_ranked(window), tokens * AHEAD, AHEAD, spare=_MARK_CHARACTERS)


def by_exchange(window: Window, kept: Iterable[Excerpt]) -> tuple[tuple[str, tuple[Entry, ...]], ...]:
    """Given a window and what is kept of it, return each exchange's key and entries.

    Tool calls and places are left out: they are for the gate, which has seen them.
    """
    by_order = {excerpt.order: excerpt.entry for excerpt in kept}
    order, exchanges = 0, []
    for exchange in window.exchanges:
        entries = []
        for _ in filter(_has_something, exchange.entries):
            order += 1
            if order in by_order:
                entries.append(replace(by_order[order], calls=(), cwd=None, branch=None))
        exchanges.append((exchange.key, tuple(entries)))
    return tuple(exchanges)


def fitted(drafted: Sequence[Excerpt], tokens: int) -> tuple[Excerpt, ...]:
    """Given redacted excerpts, return those that fit the budget, in source order."""
    return _filled(drafted, tokens, 1)


def spoken(window: Window) -> Iterator[Entry]:
    """The entries of a window that have something to show, in source order."""
    for exchange in window.exchanges:
        yield from filter(_has_something, exchange.entries)


def _has_something(entry: Entry) -> bool:
    return entry.active and bool(entry.text) and not entry.text.isspace()


def shorten(text: str, spans: Iterable[Span], characters: int) -> tuple[str, tuple[Span, ...]]:
    """Given a text and spans of it, return its head and tail at whole lines with a mark between.

    A single line that is too long is cut inside.
    """
    if len(text) <= characters:
        return text, tuple(spans)
    head = max(int(characters * _HEAD), 1)
    tail = len(text) - max(characters - head, 0)
    start = text.rfind("\n", head // 2, head)
    start = head if start < 0 else start
    end = text.find("\n", tail, (tail + len(text)) // 2)
    end = tail if end < 0 else end + 1
    return put(text, [(start, end, f"\n{gap('part')}\n")], spans)


def _ranked(window: Window) -> list[Excerpt]:
    final: set[int] = set()
    for exchange in window.exchanges:
        said = (entry for entry in reversed(exchange.entries) if entry.role is Role.ASSISTANT)
        final.update(id(entry) for entry in islice(filter(_has_something, said), 1))
    return [
        Excerpt(order=order, tier=_tier(entry, final=id(entry) in final), entry=entry)
        for order, entry in enumerate(spoken(window), 1)
    ]


def _tier(entry: Entry, *, final: bool) -> Tier:
    match entry.role, entry.origin:
        case Role.USER, (Origin.HUMAN | Origin.HEADLESS):
            return Tier.HUMAN
        case Role.ASSISTANT, Origin.SYNTHETIC:
            return Tier.FINAL if final else Tier.ASSISTANT
        case Role.TOOL, _:
            return Tier.TOOL
        case _:
            return Tier.CONTEXT


def _filled(ranked: Sequence[Excerpt], tokens: int, times: int, spare: int = 0) -> tuple[Excerpt, ...]:
    chosen: list[Excerpt] = []
    for excerpt in sorted(ranked, key=lambda each: (each.tier, -each.order)):
        room = tokens - LABEL_TOKENS
        if room < _LEAST_TOKENS:
            break
        entry = _marked(excerpt) if times > 1 else excerpt.entry
        text, pastes = shorten(entry.text, entry.pastes, _CHARACTERS[excerpt.tier] * times - spare)
        if times == 1 and estimate_tokens(text) > room:
            ratio = len(text) / max(estimate_tokens(text), 1)
            text, pastes = shorten(text, pastes, int(room * min(ratio, _CHARACTERS_A_TOKEN) * 0.9))
        spent = estimate_tokens(text)
        if times == 1 and spent > room:
            continue
        tokens = room - spent
        chosen.append(replace(excerpt, entry=replace(entry, text=text, pastes=pastes)))
    return tuple(sorted(chosen, key=lambda each: each.order))


def _marked(excerpt: Excerpt) -> Entry:
    """The entry with all that the person did not type marked as pasted, and no lone surrogates."""
    entry = excerpt.entry
    text = entry.text
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode()
        entry = replace(entry, text=text)
    if excerpt.tier is Tier.HUMAN:
        text, marked = shorten(text, entry.pastes, _SEARCHED_CHARACTERS)
        entry = replace(entry, text=text, pastes=marked)
        entry = replace(entry, pastes=foreign_spans(text, entry.pastes, prose(entry)))
    return entry
