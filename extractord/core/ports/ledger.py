"""The ledger as a whole: its parts, moved projects, and what is let go with age."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Protocol

from msgspec import Struct

from extractord.core.ports.audit import Audit
from extractord.core.ports.ranges import Ranges
from extractord.core.ports.runs import RunRow, Runs
from extractord.core.ports.versions import Surveys, Uses, Versions
from extractord.core.records import Project


class Home(Struct, frozen=True, kw_only=True):
    """A project as its sessions named it."""

    slug: str
    identity: str
    directory: str
    sessions: int


class Rehoming(Protocol):
    """A root that gets another name: everything that the ledger knows of it follows."""

    def homes(self) -> tuple[Home, ...]:
        """Every project that a session was found in, by its folder."""
        ...

    def begin_move(self, old: str, new: str, project: Project) -> None:
        """An intent to give the root `old` the name `new`, since it belongs to that project."""
        ...

    def open_moves(self) -> tuple[tuple[str, str, Project], ...]:
        """Moves that were neither done nor undone: what a crash left."""
        ...

    def end_move(self, old: str) -> None:
        """The move did not come about."""
        ...

    def move(self, old: str, new: str, project: Project) -> None:
        """The root has its new name: so has all that is known of it, and its sessions belong there."""
        ...

    def merge(self, old: str, new: str, project: Project, names: Mapping[str, str]) -> None:
        """The memories of the root `old` are in `new`, each path under its new name: so is their history."""
        ...


class Expired(Struct, frozen=True, kw_only=True):
    """What is older than a person wants it kept."""

    versions: int = 0
    memories: int = 0
    """Of so many memories the versions are."""
    audit_rows: int = 0
    runs: int = 0
    """With their requests and the briefs that were kept of them."""
    held: int = 0
    """Of what was held, and is decided."""


class Retention(Protocol):
    """What is kept no longer than a person wants."""

    def expired(
        self, history: datetime | None, rows: datetime | None, runs: datetime | None = None
    ) -> Expired:
        """What is older than these moments, None for no limit; the newest of each always stays."""
        ...

    def expire(
        self, history: datetime | None, rows: datetime | None, runs: datetime | None, now: datetime
    ) -> Expired:
        """Let it go; return what went."""
        ...


class Standing(Protocol):
    """How things stand."""

    def as_left(self, row: RunRow) -> RunRow:
        """Given a run's row, return it as it is, or as a process that is gone left it."""
        ...


class Ledger(Protocol):
    """The database with everything that is not a memory."""

    @property
    def ranges(self) -> Ranges:
        """What was read."""
        ...

    @property
    def runs(self) -> Runs:
        """What was run and spent."""
        ...

    @property
    def audit(self) -> Audit:
        """What was asked and answered."""
        ...

    @property
    def standing(self) -> Standing:
        """How things stand."""
        ...

    @property
    def versions(self) -> Versions:
        """What is known about memories."""
        ...

    @property
    def surveys(self) -> Surveys:
        """What memories said when they were last read."""
        ...

    @property
    def uses(self) -> Uses:
        """What was opened."""
        ...

    @property
    def rehoming(self) -> Rehoming:
        """Where projects are."""
        ...

    @property
    def retention(self) -> Retention:
        """What is too old to be kept."""
        ...

    def was_changed(self) -> bool:
        """True if another connection changed it since this was last asked, or it never was."""
        ...

    def transaction(self) -> AbstractContextManager[None]:
        """All or nothing, durable at its end; one inside another joins it."""
        ...
