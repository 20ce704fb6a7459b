"""The tree that a session's records form, and what a rewind leaves behind in it."""

from __future__ import annotations

from collections.abc import Iterable


class Branches:
    """Grows by records with a parent; knows which entries are off the branch of a new prompt.

    Branching alone is not a rewind: results of parallel calls branch too. What is left behind
    counts only where a person's prompt hangs on an earlier record.
    """

    def __init__(self) -> None:
        self._parents: dict[str, str | None] = {}
        self._live: dict[str, tuple[str, ...]] = {}
        self._spoken: set[str] = set()
        self._last: str | None = None
        self._forked = False

    def grow(self, record: str, parent: str | None) -> None:
        """A record hangs on its parent, None for a root."""
        if record in self._parents:
            return
        self._forked = self._forked or (bool(self._parents) and parent != self._last)
        self._parents[record] = parent
        self._last = record

    def bear(self, record: str, entries: Iterable[str], *, spoken: bool) -> None:
        """A record brought entries; `spoken` where a person or the model said them."""
        self._live[record] = tuple(entries)
        if spoken:
            self._spoken.add(record)

    def left_behind(self, prompt: str) -> tuple[str, ...]:
        """Given a person's prompt that has just grown, return the entries that it abandons."""
        if not self._forked:
            return ()
        self._forked = False
        return self.off(prompt)

    def off(self, record: str | None) -> tuple[str, ...]:
        """Return, and forget, the live entries that are not on the way from a record to its root.

        Nothing where that way is not known to its end, or where only tools' results are off it.
        """
        way: set[str] = set()
        while record is not None:
            if record in way or record not in self._parents:
                return ()
            way.add(record)
            record = self._parents[record]
        dead = [each for each in self._live if each not in way]
        if self._spoken.isdisjoint(dead):
            return ()
        return tuple(entry for each in dead for entry in self._live.pop(each))
