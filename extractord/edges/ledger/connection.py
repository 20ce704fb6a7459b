"""How the ledger's rooms speak to SQLite: transactions, times, and faults in words."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import wraps
from types import FunctionType
from typing import ParamSpec, TypeVar

from extractord.errors import DamagedLedgerError, LedgerError

T = TypeVar("T")
P = ParamSpec("P")

BUSY_S = 5.0
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MS = timedelta(milliseconds=1)


def to_ms(moment: datetime) -> int:
    """Given an aware moment, return whole milliseconds since 1970, UTC."""
    return (moment - _EPOCH) // _MS


def from_ms(ms: int) -> datetime:
    """Given milliseconds since 1970, return the aware moment, UTC."""
    return _EPOCH + ms * _MS


@contextmanager
def translated(place: str) -> Iterator[None]:
    """Put SQLite's faults in words; a constraint or a statement that fails is our own fault and passes."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise LedgerError(
            f"{place}: {error}; nothing was changed. See that the disk has room and can be written, "
            f"and that no other program holds the file"
        ) from error
    except sqlite3.DatabaseError as error:
        if type(error) is not sqlite3.DatabaseError:
            raise
        raise DamagedLedgerError(
            f"{place} is damaged ({error}) and was left as it is: put a copy of it from a backup in its "
            f"place, or start `extractord run`, which sets it aside and begins a new one; the memories "
            f"themselves are not in it"
        ) from error


def place(connection: sqlite3.Connection) -> str:
    """The file behind a connection."""
    (_, _, path) = connection.execute("PRAGMA database_list").fetchone()
    return path or "the ledger"


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All or nothing, durable at its end; one inside another joins it. Never await inside.

    Raise LedgerError where another process holds the ledger for `BUSY_S`.
    """
    if connection.in_transaction:
        yield
        return
    with translated(place(connection)):
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            connection.commit()
        finally:
            connection.rollback()  # does nothing once it is committed


@contextmanager
def durable(connection: sqlite3.Connection) -> Iterator[None]:
    """The same, on the disk at its end even where the connection does not wait for that; never inside one."""
    (level,) = connection.execute("PRAGMA synchronous").fetchone()
    connection.execute("PRAGMA synchronous = FULL")
    try:
        with transaction(connection):
            yield
    finally:
        connection.execute(f"PRAGMA synchronous = {level}")


def border(room: type[T]) -> type[T]:
    """Given a class over `_connection`, return it with the faults of its public methods translated."""
    for name, method in vars(room).copy().items():
        if isinstance(method, FunctionType) and not name.startswith("_"):
            setattr(room, name, _translating(method))
    return room


def _translating(method: Callable[P, T]) -> Callable[P, T]:
    @wraps(method)
    def asked(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return method(*args, **kwargs)
        except sqlite3.DatabaseError:
            connection: sqlite3.Connection = args[0]._connection  # type: ignore[attr-defined]  # noqa: SLF001
            with translated(place(connection)):
                raise

    return asked
