"""What a fleet's machines keep: windows under way, windows to be run, and what the broker was given."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from msgspec import Struct

from extractord.edges.ledger.connection import border, to_ms, transaction

SCHEMA: tuple[str, ...] = (
    """CREATE TABLE sent(
        id TEXT PRIMARY KEY, topic TEXT NOT NULL, payload BLOB NOT NULL, again_at INTEGER NOT NULL,
        tries INTEGER NOT NULL DEFAULT 0, refused TEXT NOT NULL DEFAULT ''
    ) WITHOUT ROWID""",
    "CREATE TABLE tips(slug TEXT PRIMARY KEY, id TEXT NOT NULL) WITHOUT ROWID",
    """CREATE TABLE inbox(
        seq INTEGER PRIMARY KEY AUTOINCREMENT, person TEXT NOT NULL, id TEXT NOT NULL, slug TEXT NOT NULL,
        forwarder TEXT NOT NULL, previous TEXT NOT NULL, payload BLOB, came_at INTEGER NOT NULL,
        retry_at INTEGER NOT NULL DEFAULT 0, outcome TEXT NOT NULL DEFAULT '', UNIQUE(person, id)
    )""",
    "CREATE INDEX inbox_waiting ON inbox(seq) WHERE payload IS NOT NULL",
    "CREATE INDEX inbox_of ON inbox(person, slug, forwarder, seq)",
    """CREATE TABLE published(
        topic TEXT PRIMARY KEY, sha256 TEXT, generation INTEGER NOT NULL
    ) WITHOUT ROWID""",
)

_LONGEST_AGAIN = timedelta(hours=6)
_KEPT = timedelta(days=30)
"""So long it is remembered that a window was run."""


class Arrived(Struct, frozen=True, kw_only=True):
    """A window as it came."""

    person: str
    id: str
    slug: str
    forwarder: str
    previous: str
    payload: bytes


class Sent(Struct, frozen=True):
    """A window that no extractor has confirmed."""

    id: str
    topic: str
    payload: bytes


@border
class Windows:
    """Of a forwarder: what it sent, until an extractor has it; over the ledger's connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def tip(self, slug: str) -> str:
        """The newest window of a project; empty where there was none."""
        row = self._connection.execute("SELECT id FROM tips WHERE slug = ?", (slug,)).fetchone()
        return row[0] if row else ""

    def sent(self, slug: str, sent: Sent, again_at: datetime) -> None:
        """The broker has it."""
        with transaction(self._connection):
            self._connection.execute(
                "INSERT OR IGNORE INTO sent(id, topic, payload, again_at) VALUES (?, ?, ?, ?)",
                (sent.id, sent.topic, sent.payload, to_ms(again_at)),
            )
            self._connection.execute("INSERT OR REPLACE INTO tips VALUES (?, ?)", (slug, sent.id))

    def received(self, ids: Iterable[str]) -> None:
        """An extractor has them."""
        with transaction(self._connection):
            self._connection.executemany("DELETE FROM sent WHERE id = ?", [(each,) for each in ids])

    def refused(self, reasons: Mapping[str, str]) -> tuple[str, ...]:
        """No extractor will take them; return which of them are ours."""
        with transaction(self._connection):
            return tuple(
                each
                for each, reason in reasons.items()
                if self._connection.execute(
                    "UPDATE sent SET refused = ? WHERE id = ? AND refused = ''", (reason, each)
                ).rowcount
            )

    def due(self, now: datetime, limit: int) -> tuple[Sent, ...]:
        """What was confirmed by nobody for long enough."""
        rows = self._connection.execute(
            """SELECT id, topic, payload FROM sent WHERE again_at <= ? AND refused = ''
               ORDER BY again_at LIMIT ?""",
            (to_ms(now), limit),
        )
        return tuple(Sent(number, topic, bytes(payload)) for number, topic, payload in rows)

    def sent_again(self, ids: Iterable[str], now: datetime, first_s: float) -> None:
        """The next time is twice as far, at most six hours."""
        longest = int(_LONGEST_AGAIN.total_seconds() * 1000)
        with transaction(self._connection):
            self._connection.executemany(
                """UPDATE sent SET tries = tries + 1,
                   again_at = ? + min(?, ? << min(tries + 1, 16)) WHERE id = ?""",
                [(to_ms(now), longest, max(int(first_s * 1000), 1), each) for each in ids],
            )

    def under_way(self) -> tuple[int, int]:
        """How many are confirmed by nobody, and how many were refused."""
        row = self._connection.execute(
            "SELECT count(*) FILTER (WHERE refused = ''), count(*) FILTER (WHERE refused <> '') FROM sent"
        ).fetchone()
        return int(row[0]), int(row[1])


@border
class Inbox:
    """Of an extractor: windows that it answers for; over the ledger's connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def put(self, arrived: Iterable[Arrived], now: datetime) -> None:
        """Keep windows until they were run; one that came before is not kept again."""
        with transaction(self._connection):
            self._connection.executemany(
                """INSERT OR IGNORE INTO inbox(person, id, slug, forwarder, previous, payload, came_at)
                   VALUES (?, ?, ?, ?, ?, ?, ?)""",
                [
                    (one.person, one.id, one.slug, one.forwarder, one.previous, one.payload, to_ms(now))
                    for one in arrived
                ],
            )

    def ready(self, now: datetime, limit: int, gap_wait: timedelta) -> tuple[Arrived, ...]:
        """The oldest window of each project whose time has come and whose predecessor was run.

        The oldest project's first. One whose predecessor did not come runs all the same after `gap_wait`.
        """
        rows = self._connection.execute(
            """SELECT person, id, slug, forwarder, previous, payload FROM inbox WHERE seq IN
                 (SELECT min(seq) FROM inbox AS one
                  WHERE payload IS NOT NULL AND retry_at <= :now AND
                    (previous = '' OR came_at < :gap OR EXISTS
                     (SELECT 1 FROM inbox
                      WHERE person = one.person AND id = one.previous AND payload IS NULL))
                  GROUP BY person, slug ORDER BY min(seq) LIMIT :limit)
               ORDER BY seq""",
            {"now": to_ms(now), "gap": to_ms(now - gap_wait), "limit": limit},
        )
        return tuple(
            Arrived(
                person=person,
                id=number,
                slug=slug,
                forwarder=forwarder,
                previous=previous,
                payload=bytes(payload),
            )
            for person, number, slug, forwarder, previous, payload in rows
        )

    def done(self, one: Arrived, outcome: str) -> None:
        """It was run."""
        self._connection.execute(
            "UPDATE inbox SET payload = NULL, outcome = ? WHERE person = ? AND id = ?",
            (outcome, one.person, one.id),
        )

    def later(self, one: Arrived, retry_at: datetime) -> None:
        """It is to be tried again."""
        self._connection.execute(
            "UPDATE inbox SET retry_at = ? WHERE person = ? AND id = ?",
            (to_ms(retry_at), one.person, one.id),
        )

    def waiting(self) -> int:
        """How many are to be run."""
        return int(
            self._connection.execute("SELECT count(*) FROM inbox WHERE payload IS NOT NULL").fetchone()[0]
        )

    def forget(self, now: datetime) -> None:
        """Windows that were run long ago, but for the newest of each project and forwarder."""
        self._connection.execute(
            """DELETE FROM inbox AS one WHERE payload IS NULL AND came_at < ? AND EXISTS
               (SELECT 1 FROM inbox WHERE person = one.person AND slug = one.slug
                AND forwarder = one.forwarder AND seq > one.seq)""",
            (to_ms(now - _KEPT),),
        )


@border
class Published:
    """Of an extractor: what the broker was given to retain; over the ledger's connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def below(self, prefix: str) -> Mapping[str, str | None]:
        """What is retained on the topics that begin so; None where it was taken back."""
        rows = self._connection.execute(
            "SELECT topic, sha256 FROM published WHERE topic >= ? AND topic < ?",
            (prefix, prefix + "\U0010ffff"),
        )
        return dict(rows.fetchall())

    def note(self, retained: Mapping[str, str | None]) -> int:
        """The broker has these, or none there; return the generation that it was."""
        number = self.generation() + 1
        with transaction(self._connection):
            self._connection.executemany(
                "INSERT OR REPLACE INTO published VALUES (?, ?, ?)",
                [(topic, sha256, number) for topic, sha256 in retained.items()],
            )
        return number

    def generation(self) -> int:
        """The newest one."""
        found = self._connection.execute("SELECT coalesce(max(generation), 0) FROM published").fetchone()
        return int(found[0])

    def lost(self, since: int) -> int:
        """The broker knows nothing newer than this generation: return how many are to be said again."""
        return self._connection.execute(
            "UPDATE published SET sha256 = 'lost' WHERE generation > ?", (since,)
        ).rowcount
