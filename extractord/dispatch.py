"""From windows to runs: the mailbox at work, for the daemon and for a batch alike."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta

from msgspec.structs import replace

from extractord.core.mailbox import Mailbox
from extractord.core.outcomes import CLOSING
from extractord.core.ports import RunRow
from extractord.core.records import Brief, Snapshot, Window
from extractord.house import House

_CLAIMED_WAIT = timedelta(seconds=30)
"""How long until a window that another process has is asked for again."""


class Dispatch:
    """Begins runs as the mailbox lets them, and gives back to it what could not run."""

    def __init__(self, house: House, ended: Callable[[RunRow], None], faulted: Callable[[], None]) -> None:
        """`ended` is called with each run that ended; `faulted` when one failed by our fault, see `fault`."""
        self.house = house
        """In which runs are made now."""
        self._ended = ended
        self._faulted = faulted
        self._mailbox = Mailbox(house.settings.run.concurrency)
        self._taken_up: Mapping[tuple[str, str], str] = {}
        """What waited when it was last looked for, and how it stood."""
        self.running: set[asyncio.Task[None]] = set()
        self.fault: BaseException | None = None

    def offer(self, window: Window, not_before: datetime | None = None, brief: Brief | None = None) -> None:
        """Freeze a window and let it wait; it takes the place of an older one of its session.

        `brief` was kept from a run that was parked.
        """
        self._mailbox.offer(Snapshot(window=window, brief=brief), not_before)

    def due(self, window: Window) -> datetime | None:
        """When the ledger lets all of the window run; one that somebody else has is asked for again."""
        states = self.house.ledger.ranges.states(window.agent, window.session)
        rows = [states[exchange.key] for exchange in window.exchanges if exchange.key in states]
        if any(row.state == "claimed" for row in rows):
            return self.house.clock() + _CLAIMED_WAIT
        return max((row.retry_at for row in rows if row.retry_at), default=None)

    def tell(self) -> None:
        """Report runs whose process was killed before it could."""
        self.house.extraction.accounts.tell(self._ended)

    async def take_up(self) -> None:
        """Offer what other processes left, released or were told to try again."""
        house, now = self.house, self.house.clock()
        accounts = house.extraction.accounts
        if not accounts.reaped(now) and not house.ledger.was_changed():
            return
        self.tell()
        before, self._taken_up = self._taken_up, house.ledger.ranges.open_sessions()
        changed = [each for each, mark in self._taken_up.items() if before.get(each) != mark]
        for agent, session in changed:
            for come in await house.room.reading.again(agent, session, now):
                if isinstance(come, Window):
                    self.offer(come, self.due(come))
        for window, brief in accounts.to_retry() if changed else ():
            self.offer(window, self.due(window), brief)
        self.begin()

    def begin(self) -> None:
        """Begin every run that may be begun now."""
        while self.house.runner.is_ready and (snapshot := self._mailbox.take(self.house.clock())) is not None:
            task = asyncio.create_task(self._run(snapshot))
            self.running.add(task)
            task.add_done_callback(self._done)

    def move(self, house: House) -> None:
        """From now on runs are made in this house; those in flight end in the old one."""
        self.house = house
        self._mailbox.limit(house.settings.run.concurrency)

    def stop(self) -> None:
        """Begin no more; what waits is open in the ledger, and is found at the next start."""
        self._mailbox.stop()

    def pause(self) -> None:
        """Begin no more until `resume`; those in flight go on."""
        self._mailbox.pause(paused=True)

    def resume(self) -> None:
        """Begin runs again."""
        self._mailbox.pause(paused=False)
        self.begin()

    def cancel(self) -> None:
        """End the runs in flight: each gives its claim back."""
        for task in self.running:
            task.cancel()

    async def _run(self, snapshot: Snapshot) -> None:
        row = await self.house.runner.run(snapshot)
        if row is not None:
            self._ended(row)
            self.house.ledger.runs.said(row.run)
        if row is not None and row.outcome in CLOSING:
            self._mailbox.finish(snapshot)
        else:
            again = await self._again(snapshot.window)
            self._mailbox.release(snapshot, Snapshot(window=again), self.due(again))

    async def _again(self, window: Window) -> Window:
        """What is open of the window's session now."""
        states = self.house.ledger.ranges.states(window.agent, window.session)
        closed = {key for key, row in states.items() if row.state in ("closed", "baseline")}
        again = replace(window, exchanges=tuple(each for each in window.exchanges if each.key not in closed))
        for come in await self.house.room.reading.again(window.agent, window.session, self.house.clock()):
            if isinstance(come, Window) and come.project == window.project:
                again = come
        return again

    def _done(self, task: asyncio.Task[None]) -> None:
        """A run that failed as no run can is ours: nothing is closed, and nothing more is begun."""
        self.running.discard(task)
        if not task.cancelled() and (fault := task.exception()) is not None:
            self.fault = fault
            self._faulted()
        self.begin()
