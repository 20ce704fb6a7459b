"""The daemon's life: watch, offer, run; an orderly stop, and a second signal that does not wait."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from msgspec.structs import replace

from extractord.config import Settings
from extractord.core.events import Event, RunFinished, Skipped, SourceFound
from extractord.core.mailbox import Mailbox
from extractord.core.outcomes import CLOSING
from extractord.core.records import Snapshot, Window
from extractord.edges.watch import Watch
from extractord.errors import TranscriptError
from extractord.house import House, opened
from extractord.reading.gating import Come

_TICK_S = 1.0
_CLAIMED_WAIT = timedelta(seconds=30)

Say = Callable[[Event | str], None]
"""Told of every event, and of what a person should know."""


async def serve(settings: Settings, say: Say) -> None:
    """Given the settings, serve until SIGTERM or SIGINT. Raise AlreadyRunning and whatever opening raises."""
    async with opened(settings, serving=True) as house:
        daemon = Daemon(house, say)
        with daemon.signals():
            await daemon.startup()
            await daemon.main_loop()
            await daemon.shutdown()


class Daemon:
    """What happens while the house is open."""

    def __init__(self, house: House, say: Say) -> None:
        self._house = house
        self._say = say
        self._mailbox = Mailbox(house.settings.run.concurrency)
        self._stop = asyncio.Event()
        self._at_once = asyncio.Event()
        self._wake = asyncio.Event()
        self._runs: set[asyncio.Task[None]] = set()
        self._fault: BaseException | None = None

    @contextmanager
    def signals(self) -> Iterator[None]:
        """The first SIGTERM or SIGINT stops in order, a second one at once."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._signalled)
        try:
            yield
        finally:
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.remove_signal_handler(number)

    async def startup(self) -> None:
        """What is there before the first start is noted and not read."""
        for source, root in self._house.sources:
            found = await self._house.reading.begin(source, root)
            if found:
                self._say(
                    SourceFound(at=self._house.clock(), agent=source.agent, root=root, transcripts=found)
                )
        self._say("watching")

    async def main_loop(self) -> None:
        """Watch, offer and run until a signal comes, or until something is ours to mend."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._watch())
            group.create_task(self._tick())
            group.create_task(self._dispatch())

    async def shutdown(self) -> None:
        """Let runs in flight end within `drain_s`, or until the second signal; then end them."""
        self._mailbox.stop()
        if self._runs:
            self._say(
                f"stopping: {len(self._runs)} runs may end within {self._house.settings.run.drain_s:g} s"
            )
            ended = asyncio.create_task(asyncio.wait(self._runs))
            forced = asyncio.create_task(self._at_once.wait())
            await asyncio.wait(
                {ended, forced},
                timeout=self._house.settings.run.drain_s,
                return_when=asyncio.FIRST_COMPLETED,
            )
            forced.cancel()
        for task in self._runs:
            task.cancel()
        await asyncio.gather(*self._runs, return_exceptions=True)
        self._say("stopped")
        if self._fault is not None:
            raise self._fault

    def _signalled(self) -> None:
        (self._at_once if self._stop.is_set() else self._stop).set()

    async def _watch(self) -> None:
        run, house = self._house.settings.run, self._house
        watch = Watch(house.sources, polling=run.polling, rescan_s=run.rescan_s, warn=self._say)
        async for touched in watch.touched(self._stop):
            for source, path in touched:
                try:
                    self._offer(await house.reading.touched(source, path, house.clock()))
                except TranscriptError as error:
                    self._say(str(error))
        self._wake.set()

    async def _tick(self) -> None:
        """Quiet ends exchanges, and time brings delayed snapshots back."""
        while not self._stop.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stop.wait(), _TICK_S)
            self._offer(await self._house.reading.quiet(self._house.clock()))
            self._wake.set()

    def _offer(self, come: Iterable[Come]) -> None:
        for each in come:
            match each:
                case Window() if self._house.settings.mode != "recall":
                    self._mailbox.offer(self._snapshot(each), self._due(each))
                    self._wake.set()
                case Skipped():
                    self._say(each)

    async def _dispatch(self) -> None:
        while not self._stop.is_set():
            await self._wake.wait()
            self._wake.clear()
            while not self._stop.is_set() and (snapshot := self._mailbox.take(self._house.clock())):
                task = asyncio.create_task(self._run(snapshot))
                self._runs.add(task)
                task.add_done_callback(self._ended)

    async def _run(self, snapshot: Snapshot) -> None:
        row = await self._house.extraction.run(snapshot)
        if row is not None:
            self._say(RunFinished(at=self._house.clock(), row=row))
        if row is not None and row.outcome in CLOSING:
            self._mailbox.finish(snapshot)
        else:
            await self._release(snapshot)
        self._wake.set()

    async def _release(self, snapshot: Snapshot) -> None:
        """What is open of the session now takes the place of what could not run."""
        window = snapshot.window
        states = self._house.ledger.ranges.states(window.agent, window.session)
        closed = {key for key, row in states.items() if row.state in ("closed", "baseline")}
        again = replace(window, exchanges=tuple(e for e in window.exchanges if e.key not in closed))
        for each in await self._house.reading.again(window.agent, window.session, self._house.clock()):
            if isinstance(each, Window) and each.project == window.project:
                again = each
        self._mailbox.release(snapshot, self._snapshot(again), self._due(again))

    def _snapshot(self, window: Window) -> Snapshot:
        return Snapshot(window=window, offered_at=self._house.clock())

    def _due(self, window: Window) -> datetime | None:
        """When the ledger lets all of the window run; one that somebody else has is asked for again."""
        states = self._house.ledger.ranges.states(window.agent, window.session)
        rows = [states[exchange.key] for exchange in window.exchanges if exchange.key in states]
        if any(row.state == "claimed" for row in rows):
            return self._house.clock() + _CLAIMED_WAIT
        return max((row.retry_at for row in rows if row.retry_at), default=None)

    def _ended(self, task: asyncio.Task[None]) -> None:
        """A run that failed as no run can is ours: everything stops, nothing is closed."""
        self._runs.discard(task)
        if not task.cancelled() and (fault := task.exception()) is not None:
            self._fault = fault
            self._stop.set()
