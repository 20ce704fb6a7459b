"""What is kept no longer than a person wants: old versions, and the beginning of the audit."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from extractord.core.ports import Expired
from extractord.edges.ledger import audit
from extractord.edges.ledger.connection import border, to_ms, transaction

SCHEMA: tuple[str, ...] = ("CREATE TABLE audit_cut(id INTEGER NOT NULL, hash TEXT NOT NULL)",)
CUTS: tuple[str, ...] = (
    """CREATE TABLE history_cuts(
        root TEXT NOT NULL, path TEXT NOT NULL, stood INTEGER NOT NULL, PRIMARY KEY (root, path)
    ) WITHOUT ROWID""",
)
"""Whether a file stood at the path before the first version that is still kept."""

_OLD_VERSIONS = "at < ? AND id NOT IN (SELECT max(id) FROM history GROUP BY root, path)"
_OLD_ROWS = "at < ? AND id < (SELECT max(id) FROM audit)"
_OLD_RUNS = """started_at < ? AND run NOT IN (SELECT run FROM claims)
    AND run <> (SELECT run FROM runs ORDER BY started_at DESC, run DESC LIMIT 1)"""
_A_DAY = timedelta(days=1)
_AT_ONCE = 500
_OLD_HELD = "at < ? AND state <> 'waiting'"


@border
class Retention:
    """The port `Retention` over the ledger's connection."""

    def __init__(self, connection: sqlite3.Connection, rows: audit.Audit) -> None:
        """`rows` is told what goes."""
        self._connection = connection
        self._audit = rows

    def expired(
        self, history: datetime | None, rows: datetime | None, runs: datetime | None = None
    ) -> Expired:
        """What is older than these moments, None for no limit; the newest of each always stays.

        So do runs that are under way, and what still waits for a person.
        """
        versions, memories = (0, 0)
        if history is not None:
            versions, memories = self._connection.execute(
                f"SELECT count(*), count(DISTINCT root || '/' || path) FROM history WHERE {_OLD_VERSIONS}",  # noqa: S608 - the condition above
                (to_ms(history),),
            ).fetchone()
        cut = 0
        if rows is not None:
            cut = self._through(rows) - audit.cut(self._connection)[0]
        return Expired(
            versions=versions,
            memories=memories,
            audit_rows=max(0, cut),
            runs=self._count("runs", _OLD_RUNS, runs),
            held=self._count("held", _OLD_HELD, runs),
        )

    def _count(self, table: str, where: str, since: datetime | None) -> int:
        if since is None:
            return 0
        counted = self._connection.execute(f"SELECT count(*) FROM {table} WHERE {where}", (to_ms(since),))  # noqa: S608 - ours
        return int(counted.fetchone()[0])

    def expire(
        self, history: datetime | None, rows: datetime | None, runs: datetime | None, now: datetime
    ) -> Expired:
        """Let it go; return what went. The audit says so itself, and its chain goes on.

        Not all at once, for who shares the ledger waits meanwhile. Nothing goes while an intent is open.
        """
        if self._connection.execute("SELECT 1 FROM intents").fetchone():
            return Expired()
        with transaction(self._connection):
            gone = self.expired(history, rows, runs)
            if gone.audit_rows and rows is not None:
                audit.cut_through(self._connection, self._through(rows))
            if gone != Expired():
                detail = {
                    "versions": gone.versions,
                    "rows": gone.audit_rows,
                    "runs": gone.runs,
                    "held": gone.held,
                }
                self._audit.note("expired", "person", detail, now)
        if history is not None:
            self._drop_versions(to_ms(history))
        if runs is not None:
            self._drop_runs(to_ms(runs), to_ms(min(runs, now - _A_DAY)))
        return gone

    def _drop_versions(self, since: int) -> None:
        """Old versions, oldest first, with the bytes that no other has."""
        old = f"SELECT id, sha256 FROM history WHERE {_OLD_VERSIONS} ORDER BY id"  # noqa: S608 - the condition above
        for some in _batches(self._connection.execute(old, (since,)).fetchall()):
            with transaction(self._connection):
                self._connection.executemany(
                    """INSERT OR REPLACE INTO history_cuts
                       SELECT root, path, sha256 IS NOT NULL FROM history WHERE id = ?""",
                    [(number,) for number, _ in some],
                )
                self._connection.executemany(
                    "DELETE FROM history WHERE id = ?", [(number,) for number, _ in some]
                )
                self._connection.executemany(
                    """DELETE FROM contents WHERE sha256 = ?1
                       AND NOT EXISTS (SELECT 1 FROM history WHERE sha256 = ?1)""",
                    [(sha,) for _, sha in some],
                )

    def _drop_runs(self, since: int, spent_before: int) -> None:
        """Runs with all that hangs on them; of requests none that a day's budget may still count."""
        old = f"SELECT run FROM runs WHERE {_OLD_RUNS}"  # noqa: S608 - the condition above
        for some in _batches(self._connection.execute(old, (since,)).fetchall()):
            with transaction(self._connection):
                self._connection.executemany("DELETE FROM runs WHERE run = ?", some)
                self._connection.executemany("DELETE FROM briefs WHERE run = ?", some)
                self._connection.executemany("DELETE FROM unsaid WHERE run = ?", some)
        decided = f"SELECT id FROM held WHERE {_OLD_HELD}"  # noqa: S608 - the condition above
        for some in _batches(self._connection.execute(decided, (since,)).fetchall()):
            with transaction(self._connection):
                self._connection.executemany("DELETE FROM held WHERE id = ?", some)
        spent = "SELECT rowid FROM requests WHERE at < ? AND run NOT IN (SELECT run FROM runs)"
        for some in _batches(self._connection.execute(spent, (spent_before,)).fetchall()):
            with transaction(self._connection):
                self._connection.executemany("DELETE FROM requests WHERE rowid = ?", some)

    def _through(self, rows: datetime) -> int:
        """The last row of those that go from the beginning; they go in order, so that the chain holds."""
        (kept,) = self._connection.execute(
            f"SELECT min(id) FROM audit WHERE NOT ({_OLD_ROWS})",  # noqa: S608 - the condition above
            (to_ms(rows),),
        ).fetchone()
        return 0 if kept is None else int(kept) - 1


def _batches(rows: list[tuple[Any, ...]]) -> Iterator[list[tuple[Any, ...]]]:
    return (rows[begin : begin + _AT_ONCE] for begin in range(0, len(rows), _AT_ONCE))
