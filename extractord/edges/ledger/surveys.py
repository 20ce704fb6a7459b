"""What the files of a root said when they were last read, so that only changed ones are read again."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping

import msgspec

from extractord.core.survey import Surveyed
from extractord.edges.ledger.connection import border

SCHEMA: tuple[str, ...] = (
    """CREATE TABLE surveys(
        root TEXT NOT NULL, path TEXT NOT NULL, inode INTEGER NOT NULL, law TEXT NOT NULL,
        row BLOB NOT NULL, PRIMARY KEY (root, path)
    ) WITHOUT ROWID""",
)


@border
class Surveys:
    """The port `Surveys` over the ledger's connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def known(self, root: str, law: str) -> Mapping[str, tuple[int, Surveyed]]:
        """Inode and row, by path, of each file of a root that this very law judged."""
        rows = self._connection.execute(
            "SELECT path, inode, row FROM surveys WHERE root = ? AND law = ?", (root, law)
        )
        decode = msgspec.msgpack.Decoder(Surveyed).decode
        return {path: (inode, decode(row)) for path, inode, row in rows}

    def keep(self, root: str, law: str, rows: Iterable[tuple[int, Surveyed]]) -> None:
        """From now on this is what these files say."""
        encode = msgspec.msgpack.Encoder().encode
        self._connection.executemany(
            "INSERT OR REPLACE INTO surveys VALUES (?, ?, ?, ?, ?)",
            [(root, row.path, inode, law, encode(row)) for inode, row in rows],
        )

    def forget(self, root: str, paths: Iterable[str]) -> None:
        """These files are gone."""
        self._connection.executemany(
            "DELETE FROM surveys WHERE root = ? AND path = ?", [(root, path) for path in paths]
        )
