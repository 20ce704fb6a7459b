"""Reading: a transcript was touched, and becomes windows."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path

from msgspec.structs import replace

from extractord.core.cursor import Same, at_update, decode_cursor
from extractord.core.gate import GateSettings
from extractord.core.merging import whole
from extractord.core.ports import Baseline, Ranges, Uses
from extractord.core.records import Window
from extractord.core.transcripts.source import Container, Source
from extractord.edges.tail import check
from extractord.edges.watch import scan
from extractord.errors import TranscriptError
from extractord.reading.baseline import Note, cut_of, note, session_of, survey
from extractord.reading.families import Family
from extractord.reading.gating import Come, Gating, Resolve
from extractord.reading.members import Name, container_of, name_of, paths_of
from extractord.reading.rested import rested, rows_since

__all__ = ["Come", "Reading", "Resolve"]

_WARM = 64
_NOTED = 250
"""So many baselines are noted at once: ten thousand in memory would leave holes there for good."""
_CRASHED = 10
"""An agent that writes a turn's end and did not for this many times `settle_s` has died."""


class Reading:
    """From touched paths to windows; keeps the readers of the last 64 families warm."""

    def __init__(
        self,
        ranges: Ranges,
        resolve: Resolve,
        settings: GateSettings,
        *,
        settle_s: float,
        copy_dir: str,
        headless: frozenset[str] = frozenset(),
        transaction: Callable[[], AbstractContextManager[None]] = nullcontext,
        uses: Uses | None = None,
    ) -> None:
        """Begin cold.

        `settle_s` is the quiet that ends an exchange; `copy_dir` takes copies of databases;
        `headless` names agents whose prompts come from a program; `uses` is told what was opened.
        """
        self._ranges = ranges
        self._gating = Gating(ranges, resolve, settings, uses)
        self._settle = timedelta(seconds=settle_s)
        self._copy_dir = copy_dir
        self._headless = headless
        self._transaction = transaction
        self._warm: OrderedDict[Name, Family] = OrderedDict()
        self._names: dict[tuple[str, str], dict[Name, Source]] = {}
        self._stirred: dict[Name, tuple[Source, datetime]] = {}
        self._open: set[Name] = set()
        self._since: dict[str, int] = {}
        self._lock = asyncio.Lock()

    async def begin(self, source: Source, root: str) -> int | None:
        """Given a source's folder for the first time, all that is there becomes baseline.

        Return the number of its transcripts, None where the folder is known. What cannot be read is
        baseline at its size.
        """
        root = _resolved(root)
        if self._ranges.known_root(source.agent, root):
            return None
        sizes = [(path, size) for path, (size, _, _) in (await asyncio.to_thread(scan, source, root)).items()]
        for some in (sizes[at : at + _NOTED] for at in range(0, len(sizes), _NOTED)):
            notes: list[Note] = []
            for path, size in some:
                try:
                    notes += await survey(source, path, self._copy_dir)
                except TranscriptError:
                    place = Baseline(path=path, offset=size, last_entry=None)
                    notes.append(Note(sessions=frozenset({path}), place=place))
                await asyncio.sleep(0)
            with self._transaction():
                note(self._ranges, source.agent, notes)
        self._ranges.note_root(source.agent, root)
        return len(sizes)

    async def touched(self, source: Source, path: str, now: datetime) -> tuple[Come, ...]:
        """Given a transcript that changed, return what comes of its sessions: windows and skips.

        A file that is gone gives nothing: it is found where it went. Raise TranscriptError.
        """
        path = _located(path)
        async with self._lock:
            sessions: dict[str, None] = {}
            if container_of(source, path) is Container.ROWS:
                names, newest = await self._rows_touched(source, path)
            else:
                names, newest = [name_of(source, path)], 0
            for name in names:
                if name not in self._warm and all(self._is_read(each) for each in paths_of(name)):
                    continue
                sessions.update(dict.fromkeys(await self._advance(source, name, now)))
            come: list[Come] = [
                each for name in names if name in self._warm for each in self._warm[name].oversized(now)
            ]
            for session in sessions:
                come += await self._come(source.agent, session, now)
            if newest:
                self._rows_read(source, path, newest)
            return tuple(come)

    async def again(self, agent: str, session: str, now: datetime) -> tuple[Come, ...]:
        """Given a session whose range was closed or released, return what comes of it now."""
        async with self._lock:
            return tuple(await self._come(agent, session, now))

    async def quiet(self, now: datetime) -> tuple[Come, ...]:
        """Return what comes of exchanges under way that nothing was added to for long enough."""
        async with self._lock:
            come: list[Come] = []
            for name, (source, stirred) in tuple(self._stirred.items()):
                if now - stirred < self._settle * (_CRASHED if source.writes_turn_end else 1):
                    continue
                family = await self._warmed(source, name, now)
                self._stirred.pop(name, None)
                if family is not None:
                    family.settle()
                    for session in tuple(family.sessions):
                        come += await self._come(source.agent, session, now)
            return tuple(come)

    async def at_rest(
        self, source: Source, paths: Sequence[str], now: datetime
    ) -> AsyncIterator[Come | TranscriptError]:
        """Given transcripts that nobody writes any more, yield what comes of them, baseline included.

        A transcript that cannot be read is yielded as its error; the others go on.
        """
        located = [_located(path) for path in paths]
        async for families in rested(source, located, self._cold, self._copy_dir):
            if isinstance(families, TranscriptError):
                yield families
                continue
            for left_out in (each for family in families for each in family.oversized(now)):
                yield left_out
            for session in dict.fromkeys(session for family in families for session in family.sessions):
                parts = [family.sessions[session] for family in families if session in family.sessions]
                for each in self._gating.come(source.agent, session, parts, now):
                    yield _whole(each)

    def _is_read(self, path: str) -> bool:
        """True if the cursor in the ledger says that there is nothing new."""
        cursor = decode_cursor(self._ranges.cursor(path))
        return cursor is not None and bool(cursor.inode) and isinstance(check(cursor, path), Same)

    def _cold(self, source: Source, name: Name) -> Family:
        def closed(session: str) -> Iterable[str]:
            return self._gating.closed(source.agent, session)

        headless = source.agent in self._headless
        return Family(source, name, closed=closed, headless=headless, copy_dir=self._copy_dir)

    async def _advance(self, source: Source, name: Name, now: datetime) -> tuple[str, ...]:
        """Read a family on, from the start where it is cold; return its sessions if anything came."""
        paths = paths_of(name)
        family = self._warm.pop(name, None)
        if not paths:
            self._lose(name)
            return ()
        if family is None or not family.goes_on(paths):
            family, stirred = self._cold(source, name), min(now, _changed(paths))
        else:
            stirred = now
        has_come = False
        for path in paths:
            if path in family.cursors:
                has_come = await family.read_on(path) or has_come
            else:
                session = name.session or await session_of(source, path)
                cut = await cut_of(source, path, session, self._ranges)
                has_come = await family.read_on(path, cut) or has_come
        self._warm[name] = family
        while len(self._warm) > _WARM:
            self._warm.popitem(last=False)
        for session in family.sessions:
            self._names.setdefault((source.agent, session), {})[name] = source
        if not family.under_way:
            self._stirred.pop(name, None)
        elif has_come:
            self._stirred[name] = source, stirred
        return tuple(family.sessions) if has_come else ()

    async def _warmed(self, source: Source, name: Name, now: datetime) -> Family | None:
        """The family, read where it was cold; None where it cannot be read: a touch will say so."""
        if name not in self._warm:
            with contextlib.suppress(TranscriptError):
                await self._advance(source, name, now)
        return self._warm.get(name)

    async def _come(self, agent: str, session: str, now: datetime) -> list[Come]:
        families: dict[Name, Family] = {}
        for name, source in tuple(self._names.get((agent, session), {}).items()):
            if not paths_of(name):
                self._lose(name)
                continue
            family = await self._warmed(source, name, now)
            if family is not None and session in family.sessions:
                if self._gating.is_reopened(family.sessions[session]):
                    del self._warm[name]
                    family = await self._warmed(source, name, now)
                if family is not None and session in family.sessions:
                    families[name] = family
        parts = [family.sessions[session] for family in families.values()]
        with self._transaction():
            come = self._gating.come(agent, session, parts, now)
            for name, family in families.items():
                self._keep_cursors(agent, name, family)
        return come

    def _keep_cursors(self, agent: str, name: Name, family: Family) -> None:
        """What was read is closed last: cursors move when nothing before them is open."""
        if not family.is_closed:
            self._open.add(name)
            return
        self._open.discard(name)
        session = next(iter(family.sessions), None)
        for path, cursor in family.cursors.items():
            self._ranges.save_cursor(path, agent, session, cursor.encode())

    def _lose(self, name: Name) -> None:
        """Its files are gone; where they went, they are found again."""
        self._warm.pop(name, None)
        self._stirred.pop(name, None)
        self._open.discard(name)
        for names in self._names.values():
            names.pop(name, None)

    async def _rows_touched(self, source: Source, path: str) -> tuple[list[Name], int]:
        """The families of sessions updated since the last look, and the newest update in ms."""
        cursor = decode_cursor(self._ranges.cursor(path))
        since = self._since.get(path, cursor.offset if cursor else 0)
        return await rows_since(source, path, since, self._copy_dir)

    def _rows_read(self, source: Source, path: str, newest: int) -> None:
        self._since[path] = newest
        own = name_of(source, path)
        if not any((name.folder, name.files) == (own.folder, own.files) for name in self._open):
            self._ranges.save_cursor(path, source.agent, None, at_update(newest).encode())


def _whole(come: Come) -> Come:
    if isinstance(come, Window):
        return replace(come, exchanges=tuple(map(whole, come.exchanges)))
    return come


def _located(path: str) -> str:
    """The path by its real folder: a folder that is reached in two ways is one."""
    # a Path would keep the names of ten thousand files interned
    folder, name = os.path.split(path)
    return os.path.join(os.path.realpath(folder), name)  # noqa: PTH118


def _resolved(root: str) -> str:
    return str(Path(root).resolve())


def _changed(paths: Iterable[str]) -> datetime:
    """When one of them, or the log that a database keeps beside it, was last written."""
    newest = 0.0
    for place in (each for path in paths for each in (path, f"{path}-wal")):
        with contextlib.suppress(OSError):
            newest = max(newest, Path(place).stat().st_mtime)
    return datetime.fromtimestamp(newest, UTC)
