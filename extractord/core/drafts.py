"""An exchange as it grows, until it is frozen."""

from __future__ import annotations

from dataclasses import dataclass, field

from msgspec.structs import replace

from extractord.core.records import Deferred, Entry, Exchange, Kept, Thaw

_DEFERRED_BYTES = 64 * 1024 * 1024
"""Past so many bytes of deferred records, what an exchange keeps is made into entries."""


@dataclass(slots=True)
class Draft:
    """What is kept of an exchange, in order, and in which file each of its entries stands."""

    key: str
    place: str
    thaw: Thaw | None
    """Makes entries of what came deferred."""
    ended: bool = False
    kept: dict[str, Kept] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)
    deferred_bytes: int = 0

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Those that are made."""
        return tuple(each for each in self.kept.values() if isinstance(each, Entry))

    @property
    def is_full(self) -> bool:
        """True if more is deferred than is to be kept so."""
        return self.deferred_bytes > _DEFERRED_BYTES

    def put(self, entry: Entry, place: str) -> None:
        """Given an entry, and the file that it stands in, keep it; one that is known in its old place."""
        self.kept[entry.id] = entry
        self.places[entry.id] = place
        self.ended = self.ended or entry.turn_end

    def defer(self, deferred: Deferred, place: str) -> None:
        """Given a record whose entries are not made yet, and the file that it stands in, keep it."""
        self.kept[deferred.id] = deferred
        self.deferred_bytes += len(deferred.record)
        if place != self.place:
            self.places[deferred.id] = place
        self.ended = self.ended or deferred.ends

    def made(self) -> tuple[Entry, ...]:
        """All of its entries, those of what is deferred too."""
        return self.thaw(tuple(self.kept.values())) if self.thaw else self.entries

    def emptied(self) -> tuple[Entry, ...]:
        """All of its entries; from now on nothing is kept."""
        made, self.kept, self.deferred_bytes = self.made(), {}, 0
        return made

    def exchange(self, agent: str, session: str) -> Exchange:
        """Given whose it is, return it as it is now, deferred where that will do."""
        kept = tuple(self.kept.values())
        entries = self.entries
        if len(entries) < len(kept) and not any(entry.cwd for entry in entries):
            entries = kept = self.made()  # where it was done is asked before anything else
        exchange = Exchange(
            agent=agent,
            session=session,
            key=self.key,
            entries=entries,
            ended=self.ended,
            cwd=next((entry.cwd for entry in entries if entry.cwd), None),
            branch=next((entry.branch for entry in entries if entry.branch), None),
        )
        return exchange if len(entries) == len(kept) else replace(exchange, kept=kept, thaw=self.thaw)
