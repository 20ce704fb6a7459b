"""What the store keeps about memories: trust, history, intents, tombstones, what is held."""

from __future__ import annotations

import sqlite3

SCHEMA: tuple[str, ...] = ()


class Versions:
    """Over the ledger's connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
