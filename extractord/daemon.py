"""The daemon's life: watch, offer, run; an orderly stop, and a second signal that does not wait."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext

from extractord.config import Settings
from extractord.core.events import RunFinished
from extractord.core.ports import RunRow
from extractord.dispatch import Dispatch
from extractord.edges.signals import Signals, drained, first_of, signalled
from extractord.fleet import Played
from extractord.following import Outside, reread
from extractord.heartbeat import Heartbeat
from extractord.heeding import Heeding
from extractord.house import House, opened
from extractord.intercom import Intercom, intercom
from extractord.intercom.obeying import Obeying
from extractord.rounds import Round


async def serve(settings: Settings, outside: Outside, played: Played | None = None) -> None:
    """Given the settings, serve until SIGTERM or SIGINT. Raise AlreadyRunning and whatever opening raises."""
    with signalled() as signals:
        async with (
            opened(settings, serving=True, warn=outside.say) as alone,
            intercom(alone, outside.say) as bus,
            played(alone, bus.say) if played else nullcontext(alone) as house,
        ):
            daemon = Daemon(house, outside, bus, signals)
            await daemon.startup()
            await daemon.main_loop()
            await daemon.shutdown()


class Daemon:
    """What happens while the house is open."""

    def __init__(self, house: House, outside: Outside, bus: Intercom, signals: Signals) -> None:
        self._house = house
        self._outside = outside
        self._say = bus.say
        self._signals = signals
        self._fault: BaseException | None = None
        self._dispatch = Dispatch(house, self._run_ended, signals.stop.set)
        self._heeding = Heeding(house.writer, house.settings, self._say, house.clock)
        self._heart = Heartbeat(outside.notify, house.settings.budget.run_s, self._say)
        self._round = self._next()
        bus.obey(Obeying(self._dispatch, bus.stand))

    async def startup(self) -> None:
        """What is there before the first start is noted and not read; what people wrote is noticed."""
        self._dispatch.tell()
        await self._round.begin()

    async def main_loop(self) -> None:
        """Watch, offer and run until a signal comes, or until one of them cannot go on."""
        beating = asyncio.create_task(self._heart.beat(self._signals.stop))
        while not self._signals.stop.is_set():
            parts = (self._round.watch(), self._round.tick(), self._listen())
            tasks = [asyncio.create_task(part) for part in parts]
            await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
            self._round.over.set()
            for ended in await asyncio.gather(*tasks, return_exceptions=True):
                self._fault = self._fault or ended
            if self._fault is not None:
                self._signals.stop.set()
            if not self._signals.stop.is_set():
                self._round = self._next()
                await self._round.begin()
        await beating

    async def shutdown(self) -> None:
        """Let runs in flight end within `drain_s`, or until the second signal; then end them."""
        self._dispatch.stop()
        drain_s = self._house.settings.run.drain_s
        self._heart.stopping(len(self._dispatch.running))
        if running := self._dispatch.running:
            self._say(f"stopping: {len(running)} in flight may end within {drain_s:g} s")
            await drained(running, drain_s, self._signals.at_once)
        self._dispatch.cancel()
        await asyncio.gather(*self._dispatch.running, return_exceptions=True)
        self._say("stopped")
        if (fault := self._fault or self._dispatch.fault) is not None:
            raise fault

    async def _listen(self) -> None:
        """Until a signal ends this round: the one to stop, or SIGHUP where that changes something."""
        over, hang_up = self._round.over, self._signals.reread
        while not over.is_set():
            await first_of(over, self._signals.stop, hang_up)
            if self._signals.stop.is_set():
                over.set()
            elif hang_up.is_set():
                hang_up.clear()
                if not self._follow():
                    self._heart.stayed()
                else:
                    over.set()

    def _follow(self) -> bool:
        """Reread the settings; True where something changed."""
        self._heart.reloading()
        before, self._house = self._house, reread(self._house, self._outside)
        if self._house is before:
            return False
        self._dispatch.move(self._house)
        self._heeding.follow(self._house.settings)
        self._heart.follow(self._house.settings.budget.run_s)
        return True

    def _next(self) -> Round:
        return Round(self._house, self._dispatch, self._heeding, self._heart, self._say)

    def _run_ended(self, row: RunRow) -> None:
        head = self._house.ledger.audit.head()
        self._say(RunFinished(at=self._house.clock(), row=row, audit=head))
        self._heart.ran(row)
