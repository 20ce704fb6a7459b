"""The store: the one writer of memories, whole change-sets or nothing (DESIGN §11)."""

from __future__ import annotations

from extractord.edges.store.committing import Committed
from extractord.edges.store.keeping import Keeping, Undone, stands
from extractord.edges.store.reviewing import Reviewing, standings
from extractord.edges.store.store import Store
from extractord.edges.store.weighing import Context
from extractord.edges.store.writer import Writer

__all__ = [
    "Committed",
    "Context",
    "Keeping",
    "Reviewing",
    "Store",
    "Undone",
    "Writer",
    "standings",
    "stands",
]
