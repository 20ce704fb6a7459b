"""In what order the rows of a Claude Code session are folded: some have to wait for others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from extractord.core.records import Seen
from extractord.core.transcripts.claude_copies import Copies
from extractord.core.transcripts.claude_records import Record
from extractord.core.transcripts.recorded import instant
from extractord.core.transcripts.rewinds import Tree

_ANSWERING = frozenset(["assistant", "system"])


class Order:
    """Folds rows as they come, but for those that wait.

    A prompt that may be a copy waits for its answer. Where a file begins with bookkeeping, an answer
    to what is yet to come waits for the first prompt: Claude Code now and then writes the first answer
    of a session before it.
    """

    def __init__(
        self, fold: Callable[[Record], Sequence[Seen]], tree: Tree, *, is_prompted: bool = False
    ) -> None:
        """Take how a row is folded, the tree where that puts it, and whether no answer has to wait."""
        self.is_prompted = is_prompted
        self._fold = fold
        self._tree = tree
        self._copies = Copies()
        self._early: list[Record] = []
        self._has_begun = False

    def take(self, row: Record, *, is_first: bool) -> Sequence[Seen]:
        """Given a line of the conversation, perhaps the file's first, return what can be told now."""
        copies, starts = self._copies, not self._has_begun
        self._has_begun = True
        if not (starts or copies.is_copying or copies.is_undecided):
            return self._in_order(row)
        taken = copies.take(row, is_first=starts)
        self.is_prompted = self.is_prompted or (is_first and not copies.is_undecided)
        return [seen for each in taken for seen in self._in_order(each)]

    def prompted(self) -> None:
        """A person's prompt was folded: unless it is a copy, no answer waits for one any longer."""
        self.is_prompted = self.is_prompted or not self._copies.is_copying

    def rest(self) -> Sequence[Seen]:
        """What waits, perhaps in vain."""
        waiting, self._early = [*self._copies.rest(), *self._early], []
        return self._folded(waiting)

    def _in_order(self, row: Record) -> Sequence[Seen]:
        if not self.is_prompted and row.type in _ANSWERING and self._hangs(row):
            self._early.append(row)
            return ()
        seen = self._fold(row)
        if not (self._early and self.is_prompted):
            return seen
        prompted_at = instant(row.timestamp)
        before: list[Record] = []
        after: list[Record] = []
        for early in self._early:
            at = instant(early.timestamp)
            (before if at and prompted_at and at < prompted_at else after).append(early)
        self._early = []
        return [*self._folded(before), *seen, *self._folded(after)]

    def _hangs(self, row: Record) -> bool:
        """True if the record's parent has not come."""
        return isinstance(row.parent, str) and row.parent not in self._tree

    def _folded(self, rows: Iterable[Record]) -> list[Seen]:
        return [seen for row in rows for seen in self._fold(row)]
