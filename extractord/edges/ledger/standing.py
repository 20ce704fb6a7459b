"""How things stand, for a person who asks: what runs, what waits, what was parked, what is watched."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from datetime import datetime

from msgspec import Struct

from extractord.core.ports import Owner, RunRow
from extractord.edges.ledger.connection import border, from_ms
from extractord.edges.ledger.ranges import claims
from extractord.edges.ledger.runs import run_row


class Waiting(Struct, frozen=True, kw_only=True):
    """Exchanges of a session that a run gave back and that are to be tried again."""

    agent: str
    session: str
    exchanges: int
    attempts: int
    reason: str
    retry_at: datetime | None


@border
class Standing:
    """Over the ledger's connection; only reads."""

    def __init__(self, connection: sqlite3.Connection, lives: Callable[[Owner], bool]) -> None:
        self._connection = connection
        self._lives = lives

    def sources(self) -> tuple[tuple[str, str], ...]:
        """Every (agent, folder) that was baselined."""
        rows = self._connection.execute("SELECT agent, root FROM roots ORDER BY agent, root")
        return tuple((agent, os.fsdecode(root)) for agent, root in rows)

    def newest(self) -> tuple[str, str, str, datetime] | None:
        """Agent, session, outcome or the gate's reason, and time of the exchange that was last closed."""
        row = self._connection.execute(
            "SELECT agent, session, reason, at FROM ranges WHERE state = 'closed' ORDER BY at DESC LIMIT 1"
        ).fetchone()
        return row and (row[0], row[1], row[2], from_ms(row[3]))

    def transcripts(self, agent: str, session: str) -> tuple[str, ...]:
        """The transcripts in which a session was read."""
        rows = self._connection.execute(
            "SELECT path FROM cursors WHERE agent = ? AND session = ? ORDER BY path", (agent, session)
        )
        return tuple(os.fsdecode(path) for (path,) in rows)

    def running(self) -> tuple[str, ...]:
        """The runs that hold a claim and whose owner lives."""
        return tuple(run for run, owner in claims(self._connection) if self._lives(owner))

    def waiting(self) -> tuple[Waiting, ...]:
        """What is to be tried again, by session, the next one first."""
        rows = self._connection.execute(
            """SELECT agent, session, count(*), max(attempts), max(reason), max(retry_at) FROM ranges
               WHERE state = 'open' GROUP BY agent, session ORDER BY max(retry_at), agent, session"""
        )
        return tuple(
            Waiting(
                agent=agent,
                session=session,
                exchanges=exchanges,
                attempts=attempts,
                reason=reason,
                retry_at=None if retry_at is None else from_ms(retry_at),
            )
            for agent, session, exchanges, attempts, reason, retry_at in rows
        )

    def parked(self) -> tuple[RunRow, ...]:
        """Parked runs whose exchanges nobody reopened, newest first."""
        rows = self._connection.execute(
            """SELECT * FROM runs WHERE outcome = 'parked' AND EXISTS
               (SELECT 1 FROM ranges WHERE ranges.run = runs.run AND state = 'closed')
               ORDER BY started_at DESC"""
        )
        return tuple(run_row(row) for row in rows)

    def held(self) -> int:
        """How much waits for a person."""
        return int(
            self._connection.execute("SELECT count(*) FROM held WHERE state = 'waiting'").fetchone()[0]
        )
