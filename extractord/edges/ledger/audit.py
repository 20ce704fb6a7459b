"""The audit: rows that are only ever added, each sealed with the one before it."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Mapping
from datetime import datetime

from extractord.core.ports import AuditRow
from extractord.core.records import Refusal
from extractord.edges.ledger.connection import border, from_ms, place, to_ms, transaction
from extractord.errors import LedgerError

_NEVER_CUT = """CREATE TRIGGER audit_is_never_cut BEFORE DELETE ON audit
       BEGIN SELECT raise(ABORT, 'the audit is append-only'); END"""

SCHEMA: tuple[str, ...] = (
    """CREATE TABLE audit(
        id INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, kind TEXT NOT NULL,
        subject TEXT NOT NULL, detail TEXT NOT NULL, hash TEXT NOT NULL
    )""",
    "CREATE INDEX audit_by_subject ON audit(subject)",
    """CREATE TRIGGER audit_is_never_changed BEFORE UPDATE ON audit
       BEGIN SELECT raise(ABORT, 'the audit is append-only'); END""",
    _NEVER_CUT,
)

BEFORE_ALL = "0" * 64
PATH_CHARACTERS = 200


@border
class Audit:
    """The port `Audit` over the ledger's connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self.confinement = "none"
        """What this process gave up, as each of its rows says that does not say something else."""

    def refused(
        self, run: str, by: str, refusals: Iterable[Refusal], confinement: str, now: datetime
    ) -> None:
        """Rows for requests that were not granted, by `child` or `store`; the reasons' words are left out."""
        with transaction(self._connection):
            for refusal in refusals:
                self.note("refused", run, _judged(by, refusal, confinement), now)

    def allowed(self, run: str, requests: Iterable[Refusal], confinement: str, now: datetime) -> None:
        """Rows for requests that the store granted: their verdict is `allow`."""
        with transaction(self._connection):
            for request in requests:
                self.note("allowed", run, _judged("store", request, confinement), now)

    def note(self, kind: str, subject: str, detail: Mapping[str, object], now: datetime) -> None:
        """A row for a commit, a review, an undo; `detail` is anything that JSON can say."""
        text = _canonical({"confinement": self.confinement, **detail})
        with transaction(self._connection):
            sealed = _seal(self.head(), to_ms(now), kind, subject, text)
            self._connection.execute(
                "INSERT INTO audit(at, kind, subject, detail, hash) VALUES (?, ?, ?, ?, ?)",
                (to_ms(now), kind, subject, text, sealed),
            )

    def head(self) -> str:
        """The newest row's hash; 64 zeros where there is none."""
        row = self._connection.execute("SELECT hash FROM audit ORDER BY id DESC LIMIT 1").fetchone()
        return str(row[0]) if row else BEFORE_ALL

    def recent(self, limit: int) -> tuple[AuditRow, ...]:
        """The newest rows, newest first."""
        rows = self._connection.execute("SELECT * FROM audit ORDER BY id DESC LIMIT ?", (limit,))
        return tuple(_row(*row) for row in rows)

    def about(self, subject: str) -> tuple[AuditRow, ...]:
        """Every row of one subject, a run's or a memory's, oldest first."""
        rows = self._connection.execute("SELECT * FROM audit WHERE subject = ? ORDER BY id", (subject,))
        return tuple(_row(*row) for row in rows)

    def verify(self) -> int:
        """Given the chain, return the number of rows ever written. Raise LedgerError where it is broken.

        Rows cut from its end show in SQLite's own counter, or against a head that the log has.
        """
        last, before = cut(self._connection)
        rows = self._connection.execute("SELECT id, at, kind, subject, detail, hash FROM audit ORDER BY id")
        for number, at, kind, subject, detail, sealed in rows:
            last += 1
            if number != last or _seal(before, at, kind, subject, detail) != sealed:
                raise LedgerError(
                    f"{place(self._connection)}: the audit is broken at row {last}: from there on it was "
                    f"changed by something else than extractord; compare with a backup"
                )
            before = sealed
        row = self._connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'audit'").fetchone()
        counted = int(row[0]) if row else 0
        if counted != last:
            raise LedgerError(
                f"{place(self._connection)}: the audit ends at row {last}, but {counted} were counted as "
                f"written: its end was cut off, or the counter; compare with a backup"
            )
        return last


def _judged(by: str, request: Refusal, confinement: str) -> dict[str, str]:
    return {
        "by": by,
        "confinement": confinement,
        "path": request.path[:PATH_CHARACTERS],
        "rule": request.rule,
        "tool": request.tool,
        "verdict": request.verdict,
    }


def cut(connection: sqlite3.Connection) -> tuple[int, str]:
    """Number and hash of the last row that was let go from the beginning; 0 and zeros where none was."""
    row = connection.execute("SELECT id, hash FROM audit_cut").fetchone()
    return (int(row[0]), str(row[1])) if row else (0, BEFORE_ALL)


def cut_through(connection: sqlite3.Connection, last: int) -> None:
    """Given a transaction and a row's number, let the rows go up to it; the chain goes on from its hash."""
    sealed = connection.execute("SELECT hash FROM audit WHERE id = ?", (last,)).fetchone()[0]
    connection.execute("DELETE FROM audit_cut")
    connection.execute("INSERT INTO audit_cut VALUES (?, ?)", (last, sealed))
    connection.execute("DROP TRIGGER audit_is_never_cut")
    connection.execute("DELETE FROM audit WHERE id <= ?", (last,))
    connection.execute(_NEVER_CUT)


def _row(number: int, at: int, kind: str, subject: str, detail: str, sealed: str) -> AuditRow:
    return AuditRow(
        id=number, at=from_ms(at), kind=kind, subject=subject, detail=json.loads(detail), hash=sealed
    )


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def _seal(before: str, at: int, kind: str, subject: str, detail: str) -> str:
    row = _canonical({"at": at, "before": before, "detail": detail, "kind": kind, "subject": subject})
    return hashlib.sha256(row.encode("ascii")).hexdigest()
