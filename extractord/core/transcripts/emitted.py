"""What a reader has emitted so far: nothing goes out twice, and what comes later revises it."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from extractord.core.records import Entry, Origin


class Emitted:
    """A reader's memory of its own entries: a mark for each, and whole only those still awaited."""

    def __init__(self) -> None:
        self.last: Entry | None = None
        """The newest entry, as last revised."""
        self.is_behind = False
        """Something newer than `last` went out deferred."""
        self._is_behind_end = False
        self.is_end_unsaid = False
        """The turn ended while it was: nobody was told yet."""
        self._marks: dict[str, int | None] = {}
        self._revisions: dict[str, int] = {}
        self._parts: dict[str, list[str]] = {}
        self._awaited: dict[str, str] = {}
        self._whole: dict[str, Entry] = {}

    def of(self, records: Iterable[str]) -> tuple[str, ...]:
        """Given ids of records, return those of the entries that went out for them, parts included."""
        return tuple(
            entry
            for record in records
            for entry in (record, *self._parts.get(record, ()))
            if entry in self._marks
        )

    def fresh(self, entry: Entry, *, aside: bool = False, part_of: str | None = None) -> list[Entry]:
        """Given an entry as its record has it, return it, a revision of it, or nothing.

        As it is if its id is new, as a revision if it says something else than before, not at all
        if it repeats. One that stands `aside` (a sub-agent's, in its parent's file) ends no turn; one that is
        `part_of` a record has an id of its own beside the record's.
        """
        mark = _mark(entry)
        before = self._marks.get(entry.id)
        if before == mark:
            return []
        self._marks[entry.id] = mark
        if part_of is not None and before is None:
            self._parts.setdefault(part_of, []).append(entry.id)
        if before is not None:
            entry = self._counted(entry)
        for call in entry.calls:
            self._awaited[call.id] = entry.id
            self._whole[entry.id] = entry
        if not aside:
            self.last = entry
            self.is_behind = False
        return [entry]

    def deferred(self, record: str, *, ends: bool) -> None:
        """A record went out as it came; what it says is newer than `last`, and may end the turn."""
        self._marks[record] = None
        self.is_behind = True
        self._is_behind_end = ends

    @property
    def has_ended(self) -> bool:
        """True if the newest entry, deferred or not, ends the turn."""
        return self._is_behind_end if self.is_behind else self.last is not None and self.last.turn_end

    def has_deferred(self, record: str) -> bool:
        """True if that record went out deferred, and no entry for it since."""
        return self._marks.get(record, 0) is None

    def note(self, entry: Entry, *, aside: bool) -> None:
        """An entry went out elsewhere: what comes here later may repeat, answer or end it."""
        self._marks[entry.id] = _mark(entry)
        self._revisions[entry.id] = entry.revision
        for call in entry.calls:
            if call.ok is None:
                self._awaited[call.id] = entry.id
                self._whole[entry.id] = entry
        if not aside:
            self.last = entry

    def answered(self, call: str, *, ok: bool) -> list[Entry]:
        """A call's result came: return the entry that made it, revised, unless it was answered."""
        entry_id = self._awaited.pop(call, None)
        if entry_id is None:
            return []
        entry = self._whole[entry_id]
        calls = tuple(replace(made, ok=ok) if made.id == call else made for made in entry.calls)
        revised = self._revised(replace(entry, calls=calls))
        if all(made.ok is not None for made in calls):
            del self._whole[entry_id]
        return [revised]

    def calling(self, call: str) -> str:
        """The name of the tool of a call that has no result yet, or nothing."""
        entry = self._whole.get(self._awaited.get(call, ""))
        return next((made.name for made in entry.calls if made.id == call), "") if entry else ""

    def ended(self) -> list[Entry]:
        """The turn ended: return the newest entry, revised to say so, unless it does already."""
        if self.is_behind:
            self.is_end_unsaid = not self._is_behind_end
            self._is_behind_end = True
            return []
        if self.last is None or self.last.turn_end:
            return []
        return [self._revised(replace(self.last, turn_end=True))]

    def recalled(self) -> list[Entry]:
        """The newest entry turned out to be a compaction's summary: return it revised."""
        if self.last is None or self.last.origin is Origin.RECALLED:
            return []
        return [self._revised(replace(self.last, origin=Origin.RECALLED))]

    def _revised(self, entry: Entry) -> Entry:
        entry = self._counted(entry)
        if self.last is not None and self.last.id == entry.id:
            self.last = entry
        if entry.id in self._whole:
            self._whole[entry.id] = entry
        return entry

    def _counted(self, entry: Entry) -> Entry:
        revision = self._revisions.get(entry.id, 0) + 1
        self._revisions[entry.id] = revision
        return replace(entry, revision=revision)


def _mark(entry: Entry) -> int:
    return hash((entry.text, *(call.id for call in entry.calls))) if entry.calls else hash(entry.text)
