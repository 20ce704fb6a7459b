"""What is asked for on the bus, done or refused: nothing here can do what the law does not let a run do."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import assert_never

from extractord.batch import plan
from extractord.core.events import Heeded
from extractord.core.heard import Drain, Extract, Heard, Pause, Resume
from extractord.core.said import Standing
from extractord.dispatch import Dispatch
from extractord.errors import ExtractordError


class Obeying:
    """Does what was heard; `stand` is told what the daemon is then."""

    def __init__(self, dispatch: Dispatch, stand: Callable[[Standing], None]) -> None:
        self._dispatch = dispatch
        self._stand = stand
        self._draining: asyncio.Task[None] | None = None

    async def __call__(self, heard: Heard) -> Heeded:
        """Do it, and return what came of it."""
        match heard:
            case Extract():
                return await self._extract(heard)
            case Pause():
                self._hold("paused")
                return self._heeded("pause")
            case Resume():
                self._end_drain()
                self._dispatch.resume()
                self._stand("online")
                return self._heeded("resume")
            case Drain():
                self._hold("draining")
                self._draining = asyncio.create_task(self._drain())
                return self._heeded("drain")
            case _:
                assert_never(heard)

    def _hold(self, state: Standing) -> None:
        self._end_drain()
        self._dispatch.pause()
        self._stand(state)

    def _end_drain(self) -> None:
        if self._draining is not None:
            self._draining.cancel()
            self._draining = None

    async def _drain(self) -> None:
        """Let what is in flight end in time, then end it: each gives its claim back."""
        if running := set(self._dispatch.running):
            _, late = await asyncio.wait(running, timeout=self._dispatch.house.settings.run.drain_s)
            if late:
                self._dispatch.cancel()
                await asyncio.wait(late)
        self._stand("drained")

    async def _extract(self, heard: Extract) -> Heeded:
        if self._dispatch.house.settings.mode == "recall":
            return self._heeded("extract", "nothing is extracted: mode is recall")
        places = [heard.path] if heard.path is not None else self._places(heard.agent, heard.session)
        found = [real for place in places for real in self._own_files(place)]
        if not found:
            return self._heeded("extract", "no transcript of an agent that is watched")
        offered = skipped = 0
        try:
            for agent, path in found:
                planned = await plan(self._dispatch.house.room, [path], agent=agent, since=None, project=None)
                skipped += planned.skipped.total()
                for window in planned.windows:
                    self._dispatch.offer(window, self._dispatch.due(window))
                    offered += 1
        except ExtractordError as error:
            return self._heeded("extract", str(error))
        self._dispatch.begin()
        reason = f"{offered} windows wait for their runs, {skipped} exchanges skipped"
        return Heeded(at=self._dispatch.house.clock(), word="extract", done=True, reason=reason)

    def _places(self, agent: str | None, session: str | None) -> tuple[str, ...]:
        return self._dispatch.house.ledger.ranges.paths(agent or "", session or "")

    def _own_files(self, place: str) -> list[tuple[str, Path]]:
        """The place as a file of an agent that is watched, links followed first; else nothing."""
        try:
            real = Path(place).resolve()
            if not Path(place).is_absolute() or not real.is_file():
                return []
        except (OSError, ValueError):
            return []
        return [
            (source.agent, real)
            for source, root in self._dispatch.house.room.sources
            if real.is_relative_to(base := Path(root).resolve())
            and source.belongs(str(real.relative_to(base)))
        ][:1]

    def _heeded(self, word: str, refused: str = "") -> Heeded:
        return Heeded(at=self._dispatch.house.clock(), word=word, done=not refused, reason=refused)
