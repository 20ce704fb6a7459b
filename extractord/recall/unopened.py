"""Memories that no agent ever opened, though it could have."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from extractord.core.ports import Uses
from extractord.core.survey import Surveyed

ENOUGH = 20
"""So many sessions in which a memory could have been opened say something."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unopened:
    """A memory that agents are told of and never opened."""

    root: str
    row: Surveyed
    since: datetime
    """From when on it could have been opened."""
    sessions: int
    """Seen since then, and in none was it."""


def unopened(uses: Uses, rows: Iterable[tuple[str, Surveyed]]) -> tuple[Unopened, ...]:
    """Given memories with their roots, return those that were never opened, the surest first.

    One that no session could have opened yet is left out, as is what agents are not told of.
    """
    found = []
    for root, of_root in _by_root(rows).items():
        opened, since, chances = uses.opened(root), uses.since(root), uses.chances(root)
        for row in of_root:
            if row.withheld or row.fault or row.path in opened:
                continue
            begun = since.get(row.path) or datetime.fromtimestamp(row.mtime_ns / 1e9, UTC)
            sessions = len(chances) - bisect_left(chances, begun)
            if sessions:
                found.append(Unopened(root=root, row=row, since=begun, sessions=sessions))
    return tuple(sorted(found, key=lambda one: (-one.sessions, one.since, one.root, one.row.path)))


def _by_root(rows: Iterable[tuple[str, Surveyed]]) -> dict[str, list[Surveyed]]:
    found: dict[str, list[Surveyed]] = {}
    for root, row in rows:
        found.setdefault(root, []).append(row)
    return found
