"""Every run, and a row for every request that it made."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec

from extractord.core.ports import RequestRow, RunRow, Spent, SpentOn
from extractord.core.records import Usage
from extractord.edges.ledger.connection import border, from_ms, to_ms

SCHEMA: tuple[str, ...] = (
    """CREATE TABLE runs(
        run TEXT PRIMARY KEY, agent TEXT NOT NULL, session TEXT NOT NULL, project TEXT NOT NULL,
        model TEXT NOT NULL, started_at INTEGER NOT NULL, ended_at INTEGER, outcome TEXT NOT NULL,
        reason TEXT NOT NULL, written TEXT NOT NULL, removed TEXT NOT NULL, held TEXT NOT NULL,
        denied INTEGER NOT NULL, requests INTEGER NOT NULL, prompt_tokens INTEGER NOT NULL,
        completion_tokens INTEGER NOT NULL, dollars REAL NOT NULL, ms INTEGER NOT NULL,
        confinement TEXT NOT NULL
    )""",
    "CREATE INDEX runs_by_start ON runs(started_at)",
    "CREATE INDEX runs_parked ON runs(started_at) WHERE outcome = 'parked'",
    """CREATE TABLE requests(
        id INTEGER PRIMARY KEY, run TEXT NOT NULL, at INTEGER NOT NULL, prompt_tokens INTEGER NOT NULL,
        completion_tokens INTEGER NOT NULL, cached_tokens INTEGER NOT NULL, dollars REAL NOT NULL, fault TEXT
    )""",
    "CREATE INDEX requests_by_time ON requests(at, prompt_tokens, completion_tokens, dollars)",
    "CREATE INDEX requests_by_run ON requests(run)",
    "CREATE TABLE briefs(run TEXT PRIMARY KEY, brief BLOB NOT NULL) WITHOUT ROWID",
)

UNSAID: tuple[str, ...] = ("CREATE TABLE unsaid(run TEXT PRIMARY KEY) WITHOUT ROWID",)

_INSERT = "INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"

_SPENT = """SELECT count(*), ifnull(sum(prompt_tokens + completion_tokens), 0), total(dollars)
    FROM requests WHERE at >= :since"""
_SPENT_BY_RUN = _SPENT + " AND run = :run"
_SPENT_ON = """SELECT ifnull(runs.model, '-'), ifnull(runs.project, '-'), count(*) AS made,
    ifnull(sum(requests.prompt_tokens + requests.completion_tokens), 0), total(requests.dollars) AS paid
    FROM requests LEFT JOIN runs ON runs.run = requests.run WHERE requests.at >= ?
    GROUP BY 1, 2 ORDER BY paid DESC, made DESC"""
_REQUESTS = """SELECT at, prompt_tokens, completion_tokens, cached_tokens, dollars, fault FROM requests
    WHERE run = ? ORDER BY id"""
_USAGE = """SELECT count(*), ifnull(sum(prompt_tokens), 0), ifnull(sum(completion_tokens), 0),
    ifnull(sum(cached_tokens), 0), total(dollars) FROM requests WHERE run = ?"""


@border
class Runs:
    """The port `Runs` over the ledger's connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def start(self, row: RunRow) -> None:
        """A run begins."""
        self._connection.execute("INSERT " + _INSERT, _columns(row))

    def finish(self, row: RunRow) -> None:
        """A run ended; the row replaces the one that it began with."""
        self._connection.execute("INSERT OR REPLACE " + _INSERT, _columns(row))

    def leave_to_say(self, run: str) -> None:
        """Whoever is told of runs was not told of this one yet."""
        self._connection.execute("INSERT OR IGNORE INTO unsaid VALUES (?)", (run,))

    def unsaid(self) -> tuple[RunRow, ...]:
        """The runs that ended and that nobody was told of, oldest first."""
        rows = self._connection.execute(
            """SELECT runs.* FROM unsaid JOIN runs USING (run) WHERE ended_at IS NOT NULL
               ORDER BY started_at, run"""
        )
        return tuple(run_row(row) for row in rows)

    def said(self, run: str) -> None:
        """It was told."""
        self._connection.execute("DELETE FROM unsaid WHERE run = ?", (run,))

    def spend(self, run: str, usage: Usage, now: datetime, fault: str | None) -> None:
        """A request was made; a failed one counts as a request."""
        self._connection.execute(
            "INSERT INTO requests VALUES (NULL, ?, ?, ?, ?, ?, ?, ?)",
            (
                run,
                to_ms(now),
                usage.prompt_tokens,
                usage.completion_tokens,
                usage.cached_tokens,
                usage.dollars,
                fault,
            ),
        )

    def begin_request(self, run: str, now: datetime) -> int:
        """A request is about to be made: it counts from here on, whatever becomes of this process."""
        made = self._connection.execute(
            "INSERT INTO requests VALUES (NULL, ?, ?, 0, 0, 0, 0.0, 'in flight')", (run, to_ms(now))
        )
        return int(made.lastrowid or 0)

    def end_request(self, request: int, usage: Usage, fault: str | None) -> None:
        """What it came to."""
        self._connection.execute(
            """UPDATE requests SET prompt_tokens = ?, completion_tokens = ?, cached_tokens = ?, dollars = ?,
               fault = ? WHERE rowid = ?""",
            (
                usage.prompt_tokens,
                usage.completion_tokens,
                usage.cached_tokens,
                usage.dollars,
                fault,
                request,
            ),
        )

    def withdraw_request(self, request: int) -> None:
        """It was not made after all."""
        self._connection.execute("DELETE FROM requests WHERE rowid = ?", (request,))

    def spent(self, since: datetime, run: str | None = None) -> Spent:
        """What was spent since then, of one run or of all; tokens are prompt and completion."""
        (requests, tokens, dollars) = self._connection.execute(
            _SPENT if run is None else _SPENT_BY_RUN, {"since": to_ms(since), "run": run}
        ).fetchone()
        return Spent(requests=requests, tokens=tokens, dollars=dollars)

    def spent_on(self, since: datetime) -> tuple[SpentOn, ...]:
        """What was spent since then, by model and project, the most first."""
        rows = self._connection.execute(_SPENT_ON, (to_ms(since),))
        return tuple(
            SpentOn(
                model=model, project=project, spent=Spent(requests=requests, tokens=tokens, dollars=dollars)
            )
            for model, project, requests, tokens, dollars in rows
        )

    def requests(self, run: str) -> tuple[RequestRow, ...]:
        """A run's requests, oldest first."""
        rows = self._connection.execute(_REQUESTS, (run,))
        return tuple(
            RequestRow(
                at=from_ms(at),
                usage=Usage(
                    prompt_tokens=prompt, completion_tokens=completion, cached_tokens=cached, dollars=dollars
                ),
                fault=fault,
            )
            for at, prompt, completion, cached, dollars, fault in rows
        )

    def usage(self, run: str) -> tuple[int, Usage]:
        """A run's requests, counted, and what they cost together."""
        (requests, *sums) = self._connection.execute(_USAGE, (run,)).fetchone()
        prompt, completion, cached, dollars = sums
        return requests, Usage(
            prompt_tokens=prompt, completion_tokens=completion, cached_tokens=cached, dollars=dollars
        )

    def recent(self, limit: int) -> tuple[RunRow, ...]:
        """The newest runs, newest first."""
        rows = self._connection.execute(
            "SELECT * FROM runs ORDER BY started_at DESC, run DESC LIMIT ?", (limit,)
        )
        return tuple(run_row(row) for row in rows)

    def one(self, run: str) -> RunRow | None:
        """A run by its id, or by the beginning of it where that is unique."""
        rows = self._connection.execute(
            "SELECT * FROM runs WHERE run >= :run AND run < :run || char(0x10FFFF) ORDER BY run LIMIT 2",
            {"run": run},
        ).fetchall()
        found = [run_row(row) for row in rows]
        if not run or not found or (len(found) > 1 and found[0].run != run):
            return None
        return found[0]

    def kept_open(self) -> tuple[bytes, ...]:
        """The kept briefs of runs whose exchanges are open again."""
        rows = self._connection.execute(
            """SELECT brief FROM briefs
               WHERE run IN (SELECT run FROM ranges WHERE state = 'open') ORDER BY run"""
        )
        return tuple(brief for (brief,) in rows)

    def keep_brief(self, run: str, brief: bytes) -> None:
        """Keep a parked run's redacted brief, encoded."""
        self._connection.execute("INSERT OR REPLACE INTO briefs VALUES (?, ?)", (run, brief))


def _columns(row: RunRow) -> tuple[object, ...]:
    return tuple(_column(value) for value in msgspec.structs.astuple(row))


def _column(value: object) -> object:
    match value:
        case datetime():
            return to_ms(value)
        case tuple():
            return msgspec.json.encode(value).decode()
        case _:
            return value


def run_row(columns: Sequence[Any]) -> RunRow:
    """Given the columns of `runs`, return the row."""
    fields = dict(zip(RunRow.__struct_fields__, columns, strict=True))
    for name in ("started_at", "ended_at"):
        if fields[name] is not None:
            fields[name] = from_ms(fields[name])
    for name in ("written", "removed", "held"):
        fields[name] = msgspec.json.decode(fields[name], type=tuple[str, ...])
    return RunRow(**fields)
