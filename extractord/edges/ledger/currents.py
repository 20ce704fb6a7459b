"""What is known of the current version of each path, kept in mind until somebody changes it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping

from extractord.core.versions import Current
from extractord.policy.requests import Trust

SCHEMA: tuple[str, ...] = (
    """CREATE TABLE trust(
        root TEXT NOT NULL, path TEXT NOT NULL, sha256 TEXT NOT NULL, trust INTEGER NOT NULL,
        is_foreign INTEGER NOT NULL, pinned INTEGER NOT NULL, withheld TEXT NOT NULL,
        PRIMARY KEY (root, path)
    ) WITHOUT ROWID""",
)
_TURN = """INSERT INTO turns VALUES (%s.root, random())
           ON CONFLICT(root) DO UPDATE SET turn = excluded.turn"""
TURNS: tuple[str, ...] = (
    "CREATE TABLE turns(root TEXT PRIMARY KEY, turn INTEGER NOT NULL) WITHOUT ROWID",
    f"CREATE TRIGGER trust_comes AFTER INSERT ON trust BEGIN {_TURN % 'new'}; END",
    f"CREATE TRIGGER trust_goes AFTER DELETE ON trust BEGIN {_TURN % 'old'}; END",
    f"CREATE TRIGGER trust_changes AFTER UPDATE ON trust BEGIN {_TURN % 'old'}; {_TURN % 'new'}; END",
)
"""Another number whenever what is known of a root changes, by whichever process: it is read anew then."""
_TRUSTS = tuple(Trust)


class Currents:
    """Over the ledger's connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._seen: dict[str, Mapping[str, Current]] = {}
        self._turns: dict[str, int] = {}
        """Of each root, when `_seen` and `_touched` were all that is known."""
        self._touched: dict[str, set[str]] = {}
        """Paths that were written here since `_seen`, by root."""

    def of(self, root: str) -> Mapping[str, Current]:
        """The current version of each path of a root."""
        turn, seen, touched = self._turn(root), self._seen.get(root), self._touched.get(root)
        if seen is None or self._turns[root] != turn:
            current = dict(self._select("root = ?", root))
        elif touched:
            current = dict(seen)
            for path in touched:
                current.pop(path, None)
                current.update(self._select("root = ? AND path = ?", root, path))
        else:
            return seen
        if not self._connection.in_transaction:  # else it may yet be rolled back
            self._seen[root], self._turns[root] = current, turn
            self._touched.pop(root, None)
        return current

    def one(self, root: str, path: str) -> Current | None:
        """The current version of one path; None where the ledger knows none."""
        return dict(self._select("root = ? AND path = ?", root, path)).get(path)

    def set(self, root: str, path: str, current: Current | None) -> None:
        """From now on this is the current version of the path; None where there is none."""
        is_all = self._turns.get(root) == self._turn(root)
        if current is None:
            self._connection.execute("DELETE FROM trust WHERE root = ? AND path = ?", (root, path))
        else:
            known = (current.sha256, current.trust, current.foreign, current.pinned, current.withheld)
            self._connection.execute(
                "INSERT OR REPLACE INTO trust VALUES (?, ?, ?, ?, ?, ?, ?)", (root, path, *known)
            )
        if is_all:  # else others changed it too, and all of it is read anew
            self._turns[root] = self._turn(root)
            self._touched.setdefault(root, set()).add(path)

    def _turn(self, root: str) -> int:
        row = self._connection.execute("SELECT turn FROM turns WHERE root = ?", (root,)).fetchone()
        return int(row[0]) if row else 0

    def _select(self, where: str, *values: str) -> Iterator[tuple[str, Current]]:
        rows = self._connection.execute(
            f"SELECT path, sha256, trust, is_foreign, pinned, withheld FROM trust WHERE {where}",  # noqa: S608 - the two conditions above
            values,
        )
        for path, sha256, trust, foreign, pinned, withheld in rows:
            yield (
                path,
                Current(
                    sha256=sha256,
                    trust=_TRUSTS[trust],
                    foreign=foreign == 1,
                    pinned=pinned == 1,
                    withheld=withheld,
                ),
            )
