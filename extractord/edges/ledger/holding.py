"""What waits for a person, and what they decided: a row for each fact, by its evidence and name."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Container, Iterable
from datetime import datetime

import msgspec

from extractord.core.versions import Held, HeldChange, held_key
from extractord.edges.ledger.connection import from_ms, to_ms

SCHEMA: tuple[str, ...] = (
    """CREATE TABLE held(
        id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE, run TEXT NOT NULL,
        at INTEGER NOT NULL, changes TEXT NOT NULL, state TEXT NOT NULL
    )""",
)


def hold(connection: sqlite3.Connection, new: Held) -> bool:
    """Keep what waits for a person; False where the same waits, or was decided on words no older.

    Where the same waits over other bytes than stand there now, it could only be rejected: the new
    takes its place.
    """
    for waiting in held(connection, "waiting"):
        if waiting.key == new.key and _bases(waiting.changes) != _bases(new.changes):
            settle(connection, waiting.id, "stale")
    # Only what waits has the bare key, which is unique.
    connection.execute(
        "UPDATE held SET key = key || ':' || id WHERE key = ? AND state <> 'waiting'", (new.key,)
    )
    decided = connection.execute(
        "SELECT changes FROM held WHERE key LIKE ? AND state <> 'stale'", (f"{new.key}:%",)
    )
    if not all(_is_said_after(new.changes, _decoded(changes)) for (changes,) in decided):
        return False
    cursor = connection.execute(
        "INSERT OR IGNORE INTO held(key, run, at, changes, state) VALUES (?, ?, ?, ?, ?)",
        (new.key, new.run, to_ms(new.at), _encoded(new.changes), new.state),
    )
    return cursor.rowcount == 1


def held(connection: sqlite3.Connection, state: str) -> tuple[Held, ...]:
    """What is held in a state, oldest first."""
    rows = connection.execute("SELECT * FROM held WHERE state = ? ORDER BY id", (state,))
    return tuple(
        Held(id=number, key=key, run=run, at=from_ms(at), changes=_decoded(changes), state=where)
        for number, key, run, at, changes, where in rows
    )


def settle(connection: sqlite3.Connection, number: int, state: str) -> bool:
    """What was held is `accepted`, `rejected` or `stale`; False where that was decided before."""
    cursor = connection.execute(
        "UPDATE held SET state = ? WHERE id = ? AND state = 'waiting'", (state, number)
    )
    return cursor.rowcount == 1


def blank(connection: sqlite3.Connection, root: str, paths: Container[str]) -> None:
    """Take text and quotes from what was held of these paths and is decided."""
    for number, text in connection.execute(
        "SELECT id, changes FROM held WHERE state <> 'waiting'"
    ).fetchall():
        changes = _decoded(text)
        blanked = tuple(
            msgspec.structs.replace(change, text=change.text and "", quotes=())
            if change.root == root and change.path in paths
            else change
            for change in changes
        )
        if blanked != changes:
            connection.execute("UPDATE held SET changes = ? WHERE id = ?", (_encoded(blanked), number))


def rename(connection: sqlite3.Connection, renamed: Callable[[HeldChange], HeldChange]) -> None:
    """Give each change its new place, each row its key there; what then waits twice is stale."""
    for number, key, state, text in connection.execute("SELECT id, key, state, changes FROM held").fetchall():
        changes = _decoded(text)
        moved = tuple(renamed(change) for change in changes)
        if moved == changes:
            continue
        fresh = held_key(moved) + ("" if state == "waiting" and ":" not in key else f":{number}")
        if connection.execute("SELECT 1 FROM held WHERE key = ? AND id <> ?", (fresh, number)).fetchone():
            settle(connection, number, "stale")
            fresh = f"{fresh}:{number}"
        connection.execute(
            "UPDATE held SET key = ?, changes = ? WHERE id = ?", (fresh, _encoded(moved), number)
        )


def _is_said_after(changes: Iterable[HeldChange], before: Iterable[HeldChange]) -> bool:
    """True if the evidence was said later; what has no time counts as earlier."""
    now, then = _said_at(changes), _said_at(before)
    return now is not None and (then is None or now > then)


def _bases(changes: Iterable[HeldChange]) -> set[tuple[str, str, str | None]]:
    return {(change.root, change.path, change.base) for change in changes}


def _said_at(changes: Iterable[HeldChange]) -> datetime | None:
    times = (proof.said_at for change in changes for proof in change.proofs)
    return max((time for time in times if time is not None), default=None)


def _encoded(changes: tuple[HeldChange, ...]) -> str:
    return msgspec.json.encode(changes).decode()


def _decoded(text: str) -> tuple[HeldChange, ...]:
    return msgspec.json.decode(text, type=tuple[HeldChange, ...])
