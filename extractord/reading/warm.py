"""Families whose readers are kept, so that what is added to a transcript is read alone."""

from __future__ import annotations

import contextlib
from collections import OrderedDict
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from extractord.core.events import Oversized
from extractord.core.exchanges import Session
from extractord.core.ports import Ranges
from extractord.core.transcripts.source import Source
from extractord.errors import TranscriptError
from extractord.reading.baseline import cut_of, session_of
from extractord.reading.families import Family
from extractord.reading.members import Name, paths_of

_WARM = 64
_CRASHED = 10
"""An agent that writes a turn's end and did not for this many times the quiet has died."""


class Warm:
    """The last 64 families that were read; which sessions are in which; what is under way."""

    def __init__(
        self,
        ranges: Ranges,
        cold: Callable[[Source, Name], Family],
        lost: Callable[[Name], None],
        settle: timedelta,
    ) -> None:
        """Begin with none.

        `cold` makes a family that was not read yet; `lost` is told of one whose files are gone;
        `settle` is the quiet that ends an exchange.
        """
        self._ranges = ranges
        self._cold = cold
        self._lost = lost
        self._settle = settle
        self._warm: OrderedDict[Name, Family] = OrderedDict()
        self._names: dict[tuple[str, str], dict[Name, Source]] = {}
        self._stirred: dict[Name, tuple[Source, datetime]] = {}

    def __contains__(self, name: Name) -> bool:
        return name in self._warm

    async def advance(self, source: Source, name: Name, now: datetime) -> tuple[str, ...]:
        """Read a family on, from the start where it is cold; return its sessions if anything came.

        Raise TranscriptError.
        """
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

    def oversized(self, name: Name, now: datetime) -> list[Oversized]:
        """What was left out of a family since this was last asked; nothing where it is cold."""
        family = self._warm.get(name)
        return family.oversized(now) if family is not None else []

    async def having(
        self, agent: str, session: str, now: datetime, is_reopened: Callable[[Session], bool]
    ) -> dict[Name, Family]:
        """Given a session, return the families that have a part of it, read anew where it was reopened."""
        families: dict[Name, Family] = {}
        for name, source in tuple(self._names.get((agent, session), {}).items()):
            if not paths_of(name):
                self._lose(name)
                continue
            family = await self._warmed(source, name, now)
            if family is not None and session in family.sessions:
                if is_reopened(family.sessions[session]):
                    del self._warm[name]
                    family = await self._warmed(source, name, now)
                if family is not None and session in family.sessions:
                    families[name] = family
        return families

    def quiet(self, now: datetime) -> list[tuple[Source, Name]]:
        """The families under way that nothing was added to for long enough."""
        return [
            (source, name)
            for name, (source, stirred) in self._stirred.items()
            if now - stirred >= self._settle * (_CRASHED if source.writes_turn_end else 1)
        ]

    async def settled(self, source: Source, name: Name, now: datetime) -> tuple[str, ...]:
        """Given a family that is quiet, end what is under way; return its sessions."""
        family = await self._warmed(source, name, now)
        self._stirred.pop(name, None)
        if family is None:
            return ()
        family.settle()
        return tuple(family.sessions)

    async def _warmed(self, source: Source, name: Name, now: datetime) -> Family | None:
        """The family, read where it was cold; None where it cannot be read: a touch will say so."""
        if name not in self._warm:
            with contextlib.suppress(TranscriptError):
                await self.advance(source, name, now)
        return self._warm.get(name)

    def _lose(self, name: Name) -> None:
        """Its files are gone; where they went, they are found again."""
        self._warm.pop(name, None)
        self._stirred.pop(name, None)
        for names in self._names.values():
            names.pop(name, None)
        self._lost(name)


def _changed(paths: Iterable[str]) -> datetime:
    """When one of them, or the log that a database keeps beside it, was last written."""
    newest = 0.0
    for place in (each for path in paths for each in (path, f"{path}-wal")):
        with contextlib.suppress(OSError):
            newest = max(newest, Path(place).stat().st_mtime)
    return datetime.fromtimestamp(newest, UTC)
