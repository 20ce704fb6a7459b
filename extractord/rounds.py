"""A stretch of the daemon's life under one set of settings: watch, offer, and mind the clock."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable

from extractord.core.events import Event, Oversized, Skipped, SourceFound
from extractord.core.records import Window
from extractord.dispatch import Dispatch
from extractord.edges.watch import Watch
from extractord.errors import TranscriptError
from extractord.heartbeat import Heartbeat
from extractord.heeding import Heeding
from extractord.house import House
from extractord.reading.gating import Come

_TICK_S = 1.0


class Round:
    """What happens until the settings change, or all of it ends."""

    def __init__(
        self,
        house: House,
        dispatch: Dispatch,
        heeding: Heeding,
        heart: Heartbeat,
        say: Callable[[Event | str], None],
    ) -> None:
        self._house = house
        self._dispatch = dispatch
        self._heeding = heeding
        self._heart = heart
        self._say = say
        self.over = asyncio.Event()

    async def begin(self) -> None:
        """What is there before the first start is noted and not read; what people wrote is noticed."""
        await self._heeding.look()
        for source, root in self._house.room.sources:
            found = await self._house.room.reading.begin(source, root)
            if found:
                now = self._house.clock()
                self._say(SourceFound(at=now, agent=source.agent, root=root, transcripts=found))
        self._say("watching")
        self._heart.ready(len(self._house.room.sources))

    async def watch(self) -> None:
        """Offer what transcripts bring, until it is over."""
        run, room = self._house.settings.run, self._house.room

        def passed() -> None:
            self._heart.passed("watch")

        watch = Watch(room.sources, polling=run.polling, rescan_s=run.rescan_s, warn=self._say, passed=passed)
        async for touched in watch.touched(self.over):
            for source, path in touched:
                if self.over.is_set():  # what is left is looked at anew by the next round, or life
                    return
                passed()
                try:
                    await self._offer(await room.reading.touched(source, path, room.clock()))
                except TranscriptError as error:
                    self._say(str(error))

    async def tick(self) -> None:
        """Quiet ends exchanges, and time brings delayed windows back, until it is over."""
        while not self.over.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.over.wait(), _TICK_S)
            self._heart.passed("clock")
            self._heart.under_way({task.get_name() for task in self._dispatch.running})
            await self._heeding.look()
            if self._house.settings.mode != "recall":
                await self._dispatch.take_up()
            await self._offer(await self._house.room.reading.quiet(self._house.clock()))

    async def _offer(self, come: Iterable[Come]) -> None:
        for each in come:
            match each:
                case Window() if self._house.settings.mode != "recall":
                    self._dispatch.offer(each, self._dispatch.due(each))
                case Skipped():
                    self._say(each)
                    await self._heeding.witness(each.written)
                case Oversized():
                    self._say(each)
        if not self.over.is_set():
            self._dispatch.begin()
