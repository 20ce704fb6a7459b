"""The ledger's file: made whole or not at all, brought up to date after a copy, never overwritten."""

from __future__ import annotations

import os
import secrets
import sqlite3
import stat
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import datetime
from pathlib import Path

from extractord.durable import alone, sync_at
from extractord.edges.ledger import (
    audit,
    currents,
    fleet,
    outbox,
    ranges,
    rehoming,
    retention,
    runs,
    surveys,
    uses,
    versions,
)
from extractord.edges.ledger.connection import BUSY_S, place, transaction, translated
from extractord.errors import DamagedLedgerError, LedgerError

Step = tuple[str, ...]

# The schema version is the number of steps done. A released step is never edited: add one.
STEPS: tuple[Step, ...] = (
    (*ranges.SCHEMA, *runs.SCHEMA, *audit.SCHEMA, *versions.SCHEMA),
    (*surveys.SCHEMA, *rehoming.SCHEMA),
    retention.SCHEMA,
    surveys.TEXTS,
    outbox.SCHEMA,
    currents.TURNS,
    fleet.SCHEMA,
    uses.SCHEMA,
    retention.CUTS,
    runs.UNSAID,
)

NAME = "ledger.db"
_OWN = 0o600
_CACHED_KIB = 512
"""So much of the file a connection keeps to itself, not 2 MiB: the system has it anyway."""


def open_file(path: Path, steps: Sequence[Step] = STEPS) -> sqlite3.Connection:
    """Given the ledger's path, return a connection to it, made or brought up to date where needed.

    Raise LedgerError where it is of a newer extractord, DamagedLedgerError where it is unsound.
    """
    with translated(str(path)):
        if not os.path.lexists(path):
            _make(path, steps)
        if stat.S_IMODE(_check_file(path).st_mode) != _OWN:  # a confined process may not, and need not
            path.chmod(_OWN)
        connection = _connect(path)
        try:
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute(f"PRAGMA cache_size = -{_CACHED_KIB}")
            connection.execute("PRAGMA secure_delete = ON")
            if _version(connection, path, steps) < len(steps):
                _bring_up(connection, path, steps)
            connection.execute("PRAGMA journal_mode = WAL")
        except BaseException:
            connection.close()
            raise
    return connection


def open_to_read(path: Path, steps: Sequence[Step] = STEPS) -> sqlite3.Connection:
    """Given the ledger's path, return a connection that changes nothing; without a file, an empty one."""
    if not os.path.lexists(path):
        return blank(steps)
    with translated(str(path)):
        _check_file(path)
        try:
            return _read(path, "?mode=ro", steps)
        except sqlite3.OperationalError as error:
            # On a read-only file system no -shm can be made; without a -wal none is needed.
            unwritable = error.sqlite_errorname.startswith(("SQLITE_CANTOPEN", "SQLITE_READONLY"))
            if not unwritable or path.with_name(f"{path.name}-wal").exists():
                raise
            return _read(path, "?immutable=1", steps)


def check(connection: sqlite3.Connection) -> None:
    """Given a connection, look through the whole file. Raise DamagedLedgerError where it is unsound."""
    where = place(connection)
    with translated(where):
        (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if found != "ok":
        raise DamagedLedgerError(f"{where} is damaged ({found.splitlines()[-1]})")


def set_aside(path: Path, now: datetime) -> Path:
    """Given the path of a damaged ledger, rename it with what belongs to it; return its new path.

    The journal goes first: a new ledger must never be taken for the one that it belongs to.
    """
    aside = path.with_name(f"{path.name}.damaged-{now:%Y%m%dT%H%M%S}-{secrets.token_hex(2)}")
    with translated(str(path)):
        _journals_aside(path, aside.name)
        with suppress(FileNotFoundError):
            path.rename(aside)
        sync_at(path.parent)
    return aside


def _journals_aside(path: Path, name: str) -> None:
    """Rename what belongs to a ledger but itself."""
    for end in ("-shm", "-wal"):
        with suppress(FileNotFoundError):
            path.with_name(path.name + end).rename(path.with_name(name + end))


def blank(steps: Sequence[Step] = STEPS) -> sqlite3.Connection:
    """Return an empty ledger in memory."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    with transaction(connection):
        _take(connection, steps)
    return connection


def _read(path: Path, query: str, steps: Sequence[Step]) -> sqlite3.Connection:
    connection = _connect(path, query)
    try:
        version = _version(connection, path, steps)
    except BaseException:
        connection.close()
        raise
    if version < len(steps):
        connection.close()
        raise LedgerError(
            f"{path} was written by an earlier extractord: start the daemon or `extractord extract` once, "
            "either brings it up to date"
        )
    return connection


def _connect(path: Path, query: str = "?mode=rw") -> sqlite3.Connection:
    return sqlite3.connect(path.absolute().as_uri() + query, uri=True, timeout=BUSY_S, isolation_level=None)


def _check_file(path: Path) -> os.stat_result:
    """What is there. Raise LedgerError where it can be no ledger."""
    found = path.lstat()
    if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
        raise LedgerError(f"{path} is not a file of this user: move it aside and start again")
    if found.st_size == 0:
        raise DamagedLedgerError(
            f"{path} is empty, which no ledger ever is: put a copy of it from a backup in its place, or "
            f"move it aside to start with none"
        )
    return found


def _version(connection: sqlite3.Connection, path: Path, steps: Sequence[Step]) -> int:
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if version == 0:
        raise DamagedLedgerError(f"{path} is a database, but not a ledger: move it aside and start again")
    if version > len(steps):
        raise LedgerError(
            f"{path} was written by a newer extractord (schema {version}, this one knows {len(steps)}): "
            f"install that version again, or set EXTRACTORD_STATE_DIR to another directory"
        )
    return version


def _make(path: Path, steps: Sequence[Step]) -> None:
    """Build the ledger beside its place and link it there: a crash leaves none, a race leaves the first.

    A journal that is there without its ledger would be taken for the new one's: it is moved aside.
    """
    with closing(blank(steps)) as empty, _copied(empty, path) as made, alone(path.parent):
        if not os.path.lexists(path):
            _journals_aside(path, f"{path.name}.lost-{secrets.token_hex(4)}")
            os.link(made, path)
    sync_at(path.parent)


def _bring_up(connection: sqlite3.Connection, path: Path, steps: Sequence[Step]) -> None:
    """Take the steps that are missing, after a copy; whoever comes second finds them taken."""
    with transaction(connection):
        version = _version(connection, path, steps)
        if version == len(steps):
            return
        with closing(_connect(path, "?mode=ro")) as before, _copied(before, path) as made:
            made.replace(path.with_name(f"{path.name}.before-{len(steps)}"))
        sync_at(path.parent)
        _take(connection, steps[version:], version)


def _take(connection: sqlite3.Connection, steps: Sequence[Step], version: int = 0) -> None:
    for step in steps:
        for statement in step:
            connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {version + len(steps)}")


@contextmanager
def _copied(source: sqlite3.Connection, path: Path) -> Iterator[Path]:
    """A durable copy of a ledger beside `path`, to be linked or moved away; gone afterwards."""
    made = path.with_name(f"{path.name}.new-{secrets.token_hex(4)}")
    os.close(os.open(made, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
    try:
        with closing(_connect(made)) as copy:
            source.backup(copy)
        sync_at(made)
        yield made
    finally:
        made.unlink(missing_ok=True)
