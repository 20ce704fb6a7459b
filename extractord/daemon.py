"""The daemon's life: watch, offer, run; an orderly stop, and a second signal that does not wait."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable

from extractord.config import Settings
from extractord.core.events import Event, Oversized, RunFinished, Skipped, SourceFound
from extractord.core.ports import RunRow
from extractord.core.records import Window
from extractord.dispatch import Dispatch
from extractord.edges.signals import signalled
from extractord.edges.watch import Watch
from extractord.errors import TranscriptError
from extractord.heeding import Heeding
from extractord.house import House, opened
from extractord.reading.gating import Come

_TICK_S = 1.0

Say = Callable[[Event | str], None]
"""Told of every event, and of what a person should know."""


async def serve(settings: Settings, say: Say) -> None:
    """Given the settings, serve until SIGTERM or SIGINT. Raise AlreadyRunning and whatever opening raises."""
    stop, at_once = asyncio.Event(), asyncio.Event()
    with signalled(stop, at_once):
        async with opened(settings, serving=True, warn=say) as house:
            daemon = Daemon(house, say, stop, at_once)
            await daemon.startup()
            await daemon.main_loop()
            await daemon.shutdown()


class Daemon:
    """What happens while the house is open."""

    def __init__(self, house: House, say: Say, stop: asyncio.Event, at_once: asyncio.Event) -> None:
        self._house = house
        self._say = say
        self._stop = stop
        self._at_once = at_once
        self._fault: BaseException | None = None
        self._dispatch = Dispatch(house, self._run_ended, self._stop.set)
        self._heeding = Heeding(house.store, house.settings, say, house.clock)

    async def startup(self) -> None:
        """What is there before the first start is noted and not read; what people wrote is noticed."""
        self._heeding.look()
        for source, root in self._house.room.sources:
            found = await self._house.room.reading.begin(source, root)
            if found:
                now = self._house.clock()
                self._say(SourceFound(at=now, agent=source.agent, root=root, transcripts=found))
        self._say("watching")

    async def main_loop(self) -> None:
        """Watch, offer and run until a signal comes, or until one of them cannot go on."""
        tasks = {asyncio.create_task(self._watch()), asyncio.create_task(self._tick())}
        await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        self._stop.set()
        for ended in await asyncio.gather(*tasks, return_exceptions=True):
            self._fault = self._fault or ended

    async def shutdown(self) -> None:
        """Let runs in flight end within `drain_s`, or until the second signal; then end them."""
        self._dispatch.stop()
        drain_s = self._house.settings.run.drain_s
        if running := self._dispatch.running:
            self._say(f"stopping: {len(running)} in flight may end within {drain_s:g} s")
            waiting = {asyncio.create_task(asyncio.wait(running)), asyncio.create_task(self._at_once.wait())}
            await asyncio.wait(waiting, timeout=drain_s, return_when=asyncio.FIRST_COMPLETED)
            for task in waiting:
                task.cancel()
        self._dispatch.cancel()
        await asyncio.gather(*self._dispatch.running, return_exceptions=True)
        self._say("stopped")
        if (fault := self._fault or self._dispatch.fault) is not None:
            raise fault

    async def _watch(self) -> None:
        run, room = self._house.settings.run, self._house.room
        watch = Watch(room.sources, polling=run.polling, rescan_s=run.rescan_s, warn=self._say)
        async for touched in watch.touched(self._stop):
            for source, path in touched:
                try:
                    self._offer(await room.reading.touched(source, path, room.clock()))
                except TranscriptError as error:
                    self._say(str(error))

    async def _tick(self) -> None:
        """Quiet ends exchanges, and time brings delayed windows back."""
        while not self._stop.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stop.wait(), _TICK_S)
            self._heeding.look()
            if self._house.settings.mode != "recall":
                await self._dispatch.take_up()
            self._offer(await self._house.room.reading.quiet(self._house.clock()))

    def _offer(self, come: Iterable[Come]) -> None:
        for each in come:
            match each:
                case Window() if self._house.settings.mode != "recall":
                    self._dispatch.offer(each, self._dispatch.due(each))
                case Skipped():
                    self._say(each)
                    self._heeding.witness(each.written)
                case Oversized():
                    self._say(each)
        if not self._stop.is_set():
            self._dispatch.begin()

    def _run_ended(self, row: RunRow) -> None:
        head = self._house.ledger.audit.head()
        self._say(RunFinished(at=self._house.clock(), row=row, audit=head))
