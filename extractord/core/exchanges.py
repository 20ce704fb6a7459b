"""Folds a session's entries into exchanges: a person's prompt and all that follows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from extractord.core.drafts import Draft
from extractord.core.records import Deferred, Entry, Exchange, Origin, Seen, Thaw, Thawed, Voided

PROMPTS = frozenset({Origin.HUMAN, Origin.HEADLESS})
"""What opens an exchange."""
_NEVER_EVIDENCE = frozenset({Origin.COPIED, Origin.RECALLED})


class Session:
    """The exchanges of one session that are not closed; of the others only ids are kept."""

    def __init__(
        self, agent: str, session: str, closed: Iterable[str] = (), thaw: Thaw | None = None
    ) -> None:
        """Begin with the keys of exchanges that are closed: they are not kept when they come.

        `thaw` makes entries of what may come deferred.
        """
        self.agent = agent
        self.session = session
        self._thaw = thaw
        self.closed = set(closed)
        self._before: set[str] = set()
        self._drafts: dict[str, Draft] = {}
        self._last: str | None = None
        self._last_ended = False
        self._home: dict[str, str] = {}
        self._revisions: dict[str, int] = {}
        self._void: set[str] = set()
        self._cuts: list[tuple[str, int]] = []

    def apply(self, seen: Seen | Thawed, place: str = "") -> None:
        """Given what a reader brings, and the file that it read, fold it in."""
        match seen:
            case Thawed():
                self._apply_thawed(seen, place)
            case Voided():
                self._apply_void(seen, place)
            case Entry():
                self._apply_entry(seen, place)
            case _:
                assert_never(seen)

    def defer(self, deferred: Deferred, place: str = "") -> bool:
        """Given a deferred record, keep it in its place; False where its entries are wanted at once.

        They are where no exchange is open, and it may hold a write that belongs to none.
        """
        draft = self._drafts.get(self._last or "")
        if draft is None:
            if deferred.calls and self._is_late():
                return False
            self._last_ended = self._last_ended or deferred.ends
            return True
        if deferred.id in self._void:
            return True
        draft.defer(deferred, place)
        self._last_ended = self._last_ended or deferred.ends
        if draft.is_full:
            self._put_all(draft, draft.emptied(), place)
        return True

    @property
    def is_empty(self) -> bool:
        """True if no exchange is kept."""
        return not self._drafts

    def exchanges(self) -> tuple[Exchange, ...]:
        """The exchanges that are kept, oldest first, the one under way included."""
        return tuple(draft.exchange(self.agent, self.session) for draft in self._drafts.values())

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
        for entry_id in draft.kept if draft else ():
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

    def _is_late(self) -> bool:
        """No exchange is open that what comes now could belong to."""
        return (self._last is None or self._last_ended) and self._last not in self._before

    def _is_late_write(self, entry: Entry) -> bool:
        """It writes although no exchange is open that it could belong to."""
        return (
            self._is_late()
            and entry.origin not in _NEVER_EVIDENCE
            and any(call.writes for call in entry.calls)
        )

    def _open(self, entry: Entry, place: str) -> None:
        self.quiet()
        self._last = entry.id
        self._last_ended = False
        if entry.id not in self.closed and entry.id not in self._before:
            draft = self._drafts[entry.id] = Draft(entry.id, place, self._thaw)
            self._put(draft, entry, place)

    def _put(self, draft: Draft, entry: Entry, place: str) -> None:
        draft.put(entry, place)
        self._home[entry.id] = draft.key
        if draft.key == self._last:
            self._last_ended = draft.ended

    def _revise(self, entry: Entry) -> None:
        draft = self._drafts.get(self._home.get(entry.id, ""))
        if draft is None:
            self._last_ended = self._last_ended or entry.turn_end
            return
        before = draft.kept.get(entry.id)
        self._put(draft, entry, draft.places.get(entry.id, draft.place))
        if not isinstance(before, Entry):
            return
        if (before.origin in PROMPTS) != (entry.origin in PROMPTS) and draft.key == self._last:
            self._regroup(draft)

    def _regroup(self, draft: Draft) -> None:
        """What opened the newest exchange was no prompt after all, or something in it was one."""
        del self._drafts[draft.key]
        self._last = next(reversed(self._drafts), None)
        for entry in draft.made():
            self._add(entry, draft.places.get(entry.id, draft.place))

    def _apply_void(self, void: Voided, place: str) -> None:
        self._void.difference_update(void.again)
        for entry_id in void.again:
            self._revisions.pop(entry_id, None)
        self._void.update(void.ids)
        gone = list(void.ids)
        if void.from_ordinal is not None:
            self._cuts.append((place, void.from_ordinal))
            gone += [
                entry.id
                for draft in self._drafts.values()
                for entry in draft.entries
                if self._is_void(entry, draft.places[entry.id])
            ]
        for draft in self._drafts.values():
            for entry_id in draft.kept.keys() & gone:
                if entry_id not in self._home:
                    del draft.kept[entry_id]
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
            draft.kept.pop(entry_id, None)

    def _apply_thawed(self, thawed: Thawed, place: str) -> None:
        newest_first = reversed(self._drafts.values())
        draft = next((draft for draft in newest_first if thawed.id in draft.kept), None)
        if draft is None:
            self._revisions.update((entry.id, entry.revision) for entry in thawed.entries)
            return
        before, draft.kept = draft.kept, {}
        for kept_id, each in before.items():
            if kept_id == thawed.id:
                self._put_all(draft, thawed.entries, place)
            else:
                draft.kept[kept_id] = each

    def _put_all(self, draft: Draft, entries: Iterable[Entry], place: str) -> None:
        for entry in entries:
            self._revisions[entry.id] = entry.revision
            self._put(draft, entry, draft.places.get(entry.id, place))
