"""A memory's life: its versions as a person reads them, and its end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from extractord.core.memory import unstamp
from extractord.core.ports import Ledger
from extractord.core.versions import Version
from extractord.edges.store import Keeping, Store


@dataclass(frozen=True, slots=True)
class Stage:
    """One version of a memory, beside the one before it."""

    version: Version
    before: str | None
    """The text before, without our stamps; None where there was none, or it is not kept."""
    text: str | None
    """The same of this version."""


def stages(ledger: Ledger, root: str, path: str) -> Iterator[Stage]:
    """Given a place, yield every version that the ledger knows of it, oldest first."""
    before = None
    for version in ledger.versions.history(root, path):
        raw = None if version.sha256 is None else ledger.versions.content(version.sha256)
        text = None if raw is None else unstamp(raw.decode("utf-8", "replace"))
        yield Stage(version, before, text)
        before = text


def forget(store: Store, root: str, path: str, by: str, *, purge: bool) -> bool:
    """Given a place and who decides, remove the memory, with `purge` its history too.

    Return False where it was gone before.
    """
    keeping = Keeping(store, by)
    was_there = store.roots.raw(root, path) is not None or path in store.ledger.versions.current(root)
    if was_there:
        keeping.forget(root, path)
    if purge:
        keeping.purge(root, path)
    return was_there
