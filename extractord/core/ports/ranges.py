"""What the ledger keeps of how far each session has been read, and who reads on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Protocol

from msgspec import Struct

from extractord.core.records import Project


class Owner(Struct, frozen=True, kw_only=True):
    """A process that holds claims; gone when pid, start time or boot no longer match."""

    pid: int
    started: int
    """Clock ticks since boot, as /proc/<pid>/stat field 22 has it."""
    boot: str


class Baseline(Struct, frozen=True, kw_only=True):
    """How far a transcript had come when it was first found: by place, never by clock."""

    path: str
    offset: int
    last_entry: str | None


class RangeState(Struct, frozen=True, kw_only=True):
    """What the ledger knows about one exchange."""

    state: str
    """open (released after an attempt), claimed, closed or baseline."""
    reason: str
    run: str | None
    attempts: int
    retry_at: datetime | None
    lost: int = 0
    """Runs in a row that went with their process; no attempts."""


class Ranges(Protocol):
    """Which exchanges are closed, claimed or to be tried again; a row an exchange."""

    def cursor(self, path: str) -> bytes | None:
        """The encoded cursor of a transcript, as `save_cursor` was given it."""
        ...

    def save_cursor(self, path: str, agent: str, session: str | None, cursor: bytes) -> None:
        """Keep how far a transcript was read."""
        ...

    def known_root(self, agent: str, root: str) -> bool:
        """True if a source's folder was baselined before."""
        ...

    def note_root(self, agent: str, root: str) -> None:
        """From now on, what appears below this folder is new."""
        ...

    def note_baseline(self, agent: str, session: str, place: Baseline) -> None:
        """All of the session up to the place was there before us."""
        ...

    def baselines(self, agent: str, session: str) -> tuple[Baseline, ...]:
        """The session's baselines, one for each file that it was found in."""
        ...

    def states(self, agent: str, session: str) -> Mapping[str, RangeState]:
        """What is known of each exchange of the session, by its key."""
        ...

    def elsewhere(self, agent: str, session: str, keys: Iterable[str]) -> frozenset[str]:
        """Those of the keys that another session of the agent had first: copies."""
        ...

    def close(self, agent: str, session: str, keys: Iterable[str], reason: str, now: datetime) -> None:
        """Close exchanges without a run, with the gate's reason."""
        ...

    def claim(
        self, agent: str, session: str, keys: Iterable[str], run: str, owner: Owner, now: datetime
    ) -> bool:
        """Claim all of the exchanges for a run, or none where one is closed or claimed."""
        ...

    def holds(self, run: str, owner: Owner) -> bool:
        """True if the run's claim is still its owner's; asked inside the commit."""
        ...

    def close_run(self, run: str, reason: str, now: datetime) -> None:
        """Close what the run claimed; the claim stays until the run's own row is closed: `finish`."""
        ...

    def finish(self, run: str, reason: str, now: datetime) -> None:
        """Close what the run claimed, and let the claim go."""
        ...

    def release(self, run: str, *, attempted: bool, retry_at: datetime | None, reason: str = "") -> None:
        """Give back what the run claimed; `attempted` counts."""
        ...

    def reap(self, now: datetime) -> tuple[str, ...]:
        """Release the claims of owners that are gone; return their runs.

        From the third run in a row that went with its process the exchanges wait, doubling to an hour.
        """
        ...

    def reopen(self, run: str) -> int:
        """Open what the run closed, as if never attempted; return how many exchanges.

        The session's cursors go too, so that its transcripts are read anew.
        """
        ...

    def open_sessions(self) -> Mapping[tuple[str, str], str]:
        """Agent and session of every exchange that was released or lost, and waits.

        Each with a mark that is another one when anything of it changed.
        """
        ...

    def project(self, agent: str, session: str, cwd: str) -> Project | None:
        """The project that a (session, cwd) was given when it was first seen."""
        ...

    def note_project(self, agent: str, session: str, cwd: str, project: Project) -> None:
        """Keep it: the directory may be gone tomorrow."""
        ...
