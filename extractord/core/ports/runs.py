"""What the ledger keeps of runs, and of what each spent."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from msgspec import Struct

from extractord.core.records import Snapshot, Usage


class Spent(Struct, frozen=True, kw_only=True):
    """What requests cost over some time."""

    requests: int = 0
    tokens: int = 0
    dollars: float = 0.0


class RunRow(Struct, frozen=True, kw_only=True):
    """A run as the ledger keeps it, and as `--json` prints it."""

    run: str
    agent: str
    session: str
    project: str
    model: str
    started_at: datetime
    ended_at: datetime | None = None
    outcome: str = "running"
    reason: str = ""
    written: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    held: tuple[str, ...] = ()
    denied: int = 0
    requests: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    dollars: float = 0.0
    ms: int = 0
    confinement: str = ""


class Runner(Protocol):
    """What becomes of a snapshot: a run here, or its way to another machine."""

    @property
    def is_ready(self) -> bool:
        """False while nothing can be begun."""
        ...

    async def run(self, snapshot: Snapshot) -> RunRow | None:
        """Given a snapshot, return the run's row; None where somebody else has its range."""
        ...


class SpentOn(Struct, frozen=True, kw_only=True):
    """What was spent with one model on one project."""

    model: str
    project: str
    spent: Spent


class RequestRow(Struct, frozen=True, kw_only=True):
    """One request of a run."""

    at: datetime
    usage: Usage
    fault: str | None = None


class Runs(Protocol):
    """Every run, and a row for every request that it made."""

    def start(self, row: RunRow) -> None:
        """A run begins."""
        ...

    def finish(self, row: RunRow) -> None:
        """A run ended; the row replaces the one that it began with."""
        ...

    def leave_to_say(self, run: str) -> None:
        """Whoever is told of runs was not told of this one yet."""
        ...

    def unsaid(self) -> tuple[RunRow, ...]:
        """The runs that ended and that nobody was told of, oldest first."""
        ...

    def said(self, run: str) -> None:
        """It was told."""
        ...

    def spend(self, run: str, usage: Usage, now: datetime, fault: str | None) -> None:
        """A request was made; a failed one counts as a request."""
        ...

    def spent(self, since: datetime, run: str | None = None) -> Spent:
        """What was spent since then, of one run or of all."""
        ...

    def spent_on(self, since: datetime) -> tuple[SpentOn, ...]:
        """What was spent since then, by model and project, the most first."""
        ...

    def requests(self, run: str) -> tuple[RequestRow, ...]:
        """A run's requests, oldest first."""
        ...

    def begin_request(self, run: str, now: datetime) -> int:
        """A request is about to be made: it counts from here on, whatever becomes of this process."""
        ...

    def end_request(self, request: int, usage: Usage, fault: str | None) -> None:
        """What it came to."""
        ...

    def withdraw_request(self, request: int) -> None:
        """It was not made after all."""
        ...

    def kept_open(self) -> tuple[bytes, ...]:
        """The kept briefs of runs whose exchanges are open again."""
        ...

    def usage(self, run: str) -> tuple[int, Usage]:
        """A run's requests, counted, and what they cost together."""
        ...

    def recent(self, limit: int) -> tuple[RunRow, ...]:
        """The newest runs, newest first."""
        ...

    def one(self, run: str) -> RunRow | None:
        """A run by its id, or by the beginning of it where that is unique."""
        ...

    def keep_brief(self, run: str, brief: bytes) -> None:
        """Keep a parked run's redacted brief, encoded: its transcript may be purged before a retry."""
        ...
