"""The ledger: the one database with everything that is not a memory."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import Self

from extractord.core.ports import Owner
from extractord.edges.ledger import owners, schema
from extractord.edges.ledger.audit import Audit
from extractord.edges.ledger.connection import transaction
from extractord.edges.ledger.fleet import Inbox, Published, Windows
from extractord.edges.ledger.outbox import Outbox
from extractord.edges.ledger.ranges import Ranges
from extractord.edges.ledger.rehoming import Rehoming
from extractord.edges.ledger.retention import Retention
from extractord.edges.ledger.runs import Runs
from extractord.edges.ledger.standing import Standing
from extractord.edges.ledger.surveys import Surveys
from extractord.edges.ledger.uses import Uses
from extractord.edges.ledger.versions import Versions

__all__ = ["Ledger"]


class Ledger:
    """The port `Ledger` over one connection; for the thread that opened it, another opens its own."""

    def __init__(self, connection: sqlite3.Connection, lives: Callable[[Owner], bool] = owners.lives) -> None:
        self._connection = connection
        self._seen: int | None = None
        self.ranges = Ranges(connection, lives)
        self.runs = Runs(connection)
        self.audit = Audit(connection)
        self.standing = Standing(connection, lives)
        self.versions = Versions(connection)
        self.surveys = Surveys(connection)
        self.rehoming = Rehoming(connection)
        self.retention = Retention(connection, self.audit)
        self.outbox = Outbox(connection)
        self.windows = Windows(connection)
        self.inbox = Inbox(connection)
        self.published = Published(connection)
        self.uses = Uses(connection)

    @classmethod
    def open(cls, state_dir: Path, *, readonly: bool = False) -> Self:
        """Given the state directory, return its ledger, made where there is none.

        With `readonly` nothing is made or changed, and where there is none it is an empty one.
        Raise LedgerError where it cannot be used, DamagedLedgerError where it is unsound; either
        leaves the file as it is.
        """
        path = state_dir / schema.NAME
        if readonly:
            return cls(schema.open_to_read(path))
        state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        return cls(schema.open_file(path))

    @staticmethod
    def set_aside(state_dir: Path, now: datetime) -> Path:
        """Given the state directory, move a damaged ledger out of the way; return where it is kept."""
        return schema.set_aside(state_dir / schema.NAME, now)

    @classmethod
    def in_memory(cls) -> Self:
        """Return an empty ledger that is gone when it is closed."""
        return cls(schema.blank())

    def was_changed(self) -> bool:
        """True if another connection changed the ledger since this was last asked, or it never was."""
        (version,) = self._connection.execute("PRAGMA data_version").fetchone()
        before, self._seen = self._seen, int(version)
        return before != self._seen

    def transaction(self) -> AbstractContextManager[None]:
        """All or nothing, durable at its end; one inside another joins it. Never await inside."""
        return transaction(self._connection)

    def hurry(self) -> None:
        """Wait for the disk no more: what is committed outlives this process all the same.

        A power failure may take what came after the last commit of a connection that waits; never
        anything before it.
        """
        self._connection.execute("PRAGMA synchronous = NORMAL")

    def confined(self, level: str) -> None:
        """From now on each row of the audit says that this process gave up so much."""
        self.audit.confinement = level

    def check(self) -> None:
        """Look through the whole file. Raise DamagedLedgerError where it is unsound."""
        schema.check(self._connection)

    def present(self) -> Owner:
        """The process that asks, as the owner of its claims."""
        return owners.present()

    def close(self) -> None:
        """Let the file go; what was committed stays."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
