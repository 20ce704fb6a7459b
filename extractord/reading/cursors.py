"""How far transcripts have been read for good: cursors, as the ledger has them."""

from __future__ import annotations

from extractord.core.cursor import Same, at_update, decode_cursor
from extractord.core.ports import Ranges
from extractord.core.transcripts.source import Source
from extractord.edges.tail import check
from extractord.reading.families import Family
from extractord.reading.members import Name, name_of
from extractord.reading.rested import rows_since


class Cursors:
    """Moves cursors when nothing before them is open; a database's is the newest update in it."""

    def __init__(self, ranges: Ranges, copy_dir: str) -> None:
        """Begin where the ledger stands; `copy_dir` takes copies of databases."""
        self._ranges = ranges
        self._copy_dir = copy_dir
        self._open: set[Name] = set()
        self._since: dict[str, int] = {}

    def is_read(self, path: str) -> bool:
        """True if the cursor in the ledger says that there is nothing new."""
        cursor = decode_cursor(self._ranges.cursor(path))
        return cursor is not None and bool(cursor.inode) and isinstance(check(cursor, path), Same)

    def keep(self, agent: str, name: Name, family: Family) -> None:
        """What was read is closed last: the family's cursors are kept if nothing of it is open."""
        if not family.is_closed:
            self._open.add(name)
            return
        self._open.discard(name)
        session = next(iter(family.sessions), None)
        for path, cursor in family.cursors.items():
            self._ranges.save_cursor(path, agent, session, cursor.encode())

    def lose(self, name: Name) -> None:
        """The family's files are gone: nothing of it is open here."""
        self._open.discard(name)

    async def rows_touched(self, source: Source, path: str) -> tuple[list[Name], int]:
        """The families of sessions updated since the last look, and the newest update in ms."""
        cursor = decode_cursor(self._ranges.cursor(path))
        since = self._since.get(path, cursor.offset if cursor else 0)
        return await rows_since(source, path, since, self._copy_dir)

    def rows_read(self, source: Source, path: str, newest: int) -> None:
        """All up to that update was read; for good if no session of the database is open."""
        self._since[path] = newest
        own = name_of(source, path)
        if not any((name.folder, name.files) == (own.folder, own.files) for name in self._open):
            self._ranges.save_cursor(path, source.agent, None, at_update(newest).encode())
