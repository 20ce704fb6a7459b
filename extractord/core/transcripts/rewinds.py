"""The tree of a session's records, and which of them a prompt on an earlier node abandons."""

from __future__ import annotations

from itertools import takewhile


class Tree:
    """Records by parent. Branching alone is no rewind: parallel tools and hooks branch too.

    A rewind is a second real prompt below the same *anchor*: the nearest record above it that is
    part of the conversation, past attachments, hooks and bookkeeping.
    """

    def __init__(self) -> None:
        self._anchor: dict[str, str | None] = {}
        self._parent: dict[str, str | None] = {}
        self._prompts: dict[str, str] = {}
        self._early: dict[str, str] = {}
        """Records that came before their parents, or whose parents never came."""

    def __contains__(self, node: str) -> bool:
        """True if the record was seen."""
        return node in self._anchor

    def __len__(self) -> int:
        """How many were seen."""
        return len(self._anchor)

    def add(self, node: str, parent: str | None, *, anchors: bool) -> None:
        """Note a record below `parent`, seen or not; None where the record does not say."""
        above = self._anchor.get(parent or "")
        if above is None and parent is not None and parent not in self._anchor:
            self._early[node], above = parent, parent
        self._anchor[node] = node if anchors else above
        self._parent[node] = parent

    def grow(self, node: str, parent: str) -> bool:
        """Note a record of the conversation; False where it was seen before."""
        anchor = self._anchor
        if node in anchor:
            return False
        if parent not in anchor:
            self._early[node] = parent
        anchor[node] = node
        self._parent[node] = parent
        return True

    def prompted(self, node: str, parent: str | None) -> tuple[str, ...]:
        """Given a real prompt, return the records of the branch that it abandons, in the file's order.

        Two prompts below a record that was never seen (the root is one) need proof of a tree:
        the first has something below it.
        """
        anchor = self._anchor.get(parent or "", parent)
        if anchor is None:
            return ()
        before = self._prompts.get(anchor)
        self._prompts[anchor] = node
        dead = self._below(before) if before is not None else ()
        return dead if anchor in self._anchor or len(dead) > 1 else ()

    def _below(self, top: str) -> tuple[str, ...]:
        """The record and all below it; where a parent stands after its child, a second look finds it."""
        since = list(takewhile(lambda each: each[0] != top, reversed(self._parent.items())))
        below = {top: None}
        below.update((node, None) for node, parent in reversed(since) if parent in below)
        size = 0
        while size != len(below) and not below.keys().isdisjoint(self._early.values()):
            size = len(below)
            below.update((node, None) for node, parent in self._parent.items() if parent in below)
        return tuple(below)
