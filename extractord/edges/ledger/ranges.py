"""What was read of each session: cursors, baselines, and a row for every exchange."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime

import msgspec

from extractord.core.ports import Baseline, Owner, RangeState
from extractord.core.records import Project
from extractord.edges.ledger.connection import border, durable, from_ms, to_ms, transaction

# Paths are kept as bytes, as the file system has them: not every name is UTF-8.
SCHEMA: tuple[str, ...] = (
    """CREATE TABLE cursors(
        path BLOB PRIMARY KEY, agent TEXT NOT NULL, session TEXT, cursor BLOB NOT NULL
    ) WITHOUT ROWID""",
    "CREATE INDEX cursors_of_session ON cursors(agent, session)",
    "CREATE TABLE roots(agent TEXT NOT NULL, root BLOB NOT NULL, PRIMARY KEY(agent, root)) WITHOUT ROWID",
    """CREATE TABLE baselines(
        agent TEXT NOT NULL, session TEXT NOT NULL, path BLOB NOT NULL, offset INTEGER NOT NULL,
        last_entry TEXT, PRIMARY KEY(agent, session, path)
    ) WITHOUT ROWID""",
    """CREATE TABLE ranges(
        id INTEGER PRIMARY KEY,
        agent TEXT NOT NULL, session TEXT NOT NULL, key TEXT NOT NULL,
        state TEXT NOT NULL CHECK(state IN ('open', 'claimed', 'closed')),
        reason TEXT NOT NULL DEFAULT '', run TEXT, at INTEGER NOT NULL,
        attempts INTEGER NOT NULL DEFAULT 0, lost INTEGER NOT NULL DEFAULT 0, retry_at INTEGER,
        UNIQUE(agent, session, key)
    )""",
    "CREATE INDEX ranges_by_key ON ranges(agent, key)",
    "CREATE INDEX ranges_by_run ON ranges(run) WHERE run IS NOT NULL",
    "CREATE INDEX ranges_open ON ranges(agent, session) WHERE state = 'open'",
    """CREATE TABLE claims(
        run TEXT PRIMARY KEY, pid INTEGER NOT NULL, started INTEGER NOT NULL, boot TEXT NOT NULL
    ) WITHOUT ROWID""",
    """CREATE TABLE projects(
        agent TEXT NOT NULL, session TEXT NOT NULL, cwd BLOB NOT NULL, slug TEXT NOT NULL,
        identity BLOB NOT NULL, directory BLOB NOT NULL, is_project INTEGER NOT NULL,
        PRIMARY KEY(agent, session, cwd)
    ) WITHOUT ROWID""",
)


_FIRST_LOST_MS = 60_000
_LONGEST_LOST_MS = 3_600_000


@border
class Ranges:
    """The port `Ranges` over the ledger's connection; `lives` tells whether an owner still does."""

    def __init__(self, connection: sqlite3.Connection, lives: Callable[[Owner], bool]) -> None:
        self._connection = connection
        self._lives = lives

    def cursor(self, path: str) -> bytes | None:
        """The encoded cursor of a transcript."""
        row = self._connection.execute(
            "SELECT cursor FROM cursors WHERE path = ?", (os.fsencode(path),)
        ).fetchone()
        return row and bytes(row[0])

    def save_cursor(self, path: str, agent: str, session: str | None, cursor: bytes) -> None:
        """Keep how far a transcript was read."""
        self._connection.execute(
            "INSERT OR REPLACE INTO cursors VALUES (?, ?, ?, ?)", (os.fsencode(path), agent, session, cursor)
        )

    def known_root(self, agent: str, root: str) -> bool:
        """True if a source's folder was baselined before."""
        found = self._connection.execute(
            "SELECT 1 FROM roots WHERE agent = ? AND root = ?", (agent, os.fsencode(root))
        )
        return found.fetchone() is not None

    def note_root(self, agent: str, root: str) -> None:
        """From now on, what appears below this folder is new.

        This waits for the disk, and for all that was noted before it: a baseline that a power failure
        took would be drawn anew, after lines that nobody read.
        """
        with durable(self._connection):
            self._connection.execute("INSERT OR IGNORE INTO roots VALUES (?, ?)", (agent, os.fsencode(root)))

    def note_baseline(self, agent: str, session: str, place: Baseline) -> None:
        """All of the session up to the place was there before us; a file's second note replaces its first."""
        self._connection.execute(
            "INSERT OR REPLACE INTO baselines VALUES (?, ?, ?, ?, ?)",
            (agent, session, os.fsencode(place.path), place.offset, place.last_entry),
        )

    def baselines(self, agent: str, session: str) -> tuple[Baseline, ...]:
        """The session's baselines, by file."""
        rows = self._connection.execute(
            "SELECT path, offset, last_entry FROM baselines WHERE agent = ? AND session = ? ORDER BY path",
            (agent, session),
        )
        return tuple(Baseline(path=os.fsdecode(path), offset=at, last_entry=last) for path, at, last in rows)

    def paths(self, agent: str, session: str) -> tuple[str, ...]:
        """The transcripts in which the session was found, sorted."""
        rows = self._connection.execute(
            """SELECT path FROM cursors WHERE agent = :agent AND session = :session
               UNION SELECT path FROM baselines WHERE agent = :agent AND session = :session ORDER BY path""",
            {"agent": agent, "session": session},
        )
        return tuple(os.fsdecode(path) for (path,) in rows)

    def states(self, agent: str, session: str) -> Mapping[str, RangeState]:
        """What is known of each exchange of the session, by its key, oldest first."""
        rows = self._connection.execute(
            """SELECT key, state, reason, run, attempts, retry_at, lost FROM ranges
               WHERE agent = ? AND session = ? ORDER BY id""",
            (agent, session),
        )
        return {
            key: RangeState(
                state=state,
                reason=reason,
                run=run,
                attempts=attempts,
                retry_at=None if retry_at is None else from_ms(retry_at),
                lost=lost,
            )
            for key, state, reason, run, attempts, retry_at, lost in rows
        }

    def elsewhere(self, agent: str, session: str, keys: Iterable[str]) -> frozenset[str]:
        """Those of the keys that another session of the agent had first, and not as copies itself."""
        rows = self._connection.execute(
            """SELECT DISTINCT key FROM ranges AS other
               WHERE agent = :agent AND session <> :session AND key IN (SELECT value FROM json_each(:keys))
               AND reason <> 'already_seen'
               AND NOT EXISTS (SELECT 1 FROM ranges AS own WHERE own.agent = :agent
                               AND own.session = :session AND own.key = other.key AND own.id < other.id)""",
            {"agent": agent, "session": session, "keys": msgspec.json.encode(list(keys)).decode()},
        )
        return frozenset(key for (key,) in rows)

    def close(self, agent: str, session: str, keys: Iterable[str], reason: str, now: datetime) -> None:
        """Close exchanges without a run; what is claimed or closed stays as it is."""
        with transaction(self._connection):
            self._connection.executemany(
                """INSERT INTO ranges(agent, session, key, state, reason, at) VALUES (?, ?, ?, 'closed', ?, ?)
                   ON CONFLICT(agent, session, key) DO UPDATE
                   SET state = 'closed', reason = excluded.reason, at = excluded.at, retry_at = NULL
                   WHERE state = 'open'""",
                [(agent, session, key, reason, to_ms(now)) for key in keys],
            )

    def claim(
        self, agent: str, session: str, keys: Iterable[str], run: str, owner: Owner, now: datetime
    ) -> bool:
        """Claim all of the exchanges for a run, or none where one is closed or claimed by the living."""
        wanted = tuple(dict.fromkeys(keys))
        with transaction(self._connection):
            known = self._connection.execute("SELECT 1 FROM claims WHERE run = ?", (run,)).fetchone()
            if known or not all(self._free(agent, session, key) for key in wanted):
                return False
            self._connection.execute(
                "INSERT INTO claims VALUES (?, ?, ?, ?)", (run, owner.pid, owner.started, owner.boot)
            )
            self._connection.executemany(
                """INSERT INTO ranges(agent, session, key, state, run, at) VALUES (?, ?, ?, 'claimed', ?, ?)
                   ON CONFLICT(agent, session, key) DO UPDATE
                   SET lost = lost + (state = 'claimed'), state = 'claimed', reason = '',
                       run = excluded.run, at = excluded.at, retry_at = NULL""",
                [(agent, session, key, run, to_ms(now)) for key in wanted],
            )
        return True

    def _free(self, agent: str, session: str, key: str) -> bool:
        row = self._connection.execute(
            """SELECT state, pid, started, boot FROM ranges LEFT JOIN claims USING (run)
               WHERE agent = ? AND session = ? AND key = ?""",
            (agent, session, key),
        ).fetchone()
        if row is None or row[0] == "open":
            return True
        state, pid, started, boot = row
        return state == "claimed" and not self._lives(Owner(pid=pid, started=started, boot=boot))

    def holds(self, run: str, owner: Owner) -> bool:
        """True if the run's claim is still its owner's; asked inside the commit."""
        found = self._connection.execute(
            "SELECT 1 FROM claims WHERE run = ? AND pid = ? AND started = ? AND boot = ?",
            (run, owner.pid, owner.started, owner.boot),
        )
        return found.fetchone() is not None

    def close_run(self, run: str, reason: str, now: datetime) -> None:
        """Close what the run claimed; the claim stays until the run's own row is closed: `finish`."""
        self._connection.execute(
            """UPDATE ranges SET state = 'closed', reason = ?, at = ?, lost = 0
               WHERE run = ? AND state = 'claimed'""",
            (reason, to_ms(now), run),
        )

    def finish(self, run: str, reason: str, now: datetime) -> None:
        """Close what the run claimed, and let the claim go."""
        with transaction(self._connection):
            self.close_run(run, reason, now)
            self._connection.execute("DELETE FROM claims WHERE run = ?", (run,))

    def release(self, run: str, *, attempted: bool, retry_at: datetime | None, reason: str = "") -> None:
        """Give back what the run claimed; `attempted` counts."""
        with transaction(self._connection):
            self._connection.execute(
                """UPDATE ranges
                   SET state = 'open', reason = ?, attempts = attempts + ?, lost = 0, retry_at = ?
                   WHERE run = ? AND state = 'claimed'""",
                (reason, attempted, None if retry_at is None else to_ms(retry_at), run),
            )
            self._connection.execute("DELETE FROM claims WHERE run = ?", (run,))

    def reap(self, now: datetime) -> tuple[str, ...]:
        """Release the claims of owners that are gone; return their runs.

        From the third run in a row that went with its process the exchanges wait, doubling to an hour.
        """
        gone = tuple(run for run, owner in claims(self._connection) if not self._lives(owner))
        if gone:
            with transaction(self._connection):
                self._connection.executemany(
                    """UPDATE ranges SET state = 'open', reason = 'process gone', lost = lost + 1,
                         retry_at = CASE WHEN lost >= 2 THEN ? + min(?, ? << min(lost - 2, 10))
                                    ELSE retry_at END
                       WHERE run = ? AND state = 'claimed'""",
                    [(to_ms(now), _LONGEST_LOST_MS, _FIRST_LOST_MS, run) for run in gone],
                )
                self._connection.executemany("DELETE FROM claims WHERE run = ?", [(run,) for run in gone])
        return gone

    def open_sessions(self) -> Mapping[tuple[str, str], str]:
        """Agent and session of every exchange that waits, with a mark that changes with it."""
        rows = self._connection.execute(
            """SELECT agent, session, printf('%d %d %d %d %d', count(*), max(at), sum(attempts), sum(lost),
                 max(retry_at)) FROM ranges WHERE state = 'open' GROUP BY agent, session"""
        )
        return {(agent, session): mark for agent, session, mark in rows}

    def reopen(self, run: str) -> int:
        """Open what the run closed, as if never attempted, and forget its session's cursors."""
        with transaction(self._connection):
            self._connection.execute(
                """DELETE FROM cursors WHERE (agent, session) IN
                   (SELECT agent, session FROM ranges WHERE run = ? AND state = 'closed')""",
                (run,),
            )
            return self._connection.execute(
                """UPDATE ranges SET state = 'open', reason = 'retry', attempts = 0, lost = 0, retry_at = NULL
                   WHERE run = ? AND state = 'closed'""",
                (run,),
            ).rowcount

    def project(self, agent: str, session: str, cwd: str) -> Project | None:
        """The project that a (session, cwd) was given when it was first seen."""
        row = self._connection.execute(
            """SELECT slug, identity, directory, is_project FROM projects
               WHERE agent = ? AND session = ? AND cwd = ?""",
            (agent, session, os.fsencode(cwd)),
        ).fetchone()
        if row is None:
            return None
        slug, identity, directory, is_project = row
        return Project(
            slug=slug,
            identity=os.fsdecode(identity),
            directory=os.fsdecode(directory),
            is_project=bool(is_project),
        )

    def note_project(self, agent: str, session: str, cwd: str, project: Project) -> None:
        """Keep it: the directory may be gone tomorrow. The first one stays."""
        self._connection.execute(
            "INSERT OR IGNORE INTO projects VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                agent,
                session,
                os.fsencode(cwd),
                project.slug,
                os.fsencode(project.identity),
                os.fsencode(project.directory),
                project.is_project,
            ),
        )


def claims(connection: sqlite3.Connection) -> list[tuple[str, Owner]]:
    """Every claim's run and owner."""
    rows = connection.execute("SELECT run, pid, started, boot FROM claims ORDER BY run")
    return [(run, Owner(pid=pid, started=at, boot=boot)) for run, pid, at, boot in rows]
