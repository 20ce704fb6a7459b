"""What agents opened of the memories, and in how many sessions they could have."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from datetime import datetime

from extractord.core.ports import Opened
from extractord.core.survey import USER_ROOT, place_of
from extractord.edges.ledger.connection import border, from_ms, to_ms

SCHEMA: tuple[str, ...] = (
    """CREATE TABLE uses(
        root TEXT NOT NULL, path TEXT NOT NULL, agent TEXT NOT NULL, session TEXT NOT NULL,
        exchange TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY(root, path, agent, session, exchange)
    ) WITHOUT ROWID""",
    """CREATE TABLE chances(
        slug TEXT NOT NULL, agent TEXT NOT NULL, session TEXT NOT NULL, at INTEGER NOT NULL,
        PRIMARY KEY(slug, agent, session)
    ) WITHOUT ROWID""",
)


@border
class Uses:
    """The port `Uses` over the ledger's connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._noted: dict[tuple[str, str, str], int] = {}

    def note(
        self, slug: str, agent: str, session: str, exchange: str, places: Iterable[str], at: datetime
    ) -> None:
        """An exchange of a project was seen, and these memories, as `root/path`, were opened in it."""
        moment, key = to_ms(at), (slug, agent, session)
        if self._noted.get(key, -1) < moment:
            self._connection.execute(
                """INSERT INTO chances VALUES (?, ?, ?, ?)
                   ON CONFLICT DO UPDATE SET at = max(at, excluded.at)""",
                (*key, moment),
            )
            self._noted[key] = moment
        self._connection.executemany(
            "INSERT OR IGNORE INTO uses VALUES (?, ?, ?, ?, ?, ?)",
            [(*place_of(place), agent, session, exchange, moment) for place in places],
        )

    def opened(self, root: str) -> Mapping[str, Opened]:
        """How often the memories of a root were opened, by path; those that never were are left out."""
        rows = self._connection.execute(
            """SELECT path, count(*), count(DISTINCT agent || char(31) || session), max(at) FROM uses
               WHERE root = ? GROUP BY path""",
            (root,),
        )
        return {
            path: Opened(times=times, sessions=sessions, last_at=from_ms(at))
            for path, times, sessions, at in rows
        }

    def since(self, root: str) -> Mapping[str, datetime]:
        """When the ledger first knew the memories of a root, by path."""
        rows = self._connection.execute(
            "SELECT path, min(at) FROM history WHERE root = ? AND sha256 IS NOT NULL GROUP BY path", (root,)
        )
        return {path: from_ms(at) for path, at in rows}

    def chances(self, root: str) -> tuple[datetime, ...]:
        """When each session that could have opened a root's memories was last seen, oldest first."""
        if root == USER_ROOT:
            rows = self._connection.execute(
                "SELECT max(at) FROM chances GROUP BY agent, session ORDER BY max(at)"
            )
        else:
            slug = root.removeprefix("projects/")
            rows = self._connection.execute("SELECT at FROM chances WHERE slug = ? ORDER BY at", (slug,))
        return tuple(from_ms(at) for (at,) in rows)

    def forget(self, root: str, paths: Iterable[str]) -> None:
        """Nothing is known any more of who opened these."""
        self._connection.executemany(
            "DELETE FROM uses WHERE root = ? AND path = ?", [(root, path) for path in paths]
        )
