"""A session's exchanges, each once and whole: parts of it may stand in several transcripts."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from extractord.core.exchanges import PROMPTS, Session
from extractord.core.records import Entry, Exchange


def whole(exchange: Exchange) -> Exchange:
    """Given an exchange, return it with all its entries made."""
    if exchange.thaw is None:
        return exchange
    entries = exchange.thaw(exchange.kept)
    branch = next((entry.branch for entry in entries if entry.branch), None)
    return replace(exchange, entries=entries, branch=branch, kept=(), thaw=None)


def merged(parts: Iterable[Session]) -> tuple[Exchange, ...]:
    """Given the same session folded from several transcripts, return its exchanges, each once.

    What a rewind in one of them abandoned is abandoned in all. What writes without a prompt of its
    own (a sub-agent in a file beside) goes by its time to the exchange in which it was done, if that
    is kept.
    """
    parts = tuple(parts)
    found: dict[str, Exchange] = {}
    for exchange in (exchange for part in parts for exchange in part.exchanges()):
        if any(part.has_voided(exchange.key) for part in parts):
            continue
        other = found.get(exchange.key)
        if other is None or (exchange.ended, _size(exchange)) > (other.ended, _size(other)):
            found[exchange.key] = exchange
    prompted = [each for each in found.values() if each.entries[0].origin in PROMPTS]
    late = [each for each in found.values() if each.entries[0].origin not in PROMPTS]
    for exchange in map(whole, late):
        rest: list[Entry] = []
        for entry in exchange.entries:
            at = _exchange_at(entry, prompted)
            if at is None:
                rest.append(entry)
            else:
                to = prompted[at]
                kept = (*to.kept, entry) if to.kept else ()
                prompted[at] = replace(to, entries=(*to.entries, entry), kept=kept)
        if rest:
            prompted.append(replace(exchange, entries=tuple(rest)))
    return tuple(prompted)


def _size(exchange: Exchange) -> int:
    return len(exchange.kept or exchange.entries)


def _exchange_at(entry: Entry, exchanges: list[Exchange]) -> int | None:
    """The newest exchange that a prompt had opened by the entry's time."""
    for at in reversed(range(len(exchanges))):
        opened = exchanges[at].entries[0]
        if entry.time and opened.time and opened.origin in PROMPTS and opened.time <= entry.time:
            return at
    return None
