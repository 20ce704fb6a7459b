"""Ranges that are asked and not changed: for a plan that costs nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from extractord.core.ports import Baseline, Owner, Ranges, RangeState
from extractord.core.records import Project


class Unkept:
    """Implements Ranges over another: what would be noted is not, and nothing can be claimed."""

    def __init__(self, ranges: Ranges) -> None:
        self._ranges = ranges

    def cursor(self, path: str) -> bytes | None:
        """As the ledger has it."""
        return self._ranges.cursor(path)

    def save_cursor(self, path: str, agent: str, session: str | None, cursor: bytes) -> None:
        """Not kept."""

    def known_root(self, agent: str, root: str) -> bool:
        """As the ledger has it."""
        return self._ranges.known_root(agent, root)

    def note_root(self, agent: str, root: str) -> None:
        """Not kept."""

    def note_baseline(self, agent: str, session: str, place: Baseline) -> None:
        """Not kept."""

    def baselines(self, agent: str, session: str) -> tuple[Baseline, ...]:
        """As the ledger has them."""
        return self._ranges.baselines(agent, session)

    def states(self, agent: str, session: str) -> Mapping[str, RangeState]:
        """As the ledger has them."""
        return self._ranges.states(agent, session)

    def elsewhere(self, agent: str, session: str, keys: Iterable[str]) -> frozenset[str]:
        """As the ledger has them."""
        return self._ranges.elsewhere(agent, session, keys)

    def close(self, agent: str, session: str, keys: Iterable[str], reason: str, now: datetime) -> None:
        """Not kept."""

    def claim(
        self,
        agent: str,  # noqa: ARG002 - the port's
        session: str,  # noqa: ARG002
        keys: Iterable[str],  # noqa: ARG002
        run: str,  # noqa: ARG002
        owner: Owner,  # noqa: ARG002
        now: datetime,  # noqa: ARG002
    ) -> bool:
        """Never had."""
        return False

    def holds(self, run: str, owner: Owner) -> bool:
        """As the ledger has it."""
        return self._ranges.holds(run, owner)

    def close_run(self, run: str, reason: str, now: datetime) -> None:
        """Not kept."""

    def finish(self, run: str, reason: str, now: datetime) -> None:
        """Not kept."""

    def release(self, run: str, *, attempted: bool, retry_at: datetime | None, reason: str = "") -> None:
        """Not kept."""

    def open_sessions(self) -> Mapping[tuple[str, str], str]:
        """As the ledger has them."""
        return self._ranges.open_sessions()

    def reap(self, now: datetime) -> tuple[str, ...]:  # noqa: ARG002 - the port's
        """Nothing is released."""
        return ()

    def reopen(self, run: str) -> int:  # noqa: ARG002 - the port's
        """Nothing is opened."""
        return 0

    def project(self, agent: str, session: str, cwd: str) -> Project | None:
        """As the ledger has it."""
        return self._ranges.project(agent, session, cwd)

    def note_project(self, agent: str, session: str, cwd: str, project: Project) -> None:
        """Not kept."""
