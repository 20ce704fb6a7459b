"""What the store keeps about memories: trust, history, intents, tombstones, what is held."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterable, Mapping
from datetime import datetime

import msgspec

from extractord.core.digesting import digest
from extractord.core.versions import Current, Held, Intent, Placed, Proof, Tombstone, Version
from extractord.edges.ledger import currents, holding
from extractord.edges.ledger.connection import border, from_ms, to_ms, transaction
from extractord.policy.requests import Trust

SCHEMA: tuple[str, ...] = (
    *currents.SCHEMA,
    """CREATE TABLE proofs(
        root TEXT NOT NULL, path TEXT NOT NULL, key TEXT NOT NULL, said_at INTEGER,
        PRIMARY KEY (root, path, key)
    ) WITHOUT ROWID""",
    "CREATE TABLE contents(sha256 TEXT PRIMARY KEY, packed BLOB NOT NULL)",
    """CREATE TABLE history(
        id INTEGER PRIMARY KEY AUTOINCREMENT, root TEXT NOT NULL, path TEXT NOT NULL, sha256 TEXT,
        at INTEGER NOT NULL, made_by TEXT NOT NULL, trust INTEGER
    )""",
    "CREATE INDEX history_by_path ON history(root, path)",
    "CREATE INDEX history_by_maker ON history(made_by)",
    "CREATE INDEX history_by_content ON history(sha256)",
    """CREATE TABLE intents(
        id INTEGER PRIMARY KEY AUTOINCREMENT, run TEXT NOT NULL, at INTEGER NOT NULL,
        placed TEXT NOT NULL
    )""",
    """CREATE TABLE tombstones(
        id TEXT PRIMARY KEY, key TEXT NOT NULL, stone TEXT NOT NULL
    ) WITHOUT ROWID""",
    "CREATE INDEX tombstones_by_key ON tombstones(key)",
    *holding.SCHEMA,
)


@border
class Versions:
    """The port `Versions` over the ledger's connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._currents = currents.Currents(connection)

    def current(self, root: str) -> Mapping[str, Current]:
        """The current version of each path of a root."""
        return self._currents.of(root)

    def current_of(self, root: str, path: str) -> Current | None:
        """The current version of one path; None where the ledger knows none."""
        return self._currents.one(root, path)

    def set_current(self, root: str, path: str, current: Current | None) -> None:
        """From now on this is the current version of the path; None where there is none."""
        self._currents.set(root, path, current)

    def keep(self, raw: bytes) -> str:
        """Keep bytes under their SHA-256, compressed; return it."""
        sha256 = digest(raw)
        self._connection.execute(
            "INSERT OR IGNORE INTO contents VALUES (?, ?)", (sha256, zlib.compress(raw, 6))
        )
        return sha256

    def content(self, sha256: str) -> bytes | None:
        """The bytes that were kept; None where they never were, or were purged."""
        row = self._connection.execute("SELECT packed FROM contents WHERE sha256 = ?", (sha256,)).fetchone()
        return zlib.decompress(row[0]) if row else None

    def note(
        self, root: str, path: str, sha256: str | None, by: str, trust: Trust | None, at: datetime
    ) -> None:
        """A row of the history: a new version, or its end."""
        self._connection.execute(
            "INSERT INTO history(root, path, sha256, at, made_by, trust) VALUES (?, ?, ?, ?, ?, ?)",
            (root, path, sha256, to_ms(at), by, trust),
        )

    def history(self, root: str, path: str) -> tuple[Version, ...]:
        """Every version of a path, oldest first."""
        return self._versions("root = ? AND path = ?", root, path)

    def is_cut(self, root: str, path: str) -> bool:
        """True if a file stood at the path before the first version that is still known of it."""
        row = self._connection.execute(
            "SELECT stood FROM history_cuts WHERE root = ? AND path = ?", (root, path)
        ).fetchone()
        return row is not None and row[0] == 1

    def made_by(self, by: str) -> tuple[Version, ...]:
        """Every version that a run made, oldest first."""
        return self._versions("made_by = ?", by)

    def paths(self, root: str) -> tuple[str, ...]:
        """Every path of a root that has a history, sorted."""
        rows = self._connection.execute(
            "SELECT DISTINCT path FROM history WHERE root = ? ORDER BY path", (root,)
        )
        return tuple(path for (path,) in rows)

    def purge(self, root: str, path: str) -> tuple[str, ...]:
        """Erase the history of a path, of those that it was renamed from too; return the paths.

        What no other path or intent needs of their bytes goes, and what was held of them and is decided
        keeps neither text nor quotes.
        """
        with transaction(self._connection):
            versions = self._with_earlier_paths(root, path)
            self._connection.executemany(
                "DELETE FROM history WHERE id = ?", [(version.id,) for version in versions]
            )
            self._drop({version.sha256 for version in versions})
            paths = tuple(dict.fromkeys([path, *(version.path for version in versions)]))
            self._connection.executemany(
                """DELETE FROM history_cuts WHERE root = ?1 AND path = ?2
                   AND NOT EXISTS (SELECT 1 FROM history WHERE root = ?1 AND path = ?2)""",
                [(root, each) for each in paths],
            )
            holding.blank(self._connection, root, paths)
        return paths

    def _with_earlier_paths(self, root: str, path: str) -> list[Version]:
        """The versions of a path, and of each path that the file was renamed from, up to then.

        A rename by hand is two rows in a row: the end of the old path, and the same bytes at the new.
        """
        found, begun = list(self.history(root, path)), 0
        while begun < len(found):
            new, begun = found[begun], begun + 1
            end = self._versions("root = ? AND id = ? AND sha256 IS NULL", root, new.id - 1)
            if new.sha256 is None or not end or (end[0].by, end[0].at) != (new.by, new.at):
                continue
            before = [one for one in self.history(root, end[0].path) if one.id <= end[0].id]
            if [one.sha256 for one in before[-2:]] == [new.sha256, None]:
                found += [one for one in before if one not in found]
        return found

    def prove(self, root: str, path: str, proofs: Iterable[Proof]) -> None:
        """A memory rests on these entries too; they are known of a path when its file is gone."""
        self._connection.executemany(
            "INSERT OR REPLACE INTO proofs VALUES (?, ?, ?, ?)",
            [(root, path, proof.key, proof.said_at and to_ms(proof.said_at)) for proof in proofs],
        )

    def proofs(self, root: str, path: str) -> tuple[Proof, ...]:
        """The entries that a memory rests on."""
        rows = self._connection.execute(
            "SELECT key, said_at FROM proofs WHERE root = ? AND path = ? ORDER BY key", (root, path)
        )
        return tuple(Proof(key=key, said_at=None if at is None else from_ms(at)) for key, at in rows)

    def begin(self, run: str, placed: Iterable[Placed], at: datetime) -> int:
        """An intent to change files; return its id."""
        row = self._connection.execute(
            "INSERT INTO intents(run, at, placed) VALUES (?, ?, ?) RETURNING id",
            (run, to_ms(at), msgspec.json.encode(list(placed)).decode()),
        ).fetchone()
        return int(row[0])

    def open_intents(self) -> tuple[Intent, ...]:
        """Intents that were neither done nor undone, newest first: what a crash left."""
        rows = self._connection.execute("SELECT id, run, placed FROM intents ORDER BY id DESC")
        return tuple(
            Intent(id=number, run=run, placed=msgspec.json.decode(placed, type=tuple[Placed, ...]))
            for number, run, placed in rows
        )

    def end(self, intent: int) -> None:
        """The intent is done or undone: it goes, and with it the bytes that only it needed."""
        row = self._connection.execute(
            "DELETE FROM intents WHERE id = ? RETURNING placed", (intent,)
        ).fetchone()
        placed = msgspec.json.decode(row[0], type=tuple[Placed, ...])
        self._drop({sha for file in placed for sha in (file.before, file.after)})

    def bury(self, stones: Iterable[Tombstone]) -> None:
        """Keep tombstones; those that are known stay as they are."""
        rows = [(stone.key, msgspec.json.encode(stone)) for stone in stones]
        self._connection.executemany(
            "INSERT OR IGNORE INTO tombstones VALUES (?, ?, ?)",
            [(digest(raw), key, raw.decode()) for key, raw in rows],
        )

    def tombstones(self, keys: Iterable[str] | None = None) -> tuple[Tombstone, ...]:
        """The tombstones with one of these evidence keys; all of them without."""
        if keys is None:
            rows = self._connection.execute("SELECT stone FROM tombstones").fetchall()
        else:
            wanted = list(dict.fromkeys(keys))
            marks = ",".join("?" * len(wanted))
            rows = self._connection.execute(
                f"SELECT stone FROM tombstones WHERE key IN ({marks})",  # noqa: S608 - question marks only
                wanted,
            ).fetchall()
        stones = (msgspec.json.decode(stone, type=Tombstone) for (stone,) in rows)
        return tuple(sorted(stones, key=lambda stone: (stone.made_at, stone.root, stone.name, stone.key)))

    def hold(self, held: Held) -> bool:
        """Keep what waits for a person; False where the same waits, or was decided on words no older."""
        return holding.hold(self._connection, held)

    def held(self, state: str = "waiting") -> tuple[Held, ...]:
        """What is held in a state, oldest first."""
        return holding.held(self._connection, state)

    def settle(self, held: int, state: str) -> bool:
        """What was held is `accepted`, `rejected` or `stale`; False where that was decided before."""
        return holding.settle(self._connection, held, state)

    def _drop(self, shas: Iterable[str | None]) -> None:
        needed = {
            sha
            for intent in self.open_intents()
            for file in intent.placed
            for sha in (file.before, file.after)
        }
        self._connection.executemany(
            "DELETE FROM contents WHERE sha256 = ?1 AND NOT EXISTS (SELECT 1 FROM history WHERE sha256 = ?1)",
            [(sha,) for sha in shas if sha not in needed],
        )

    def _versions(self, where: str, *values: str | int) -> tuple[Version, ...]:
        rows = self._connection.execute(
            f"SELECT id, root, path, sha256, at, made_by, trust FROM history WHERE {where} ORDER BY id",  # noqa: S608 - the conditions above
            values,
        )
        return tuple(
            Version(
                id=number,
                root=root,
                path=path,
                sha256=sha256,
                at=from_ms(at),
                by=by,
                trust=None if trust is None else Trust(trust),
            )
            for number, root, path, sha256, at, by, trust in rows
        )
