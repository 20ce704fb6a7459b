"""Transcripts that are folded together: the files of a session, or its rows in a database."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from extractord.core.cursor import Anew, Cursor, Same
from extractord.core.events import Oversized
from extractord.core.exchanges import Session
from extractord.core.lines import Block, lines_of
from extractord.core.ports import Deferring, Reader
from extractord.core.records import Deferred, Entry, Origin, Seen, Thawed
from extractord.core.transcripts.source import Container, Source
from extractord.edges.tail import Tail, check, mark
from extractord.errors import TranscriptError
from extractord.reading.members import Name, container_of, opened, paths_of, tables_of, whole_of


class Cut(Struct, frozen=True, kw_only=True):
    """Where a transcript's baseline ends: after one of these entries, else at this place.

    The place is a byte offset in a transcript of lines, else a number of entries.
    """

    after: frozenset[str] = frozenset()
    place: int = 0


NO_CUT = Cut()


class Family:
    """Readers and cursors of files that are folded into the same sessions."""

    def __init__(
        self,
        source: Source,
        name: Name,
        *,
        closed: Callable[[str], Iterable[str]],
        headless: bool,
        copy_dir: str,
    ) -> None:
        """Begin cold; `closed` gives the closed exchanges of a session when it is first met."""
        self.source = source
        self.name = name
        self.sessions: dict[str, Session] = {}
        self.cursors: dict[str, Cursor] = {}
        self.last_entries: dict[str, str] = {}
        self._readers: dict[str, Reader] = {}
        self._deferring: dict[str, Deferring] = {}
        self._tails: dict[str, Tail] = {}
        self._oversized: list[tuple[str, int, int]] = []
        self._closed = closed
        self._headless = headless
        self._copy_dir = copy_dir

    def goes_on(self, paths: tuple[str, ...]) -> bool:
        """True if these files are the ones that were read, grown or followed by others."""
        known = tuple(self.cursors)
        if paths[: len(known)] != known:
            return False
        if any(container_of(self.source, path) is not Container.LINES for path in paths):
            return not known
        if self._deferring and len(paths) > 1:
            return False  # what one file repeats of another is known by its entries
        return not any(isinstance(check(self.cursors[path], path), Anew) for path in known)

    async def read_on(self, path: str, cut: Cut = NO_CUT) -> bool:
        """Fold in what a file has that was not read yet; return True if there was something.

        Raise TranscriptError where it cannot be read, or holds nothing of this agent.
        """
        cursor = self.cursors.get(path)
        if cursor is not None and isinstance(check(cursor, path), Same):
            return False
        reader = self._readers.get(path)
        if reader is None:
            reader = self._readers[path] = self._reader_of(path)
        else:
            cut = NO_CUT  # what was there before us was cut off when the file was first read
        match container_of(self.source, path):
            case Container.LINES:
                tail = self._tails[path] = Tail(path, cursor)
                fed = await self._read_lines(path, tail, cut)
                at, size = tail.lines.offset, tail.lines.size
                if tail.lines.skipped:
                    self._oversized.append((path, tail.lines.skipped, tail.lines.skipped_bytes))
            case Container.DOCUMENT:
                whole = await whole_of(self.source, path)
                fed, at, size = 1, len(whole), len(whole)
                self._apply_all(list(reader.feed(whole)), path, cut)
            case Container.ROWS:
                await self._read_rows(path, reader, cut)
                return True
        if fed and reader.session is None and reader.unknown.total() * 2 >= fed:
            raise TranscriptError(
                f"{path}: nothing in it is a record of {self.source.agent}; name its agent, or remove it"
            )
        self.cursors[path] = mark(path, at, size, self.last_entries.get(path))
        return True

    def take_last_lines(self) -> None:
        """Nobody writes any more: take last lines without a newline, where they are whole."""
        for path, tail in self._tails.items():
            line = tail.last_line()
            if line:
                self._take((line + b"\n", 0), path)

    def oversized(self, now: datetime) -> list[Oversized]:
        """What was left out since this was last asked, because its lines were too long."""
        left_out, self._oversized = self._oversized, []
        return [
            Oversized(at=now, agent=self.source.agent, path=path, lines=lines, bytes=size)
            for path, lines, size in left_out
        ]

    def settle(self) -> None:
        """Nothing came for long: take what readers held back, and end the exchange under way."""
        for path, reader in self._readers.items():
            for seen in reader.settle():
                self._apply(seen, path)
        for session in self.sessions.values():
            session.quiet()

    @property
    def under_way(self) -> bool:
        """True if an exchange has not ended."""
        return any(session.under_way for session in self.sessions.values())

    @property
    def is_closed(self) -> bool:
        """True if every exchange of it is closed or baseline."""
        return all(session.is_empty for session in self.sessions.values())

    def _reader_of(self, path: str) -> Reader:
        later = self.source.later
        if later is not None and len(paths_of(self.name)) == 1:
            deferring = later.reader(opened(self.source, path))
            if deferring is not None:
                self._deferring[path] = deferring
                return deferring.reader
        return self.source.reader(opened(self.source, path))

    async def _read_lines(self, path: str, tail: Tail, cut: Cut) -> int:
        """Read a file on; return how many lines came before one told its session."""
        reader, fed = self._readers[path], 0
        awaited = set(cut.after)
        async for blocks, after in tail.blocks(pause_at=cut.place):
            for block in blocks:
                if awaited:
                    self._await(block, awaited, path)
                else:
                    self._take(block, path)
                if reader.session is None:
                    fed += sum(map(bool, lines_of(block)))
            if after <= cut.place:
                self._was_before(path)
        return fed

    def _await(self, block: Block, awaited: set[str], path: str) -> None:
        """Fold in lines, nothing deferred; all up to an entry that is awaited was before."""
        for seen in (seen for line in lines_of(block) if line for seen in self._readers[path].feed(line)):
            self._apply(seen, path)
            if isinstance(seen, Entry) and seen.id in awaited:
                awaited.remove(seen.id)
                self._was_before(path)

    def _take(self, block: Block, path: str) -> None:
        """Fold in lines; what may wait is kept as it came."""
        deferring = self._deferring.get(path)
        if deferring is None:
            for seen in (seen for line in lines_of(block) if line for seen in self._readers[path].feed(line)):
                self._apply(seen, path)
            return
        session: Session | None = None
        for each in deferring.skim(block):
            if not isinstance(each, Deferred):
                self._apply(each, path)
                continue
            if session is None or session.session != each.session:
                session = self._session(each.session)
            if not session.defer(each, path):
                for entry in deferring.thaw(each):
                    self._apply(entry, path)

    async def _read_rows(self, path: str, reader: Reader, cut: Cut) -> None:
        tables = tables_of(self.source, path, self._copy_dir)
        records = await asyncio.to_thread(tables.records, self.name.session or "")
        self._apply_all([seen for record in records for seen in reader.feed(record)], path, cut)

    def _apply_all(self, found: list[Seen], path: str, cut: Cut) -> None:
        first: dict[str, int] = {}
        for nth, seen in enumerate(found, 1):
            if isinstance(seen, Entry) and seen.id in cut.after:
                first.setdefault(seen.id, nth)
        place = max(first.values(), default=cut.place)
        for seen in found[:place]:
            self._apply(seen, path)
        if place:
            self._was_before(path)
        for seen in found[place:]:
            self._apply(seen, path)

    def _apply(self, seen: Seen | Thawed, path: str) -> None:
        if isinstance(seen, Entry):
            self.last_entries[path] = seen.id
            if self._headless and seen.origin is Origin.HUMAN:
                seen = replace(seen, origin=Origin.HEADLESS)
        self._session(seen.session).apply(seen, path)

    def _session(self, session: str) -> Session:
        found = self.sessions.get(session)
        if found is None:
            thaw = self.source.later.thaw if self.source.later else None
            found = Session(self.source.agent, session, self._closed(session), thaw)
            self.sessions[session] = found
        return found

    def _was_before(self, path: str) -> None:
        for session in self.sessions.values():
            session.was_before(path)
