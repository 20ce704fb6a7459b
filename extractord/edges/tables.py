"""Reads other programs' SQLite databases without creating or changing a file of theirs."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TypeVar

import msgspec

from extractord.core.transcripts.source import Rows
from extractord.errors import TranscriptError

_ATTEMPTS = 3
_BUSY_S = 5.0

T = TypeVar("T")
_Mark = tuple[int, int, int, int] | None


class Tables:
    """A database of another program; each question opens it, asks and closes it.

    Without a `-wal` beside it, it is read as immutable and its stat compared before and after;
    with `-wal` and `-shm`, read-only through the shared memory; with a `-wal` alone, or the
    journal of a writer that died, through a copy in `copy_dir`, deleted afterwards. Every method
    raises TranscriptError with the file's name where it cannot be read.
    """

    def __init__(self, path: str, rows: Rows, copy_dir: str) -> None:
        """Resolve links: the files beside a database are beside what a link points to."""
        self._path = _target(path)
        self._rows = rows
        self._copy_dir = Path(copy_dir)

    def touched(self, since_ms: int) -> tuple[tuple[str, int], ...]:
        """Sessions updated at or after `since_ms`, each with its newest update in ms, oldest first."""
        found = self._ask(self._rows.touched, {"since": since_ms, "folder": self._path.parent.name})
        return tuple((str(row[0]), row[1]) for row in map(tuple, found) if isinstance(row[1], int))

    def records(self, session: str) -> tuple[bytes, ...]:
        """The rows of a session in order, each as a JSON object of its columns."""
        values = {"session": session, "folder": self._path.parent.name}
        found = self._ask(self._rows.records, values)
        return tuple(msgspec.json.encode(dict(zip(row.keys(), row, strict=True))) for row in found)

    def _ask(self, statement: str, values: Mapping[str, object]) -> list[sqlite3.Row]:
        def answer(connection: sqlite3.Connection) -> list[sqlite3.Row]:
            return connection.execute(statement, dict(values)).fetchall()

        try:
            return self._read(answer)
        except OSError as error:
            raise TranscriptError(f"{self._path} cannot be read: {error.strerror}") from error
        except sqlite3.Error as error:
            raise TranscriptError(f"{self._path} {_sentence(error)}") from error

    def _read(self, answer: Callable[[sqlite3.Connection], T]) -> T:
        for _ in range(_ATTEMPTS):
            if found := self._attempt(answer):
                return found[0]
        raise TranscriptError(f"{self._path} changed each time that it was read; it is tried again later")

    def _attempt(self, answer: Callable[[sqlite3.Connection], T]) -> list[T]:
        """One reading, empty where the files changed under it."""
        before = _mark(self._path)
        if before is None:
            raise TranscriptError(f"{self._path} is gone")
        if not self._path.is_file():
            raise TranscriptError(f"{self._path} is not a file")
        wal, shm, journal = map(_mark, self._beside("-wal", "-shm", "-journal"))
        if wal is not None and shm is not None:
            found, fault = _tried(self._path, "mode=ro&readonly_shm=1", answer)
            at_rest = None not in map(_mark, self._beside("-wal", "-shm"))
        elif wal is not None or journal is not None:
            return self._from_copy(answer)
        else:
            found, fault = _tried(self._path, "mode=ro&immutable=1", answer)
            at_rest = _mark(self._path) == before and not any(map(_mark, self._beside("-wal", "-journal")))
            found = found if at_rest else []
        if fault is not None and at_rest:
            raise fault
        return found

    def _beside(self, *endings: str) -> list[Path]:
        return [self._path.with_name(self._path.name + ending) for ending in endings]

    def _from_copy(self, answer: Callable[[sqlite3.Connection], T]) -> list[T]:
        """A reading of copies of the database and what a writer left beside it."""
        self._copy_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        originals = [self._path, *self._beside("-wal", "-journal")]
        with tempfile.TemporaryDirectory(dir=self._copy_dir, prefix="tables-") as folder:
            before = [_mark(original) for original in originals]
            for original, mark in zip(originals, before, strict=True):
                if mark is not None:
                    shutil.copyfile(original, Path(folder, original.name))
            if before != [_mark(original) for original in originals]:
                return []
            with _opened(Path(folder, self._path.name), "mode=rw") as connection:
                return [answer(connection)]


def _target(path: str) -> Path:
    try:
        return Path(path).resolve()
    except RuntimeError:  # links that lead in a circle: opening says so
        return Path(path)


def _tried(
    path: Path, how: str, answer: Callable[[sqlite3.Connection], T]
) -> tuple[list[T], sqlite3.Error | None]:
    """What a reading gives, or its fault: a file that changes meanwhile can look damaged."""
    try:
        with _opened(path, how) as connection:
            return [answer(connection)], None
    except sqlite3.Error as error:
        return [], error


@contextmanager
def _opened(path: Path, how: str) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(f"{path.as_uri()}?{how}", uri=True, timeout=_BUSY_S)) as connection:
        connection.row_factory = sqlite3.Row
        connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
        connection.execute("PRAGMA query_only = ON")
        connection.execute("PRAGMA trusted_schema = OFF")
        if _names_functions(connection):
            connection.execute("PRAGMA trusted_schema = ON")  # without extensions none of them does anything
        yield connection


def _names_functions(connection: sqlite3.Connection) -> bool:
    """True if the schema uses functions that it must not while it is not trusted: JSON's, in an index."""
    try:
        connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
    except sqlite3.Error as error:
        return "unsafe use of" in str(error)
    return False


def _mark(path: Path) -> _Mark:
    """What changes when a file does: inode, size, and times in ns; an empty journal is none."""
    try:
        stat = path.stat()
    except FileNotFoundError:
        return None
    if path.name.endswith("-journal") and stat.st_size == 0:
        return None
    return stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns


def _sentence(error: sqlite3.Error) -> str:
    """Given SQLite's error, say what is wrong with the file."""
    said = str(error)
    if "not a database" in said:
        return "is not a SQLite database"
    if "malformed" in said or "disk I/O" in said:
        return f"is damaged or cut short: {said}"
    if "no such table" in said or "no such column" in said:
        return f"does not have this agent's tables: {said}"
    return f"cannot be read: {said}"
