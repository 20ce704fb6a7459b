"""What the files of a root said when they were last read, so that only changed ones are read again."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from extractord.core.surveyed import Remembered, Searchable, Surveyed
from extractord.edges.ledger.connection import border, transaction

SCHEMA: tuple[str, ...] = (
    """CREATE TABLE surveys(
        root TEXT NOT NULL, path TEXT NOT NULL, inode INTEGER NOT NULL, law TEXT NOT NULL,
        judged INTEGER NOT NULL,
        row BLOB NOT NULL, PRIMARY KEY (root, path)
    ) WITHOUT ROWID""",
)
TEXTS: tuple[str, ...] = (
    """CREATE TABLE texts(
        root TEXT NOT NULL, path TEXT NOT NULL, law TEXT NOT NULL, size INTEGER NOT NULL,
        mtime_ns INTEGER NOT NULL, inode INTEGER NOT NULL, sha256 TEXT NOT NULL, judged INTEGER NOT NULL,
        withheld INTEGER NOT NULL, folded TEXT NOT NULL, PRIMARY KEY (root, path)
    ) WITHOUT ROWID""",
    "DELETE FROM surveys",  # they are read again, and now with their texts
)


@border
class Surveys:
    """The port `Surveys` over the ledger's connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def known(self, root: str, law: str) -> Mapping[str, Remembered]:
        """What each file of a root said, by path, when it was read under this very law."""
        return dict(self._known("root = ? AND law = ?", root, law))

    def one(self, root: str, law: str, path: str) -> Remembered | None:
        """The same of one file; None where it was not read under this law."""
        return dict(self._known("root = ? AND law = ? AND path = ?", root, law, path)).get(path)

    def keep(
        self, root: str, law: str, rows: Iterable[Remembered], texts: Iterable[tuple[str, str]] = ()
    ) -> None:
        """From now on this is what these files say; `texts` has, by path, what can be searched of some."""
        encode = msgspec.msgpack.Encoder().encode
        kept = {one.row.path: one for one in rows}
        with transaction(self._connection):
            self._connection.executemany(
                "INSERT OR REPLACE INTO surveys VALUES (?, ?, ?, ?, ?, ?)",
                [(root, path, one.inode, law, one.judged, encode(one.row)) for path, one in kept.items()],
            )
            self._connection.executemany(
                "INSERT OR REPLACE INTO texts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (_text_row(root, law, kept[path], folded) for path, folded in texts),
            )

    def texts(self, root: str, law: str) -> Iterator[Searchable]:
        """What can be searched of the files of a root, and how the ledger has them stand.

        As everywhere: a file that the ledger does not know by these bytes, or knows as foreign, is
        withheld where the law objects to it, and any where the ledger says so.
        """
        rows = self._connection.execute(
            """SELECT path, size, mtime_ns, inode, folded, CASE
                   WHEN trust.sha256 IS texts.sha256 AND trust.withheld <> '' THEN 1
                   WHEN trust.sha256 IS texts.sha256 AND NOT is_foreign THEN 0
                   WHEN judged THEN texts.withheld
               END FROM texts LEFT JOIN trust USING (root, path) WHERE root = ? AND law = ?""",
            (root, law),
        )
        return (Searchable(*row) for row in rows)

    def forget(self, root: str, paths: Iterable[str]) -> None:
        """These files are gone."""
        gone = [(root, path) for path in paths]
        with transaction(self._connection):
            self._connection.executemany("DELETE FROM surveys WHERE root = ? AND path = ?", gone)
            self._connection.executemany("DELETE FROM texts WHERE root = ? AND path = ?", gone)

    def _known(self, where: str, *values: str) -> Iterator[tuple[str, Remembered]]:
        rows = self._connection.execute(
            f"SELECT path, inode, judged, row FROM surveys WHERE {where}",  # noqa: S608 - the two conditions above
            values,
        )
        decode = msgspec.msgpack.Decoder(Surveyed).decode
        for path, inode, judged, row in rows:
            yield path, Remembered(row=decode(row), inode=inode, judged=bool(judged))


def _text_row(root: str, law: str, one: Remembered, folded: str) -> tuple[object, ...]:
    row = one.row
    return (
        root,
        row.path,
        law,
        row.size,
        row.mtime_ns,
        one.inode,
        row.sha256,
        one.judged,
        bool(row.withheld),
        folded,
    )
