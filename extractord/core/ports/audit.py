"""What the ledger keeps of every request and verdict, in a chain of hashes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Protocol

from msgspec import Struct

from extractord.core.records import Refusal


class AuditRow(Struct, frozen=True, kw_only=True):
    """One row of the audit."""

    id: int
    at: datetime
    kind: str
    subject: str
    detail: dict[str, object]
    hash: str


class Audit(Protocol):
    """Append-only, hash-chained rows; ids and rule names, never a transcript's text."""

    def refused(
        self, run: str, by: str, refusals: Iterable[Refusal], confinement: str, now: datetime
    ) -> None:
        """Rows for requests that were not granted, by `child` or `store`."""
        ...

    def allowed(self, run: str, requests: Iterable[Refusal], confinement: str, now: datetime) -> None:
        """Rows for requests that the store granted."""
        ...

    def note(self, kind: str, subject: str, detail: Mapping[str, object], now: datetime) -> None:
        """A row for a commit, a review, an undo; it says what this process gave up."""
        ...

    def head(self) -> str:
        """The newest row's hash."""
        ...

    def recent(self, limit: int) -> tuple[AuditRow, ...]:
        """The newest rows, newest first."""
        ...

    def about(self, subject: str) -> tuple[AuditRow, ...]:
        """Every row of one subject, a run's or a memory's, oldest first."""
        ...

    def verify(self) -> int:
        """Given the chain, return the number of rows. Raise LedgerError where it is broken."""
        ...
