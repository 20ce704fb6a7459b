"""What the reading rooms ask of a source's reader."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Protocol

from extractord.core.lines import Block
from extractord.core.records import Deferred, Entry, Seen, Thawed


class Reader(Protocol):
    """Folds the records of one transcript into entries; keeps what later records refer to."""

    version: str | None
    """Of the agent, where a record named it."""
    unknown: Counter[str]
    """Record types that the adapter does not know, counted."""

    @property
    def session(self) -> str | None:
        """Of the record last fed."""
        ...

    def feed(self, record: bytes) -> Iterable[Seen]:
        """Given one raw record, return the entries, revisions and voids that it brings.

        Never raises for what a record holds: what cannot be decoded is counted as unknown.
        """
        ...

    def settle(self) -> Iterable[Seen]:
        """The transcript is at rest: return what waited for its successor."""
        ...


class Deferring(Protocol):
    """What lets a reader leave for later what opens, ends and voids no exchange."""

    @property
    def reader(self) -> Reader:
        """The reader, which is fed what cannot wait."""
        ...

    def skim(self, block: Block) -> Iterable[Seen | Deferred | Thawed]:
        """Given lines, yield what each brings as `feed` would, or its record, deferred.

        None is read before what came before it was taken: `thaw` may be asked in between.
        """
        ...

    def thaw(self, deferred: Deferred) -> Sequence[Entry]:
        """What just went out is needed at once: return its entries, which later records revise."""
        ...
