"""A root that gets another name: everything that the ledger knows of it follows."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Mapping

import msgspec

from extractord.core.ports import Home
from extractord.core.records import Project
from extractord.core.versions import HeldChange
from extractord.edges.ledger import holding
from extractord.edges.ledger.connection import border
from extractord.edges.ledger.versions import Versions

SCHEMA: tuple[str, ...] = (
    "CREATE TABLE moves(old TEXT PRIMARY KEY, new TEXT NOT NULL, project TEXT NOT NULL) WITHOUT ROWID",
)

_NAMED = ("history", "history_cuts", "proofs", "uses")
_READ = ("surveys", "texts")


@border
class Rehoming:
    """The port `Rehoming` over the ledger's connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def homes(self) -> tuple[Home, ...]:
        """Every project that a session was found in, by its folder."""
        rows = self._connection.execute(
            """SELECT slug, min(identity), min(directory), count(DISTINCT agent || char(31) || session)
               FROM projects WHERE is_project GROUP BY slug ORDER BY slug"""
        )
        return tuple(
            Home(
                slug=slug, identity=os.fsdecode(identity), directory=os.fsdecode(directory), sessions=sessions
            )
            for slug, identity, directory, sessions in rows
        )

    def begin_move(self, old: str, new: str, project: Project) -> None:
        """An intent to give the root `old` the name `new`, since it belongs to that project."""
        self._connection.execute(
            "INSERT OR REPLACE INTO moves VALUES (?, ?, ?)",
            (old, new, msgspec.json.encode(project).decode()),
        )

    def open_moves(self) -> tuple[tuple[str, str, Project], ...]:
        """Moves that were neither done nor undone: what a crash left."""
        rows = self._connection.execute("SELECT old, new, project FROM moves ORDER BY old")
        return tuple((old, new, msgspec.json.decode(project, type=Project)) for old, new, project in rows)

    def end_move(self, old: str) -> None:
        """The move did not come about."""
        self._connection.execute("DELETE FROM moves WHERE old = ?", (old,))

    def move(self, old: str, new: str, project: Project) -> None:
        """The root has its new name: so has all that is known of it, and its sessions belong there."""
        for table in ("trust", *_NAMED, *_READ):
            self._connection.execute(
                f"UPDATE OR REPLACE {table} SET root = ? WHERE root = ?",  # noqa: S608 - the tables above
                (new, old),
            )
        self._follow(old, new, project, {})
        self.end_move(old)

    def merge(self, old: str, new: str, project: Project, names: Mapping[str, str]) -> None:
        """The memories of the root `old` are in `new`, each path under its new name: so is their history."""
        for path, name in names.items():
            for table in _NAMED:
                self._connection.execute(
                    f"UPDATE OR REPLACE {table} SET root = ?, path = ? WHERE root = ? AND path = ?",  # noqa: S608 - the tables above
                    (new, name, old, path),
                )
        for table in _READ:
            self._connection.execute(f"DELETE FROM {table} WHERE root = ?", (old,))  # noqa: S608 - these two
        self._follow(old, new, project, names)

    def _follow(self, old: str, new: str, project: Project, names: Mapping[str, str]) -> None:
        """What is known of the root besides: tombstones, what is held, and the sessions of its project."""
        versions = Versions(self._connection)
        versions.bury(
            msgspec.structs.replace(stone, root=new)
            for stone in versions.tombstones([""])  # only those count by name in their own root
            if stone.root == old
        )

        def renamed(change: HeldChange) -> HeldChange:
            if change.root != old:
                return change
            return msgspec.structs.replace(change, root=new, path=names.get(change.path, change.path))

        holding.rename(self._connection, renamed)
        self._connection.execute(
            "UPDATE OR REPLACE chances SET slug = ? WHERE slug = ?",
            (project.slug, old.removeprefix("projects/")),
        )
        self._connection.execute(
            "UPDATE projects SET slug = ?, identity = ?, directory = ? WHERE slug = ?",
            (
                project.slug,
                os.fsencode(project.identity),
                os.fsencode(project.directory),
                old.removeprefix("projects/"),
            ),
        )
