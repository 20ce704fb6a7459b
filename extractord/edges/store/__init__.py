"""The store: the one writer of memories, whole change-sets or nothing (DESIGN §11)."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
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

_ROOMS = {
    "Committed": "committing",
    "Keeping": "keeping",
    "Undone": "keeping",
    "stands": "keeping",
    "Reviewing": "reviewing",
    "standings": "reviewing",
    "Store": "store",
    "Context": "weighing",
    "Writer": "writer",
}
"""Imported when they are wanted: who only reads the roots does not pay for the one writer, 0.2 s."""


def __getattr__(name: str) -> object:
    if name not in _ROOMS:
        raise AttributeError(name)
    return getattr(import_module(f"{__name__}.{_ROOMS[name]}"), name)
