"""What the files of a root said when they were last read, so that only changed ones are read again."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping

import msgspec

from extractord.core.surveyed import Remembered, Surveyed
from extractord.edges.ledger.connection import border, transaction

SCHEMA: tuple[str, ...] = (
    """CREATE TABLE surveys(
        root TEXT NOT NULL, path TEXT NOT NULL, inode INTEGER NOT NULL, law TEXT NOT NULL,
        judged INTEGER NOT NULL,
        row BLOB NOT NULL, PRIMARY KEY (root, path)
    ) WITHOUT ROWID""",
)


@border
class Surveys:
    """The port `Surveys` over the ledger's connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def known(self, root: str, law: str) -> Mapping[str, Remembered]:
        """What each file of a root said, by path, when it was read under this very law."""
        rows = self._connection.execute(
            "SELECT path, inode, judged, row FROM surveys WHERE root = ? AND law = ?", (root, law)
        )
        decode = msgspec.msgpack.Decoder(Surveyed).decode
        return {
            path: Remembered(row=decode(row), inode=inode, judged=bool(judged))
            for path, inode, judged, row in rows
        }

    def keep(self, root: str, law: str, rows: Iterable[Remembered]) -> None:
        """From now on this is what these files say."""
        encode = msgspec.msgpack.Encoder().encode
        with transaction(self._connection):
            self._connection.executemany(
                "INSERT OR REPLACE INTO surveys VALUES (?, ?, ?, ?, ?, ?)",
                [(root, one.row.path, one.inode, law, one.judged, encode(one.row)) for one in rows],
            )

    def forget(self, root: str, paths: Iterable[str]) -> None:
        """These files are gone."""
        with transaction(self._connection):
            self._connection.executemany(
                "DELETE FROM surveys WHERE root = ? AND path = ?", [(root, path) for path in paths]
            )
