"""Finds the memory that a new one nearly repeats, by name and description."""

from __future__ import annotations

from collections.abc import Iterator

from rapidfuzz import fuzz, utils

from extractord.core.changeset import ChangeSet
from extractord.core.memory import Memory, parse
from extractord.errors import StoreError
from extractord.policy.requests import VIRTUAL_ROOTS, RootKind

NEAR_NAME = 92.0
"""Names as like as this, of 100, are of one fact."""
NEAR_DESCRIPTION = 90.0
MEMORIES_READ = 1000
"""Of a root so many memories are compared by more than their file name."""


class Kindred:
    """The memories of a run's two roots, by name and description; read when first asked."""

    def __init__(self, changes: ChangeSet) -> None:
        self._changes = changes
        self._told: set[str] = set()

    def find(self, path: str, text: str) -> str | None:
        """Given a new memory, return the virtual path of one that is nearly equal, once for a path."""
        if path in self._told:
            return None
        memory = parse(text)
        if not isinstance(memory, Memory):
            return None
        stem = _stem(path)
        for other, name, description in self._known():
            if (
                _alike(stem, _stem(other), NEAR_NAME)
                or _alike(memory.name, name, NEAR_NAME)
                or _alike(memory.description, description, NEAR_DESCRIPTION)
            ):
                self._told.add(path)
                return other
        return None

    def _known(self) -> Iterator[tuple[str, str, str]]:
        """Virtual path, name and description of every memory, as the run left it."""
        for root in VIRTUAL_ROOTS:
            kind = root.kind or RootKind.USER
            for number, name in enumerate(self._changes.names(kind)):
                path = f"{root.prefix}/{name}"
                memory = self._memory(kind, name) if number < MEMORIES_READ else Memory()
                yield path, memory.name, memory.description

    def _memory(self, kind: RootKind, name: str) -> Memory:
        """What a memory says; nothing where it cannot be read, since it cannot be compared then."""
        try:
            memory = parse(self._changes.read(kind, name) or "")
        except StoreError:
            return Memory()
        return memory if isinstance(memory, Memory) else Memory()


def _stem(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".md")


def _alike(one: str, other: str, near: float) -> bool:
    """True if two texts, case and marks aside, have the same words or nearly the same letters."""
    if not one or not other:
        return False
    return fuzz.ratio(one, other, processor=utils.default_process, score_cutoff=near) >= near
