"""The store: the one writer of memories, whole change-sets or nothing (DESIGN §11)."""

from __future__ import annotations

from extractord.edges.store.store import Committed, Store
from extractord.edges.store.weighing import Context

__all__ = ["Committed", "Context", "Store"]
