"""Events that wait for the broker: bounded, oldest first; what had no room is counted."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from datetime import datetime

from msgspec import Struct

from extractord.edges.ledger.connection import border, to_ms, transaction

SCHEMA: tuple[str, ...] = (
    """CREATE TABLE outbox(
        id INTEGER PRIMARY KEY AUTOINCREMENT, topic TEXT NOT NULL, payload BLOB NOT NULL, at INTEGER NOT NULL
    )""",
    "CREATE TABLE outbox_dropped(count INTEGER NOT NULL)",
    "INSERT INTO outbox_dropped VALUES (0)",
)


class Waiting(Struct, frozen=True):
    """An event that was not said yet."""

    id: int
    topic: str
    payload: bytes


@border
class Outbox:
    """Over the ledger's connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def put(self, topic: str, payload: bytes, now: datetime, bound: int) -> None:
        """Keep an event until it is said; where there are more than `bound`, the oldest go, counted."""
        with transaction(self._connection):
            self._connection.execute(
                "INSERT INTO outbox(topic, payload, at) VALUES (?, ?, ?)", (topic, payload, to_ms(now))
            )
            over = self.waiting() - bound
            if over > 0:
                self._connection.execute(
                    "DELETE FROM outbox WHERE id IN (SELECT id FROM outbox ORDER BY id LIMIT ?)", (over,)
                )
                self._connection.execute("UPDATE outbox_dropped SET count = count + ?", (over,))

    def oldest(self, limit: int) -> tuple[Waiting, ...]:
        """The events that waited longest, in order."""
        rows = self._connection.execute("SELECT id, topic, payload FROM outbox ORDER BY id LIMIT ?", (limit,))
        return tuple(Waiting(number, topic, bytes(payload)) for number, topic, payload in rows)

    def said(self, ids: Iterable[int]) -> None:
        """The broker has them."""
        with transaction(self._connection):
            self._connection.executemany("DELETE FROM outbox WHERE id = ?", [(number,) for number in ids])

    def waiting(self) -> int:
        """How many wait."""
        return int(self._connection.execute("SELECT count(*) FROM outbox").fetchone()[0])

    def dropped(self) -> int:
        """How many were never said, ever."""
        return int(self._connection.execute("SELECT count FROM outbox_dropped").fetchone()[0])
