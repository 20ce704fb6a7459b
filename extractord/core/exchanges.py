"""Folds a session's entries into exchanges: a person's prompt and all that follows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import assert_never

from msgspec.structs import replace

from extractord.core.records import Entry, Exchange, Origin, Seen, Voided

PROMPTS = frozenset({Origin.HUMAN, Origin.HEADLESS})
"""What opens an exchange."""
_NEVER_EVIDENCE = frozenset({Origin.COPIED, Origin.RECALLED})


@dataclass(slots=True)
class _Draft:
    """An exchange as it grows, and in which file each of its entries stands."""

    key: str
    place: str
    ended: bool = False
    entries: dict[str, Entry] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)


class Session:
    """The exchanges of one session that are not closed; of the others only ids are kept."""

    def __init__(self, agent: str, session: str, closed: Iterable[str] = ()) -> None:
        """Begin with the keys of exchanges that are closed: they are not kept when they come."""
        self.agent = agent
        self.session = session
        self.closed = set(closed)
        self._before: set[str] = set()
        self._drafts: dict[str, _Draft] = {}
        self._last: str | None = None
        self._last_ended = False
        self._home: dict[str, str] = {}
        self._revisions: dict[str, int] = {}
        self._void: set[str] = set()
        self._cuts: list[tuple[str, int]] = []

    def apply(self, seen: Seen, place: str = "") -> None:
        """Given what a reader brings, and the file that it read, fold it in."""
        match seen:
            case Voided():
                self._apply_void(seen, place)
            case Entry():
                self._apply_entry(seen, place)
            case _:
                assert_never(seen)

    def exchanges(self) -> tuple[Exchange, ...]:
        """The exchanges that are kept, oldest first, the one under way included."""
        return tuple(self._frozen(draft) for draft in self._drafts.values())

    def forget(self, keys: Iterable[str]) -> None:
        """These are closed: drop them, and what follows them."""
        for key in keys:
            self._let_go(key)
            self.closed.add(key)

    def was_before(self, place: str) -> None:
        """All that was folded in from this file so far is baseline: drop it."""
        for key in [key for key, draft in self._drafts.items() if draft.place == place]:
            self._let_go(key)
            self._before.add(key)

    def quiet(self) -> None:
        """Nothing came for so long that the exchange under way has ended."""
        self._last_ended = True
        draft = self._drafts.get(self._last or "")
        if draft is not None:
            draft.ended = True

    def has_voided(self, key: str) -> bool:
        """True if a rewind abandoned the exchange."""
        return key in self._void

    @property
    def under_way(self) -> bool:
        """True if the newest exchange is kept and has not ended."""
        draft = self._drafts.get(self._last or "")
        return draft is not None and not draft.ended

    def _let_go(self, key: str) -> None:
        draft = self._drafts.pop(key, None)
        for entry_id in draft.entries if draft else ():
            self._home.pop(entry_id, None)

    def _apply_entry(self, entry: Entry, place: str) -> None:
        known = self._revisions.get(entry.id)
        if (known is not None and entry.revision <= known) or self._is_void(entry, place):
            return
        self._revisions[entry.id] = entry.revision
        if not entry.active:
            self._drop(entry.id)
        elif known is None:
            self._add(entry, place)
        else:
            self._revise(entry)

    def _add(self, entry: Entry, place: str) -> None:
        if entry.origin in PROMPTS:
            self._open(entry, place)
        elif entry.origin is not Origin.COPIED:
            draft = self._drafts.get(self._last or "")
            if draft is not None:
                self._put(draft, entry, place)
            elif self._is_late_write(entry):
                self._open(entry, place)
                self.quiet()
            else:
                self._last_ended = self._last_ended or entry.turn_end

    def _is_late_write(self, entry: Entry) -> bool:
        """It writes although no exchange is open that it could belong to."""
        return (
            (self._last is None or self._last_ended)
            and self._last not in self._before
            and entry.origin not in _NEVER_EVIDENCE
            and any(call.writes for call in entry.calls)
        )

    def _open(self, entry: Entry, place: str) -> None:
        self.quiet()
        self._last = entry.id
        self._last_ended = False
        if entry.id not in self.closed and entry.id not in self._before:
            draft = self._drafts[entry.id] = _Draft(entry.id, place)
            self._put(draft, entry, place)

    def _put(self, draft: _Draft, entry: Entry, place: str) -> None:
        draft.entries[entry.id] = entry
        draft.places[entry.id] = place
        draft.ended = draft.ended or entry.turn_end
        self._home[entry.id] = draft.key
        if draft.key == self._last:
            self._last_ended = draft.ended

    def _revise(self, entry: Entry) -> None:
        draft = self._drafts.get(self._home.get(entry.id, ""))
        if draft is None:
            self._last_ended = self._last_ended or entry.turn_end
            return
        before = draft.entries[entry.id]
        self._put(draft, entry, draft.places[entry.id])
        if (before.origin in PROMPTS) != (entry.origin in PROMPTS) and draft.key == self._last:
            self._regroup(draft)

    def _regroup(self, draft: _Draft) -> None:
        """What opened the newest exchange was no prompt after all, or something in it was one."""
        del self._drafts[draft.key]
        self._last = next(reversed(self._drafts), None)
        for entry in draft.entries.values():
            self._add(entry, draft.places[entry.id])

    def _apply_void(self, void: Voided, place: str) -> None:
        self._void.update(void.ids)
        gone = list(void.ids)
        if void.from_ordinal is not None:
            self._cuts.append((place, void.from_ordinal))
            gone += [
                entry.id
                for draft in self._drafts.values()
                for entry in draft.entries.values()
                if self._is_void(entry, draft.places[entry.id])
            ]
        for entry_id in gone:
            self._drop(entry_id)

    def _is_void(self, entry: Entry, place: str) -> bool:
        """A cut by ordinal reaches the files before its own only: later ones go on from it."""
        return entry.id in self._void or (
            entry.ordinal is not None
            and any(place < later and entry.ordinal >= ordinal for later, ordinal in self._cuts)
        )

    def _drop(self, entry_id: str) -> None:
        draft = self._drafts.get(self._home.get(entry_id, ""))
        if draft is None:
            return
        if draft.key == entry_id:
            del self._drafts[entry_id]
            self._last = None if self._last == entry_id else self._last
        else:
            draft.entries.pop(entry_id, None)

    def _frozen(self, draft: _Draft) -> Exchange:
        entries = tuple(draft.entries.values())
        return Exchange(
            agent=self.agent,
            session=self.session,
            key=draft.key,
            entries=entries,
            ended=draft.ended,
            cwd=next((entry.cwd for entry in entries if entry.cwd), None),
            branch=next((entry.branch for entry in entries if entry.branch), None),
        )


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
        if other is None or (exchange.ended, len(exchange.entries)) > (other.ended, len(other.entries)):
            found[exchange.key] = exchange
    prompted = [each for each in found.values() if each.entries[0].origin in PROMPTS]
    late = [each for each in found.values() if each.entries[0].origin not in PROMPTS]
    for exchange in late:
        rest: list[Entry] = []
        for entry in exchange.entries:
            at = _exchange_at(entry, prompted)
            if at is None:
                rest.append(entry)
            else:
                prompted[at] = replace(prompted[at], entries=(*prompted[at].entries, entry))
        if rest:
            prompted.append(replace(exchange, entries=tuple(rest)))
    return tuple(prompted)


def _exchange_at(entry: Entry, exchanges: list[Exchange]) -> int | None:
    """The newest exchange that a prompt had opened by the entry's time."""
    for at in reversed(range(len(exchanges))):
        opened = exchanges[at].entries[0]
        if entry.time and opened.time and opened.origin in PROMPTS and opened.time <= entry.time:
            return at
    return None
