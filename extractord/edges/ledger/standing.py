"""How things stand, for a person who asks: what runs, what waits, what was parked, what is watched."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from datetime import datetime

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from extractord.core.ports import Owner, RunRow
from extractord.core.records import Outcome
from extractord.edges.ledger.audit import Audit
from extractord.edges.ledger.connection import border, from_ms
from extractord.edges.ledger.ranges import claims
from extractord.edges.ledger.runs import Runs, run_row


class Waiting(Struct, frozen=True, kw_only=True):
    """Exchanges of a session that a run gave back and that are to be tried again."""

    agent: str
    session: str
    exchanges: int
    attempts: int
    reason: str
    retry_at: datetime | None


class _Commit(Struct, frozen=True, kw_only=True):
    """What the audit says of a run's commit."""

    outcome: Outcome
    written: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    held: tuple[str, ...] = ()


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

    def as_left(self, row: RunRow) -> RunRow:
        """Given a run's row, return it as it is, or as a process that is gone left it.

        What was committed is what the commit says, even if nobody lived to close the row; else the
        run is aborted, and nobody knows when.
        """
        if row.ended_at is not None or row.run in self.running():
            return row
        requests, usage = Runs(self._connection).usage(row.run)
        row = replace(
            row,
            outcome=Outcome.ABORTED,
            reason="its process ended",
            requests=requests,
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
            dollars=usage.dollars,
        )
        notes = Audit(self._connection).about(row.run)
        note = next((note for note in notes if note.kind == "commit"), None)
        if note is None:
            return row
        commit = msgspec.convert(note.detail, _Commit)
        return replace(
            row,
            ended_at=note.at,
            outcome=commit.outcome,
            reason="",
            written=commit.written,
            removed=commit.removed,
            held=commit.held,
            denied=sum(note.kind == "refused" for note in notes) - len(commit.held),
            ms=int((note.at - row.started_at).total_seconds() * 1000),
        )

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
