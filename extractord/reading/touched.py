"""From a touched transcript to windows."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime, timedelta
from pathlib import Path

from msgspec.structs import replace

from extractord.core.gate import GateSettings
from extractord.core.merging import whole
from extractord.core.ports import Baseline, Ranges, Uses
from extractord.core.records import Window
from extractord.core.transcripts.source import Container, Source
from extractord.edges.watch import scan
from extractord.errors import TranscriptError
from extractord.reading.baseline import Note, note, survey
from extractord.reading.cursors import Cursors
from extractord.reading.families import Family
from extractord.reading.gating import Come, Gating, Resolve
from extractord.reading.members import Name, container_of, name_of, paths_of
from extractord.reading.rested import rested
from extractord.reading.warm import Warm

_NOTED = 250
"""So many baselines are noted at once: ten thousand in memory would leave holes there for good."""


class Reading:
    """From touched paths to windows; what was read is read on from where it was left."""

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
        self._copy_dir = copy_dir
        self._headless = headless
        self._transaction = transaction
        self._cursors = Cursors(ranges, copy_dir)
        self._warm = Warm(ranges, self._cold, self._cursors.lose, timedelta(seconds=settle_s))
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
                names, newest = await self._cursors.rows_touched(source, path)
            else:
                names, newest = [name_of(source, path)], 0
            for name in names:
                if name not in self._warm and all(map(self._cursors.is_read, paths_of(name))):
                    continue
                sessions.update(dict.fromkeys(await self._warm.advance(source, name, now)))
            come: list[Come] = [each for name in names for each in self._warm.oversized(name, now)]
            for session in sessions:
                come += await self._come(source.agent, session, now)
            if newest:
                self._cursors.rows_read(source, path, newest)
            return tuple(come)

    async def again(self, agent: str, session: str, now: datetime) -> tuple[Come, ...]:
        """Given a session whose range was closed or released, return what comes of it now."""
        async with self._lock:
            return tuple(await self._come(agent, session, now))

    async def quiet(self, now: datetime) -> tuple[Come, ...]:
        """Return what comes of exchanges under way that nothing was added to for long enough."""
        async with self._lock:
            come: list[Come] = []
            for source, name in self._warm.quiet(now):
                for session in await self._warm.settled(source, name, now):
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

    def _cold(self, source: Source, name: Name) -> Family:
        def closed(session: str) -> Iterable[str]:
            return self._gating.closed(source.agent, session)

        headless = source.agent in self._headless
        return Family(source, name, closed=closed, headless=headless, copy_dir=self._copy_dir)

    async def _come(self, agent: str, session: str, now: datetime) -> list[Come]:
        families = await self._warm.having(agent, session, now, self._gating.is_reopened)
        parts = [family.sessions[session] for family in families.values()]
        with self._transaction():
            come = self._gating.come(agent, session, parts, now)
            for name, family in families.items():
                self._cursors.keep(agent, name, family)
        return come


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
