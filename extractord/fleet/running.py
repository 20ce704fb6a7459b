"""What an extractor kept is run: in order, and one window at a time in a project."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from datetime import datetime, timedelta
from functools import partial

from msgspec.structs import replace

from extractord.core.events import Event, RunFinished
from extractord.core.outcomes import CLOSING
from extractord.core.ports import RunRow
from extractord.core.records import Brief, Snapshot, Window
from extractord.core.sending import Refused, unpack
from extractord.edges.ledger.fleet import Arrived, Inbox
from extractord.errors import ExtractordError
from extractord.fleet.persons import Persons, PersonsRoom
from extractord.house import House

_TICK_S = 1.0
_LATER = timedelta(seconds=30)
_LOOKED_AHEAD = 500
_GAP_WAIT = timedelta(days=1)
"""A window whose predecessor never came runs all the same after so long; at once where nothing more is
taken in: the predecessor may be what is not."""


class Running:
    """The runs in flight, whose memories they changed, and the fault that ends them all."""

    def __init__(
        self, house: House, inbox: Inbox, persons: Persons, say: Callable[[Event | str], None]
    ) -> None:
        self.house = house
        """As the settings in force want it."""
        self._inbox = inbox
        self._persons = persons
        self._say = say
        self._news = asyncio.Event()
        self._freed = asyncio.Event()
        self._busy: dict[tuple[str, str], asyncio.Task[None]] = {}
        self.changed: set[str] = set(persons.known())
        """Whose memories may not be as they were published."""
        self.fault: BaseException | None = None

    @property
    def tasks(self) -> set[asyncio.Task[None]]:
        """The runs in flight."""
        return set(self._busy.values())

    def move(self, house: House) -> None:
        """From now on runs are made as this house makes them; those in flight end as they began."""
        self.house = house
        self._news.set()

    def come(self) -> None:
        """There may be something new in the inbox."""
        self._news.set()

    async def space(self) -> None:
        """Wait until the inbox takes more in."""
        while self._inbox.waiting() >= self.house.settings.fleet.inbox:
            self._freed.clear()
            await self._freed.wait()

    async def work(self, stop: asyncio.Event, alive: Callable[[], None]) -> None:
        """Run what waits, until `stop`: one window at a time in a project, in order.

        `alive` is told each time round.
        """
        while not stop.is_set() and self.fault is None:
            alive()
            self._news.clear()
            self._begin()
            waiting = [asyncio.create_task(event.wait()) for event in (self._news, stop)]
            await asyncio.wait(waiting, timeout=_TICK_S, return_when=asyncio.FIRST_COMPLETED)
            for task in waiting:
                task.cancel()

    def again(self, person: str, window: Window, brief: Brief) -> None:
        """Begin a parked run that a person wants tried again, from what was kept of it."""
        place = person, window.project.slug
        if place not in self._busy:
            self._start(place, self._run_again(person, window, brief))

    def tell(self, room: PersonsRoom) -> None:
        """Say how each run ended; also one that was killed before it could be said."""

        def told(row: RunRow) -> None:
            head = room.ledger.audit.head()
            self._say(RunFinished(at=self.house.clock(), row=row, person=room.person, audit=head))

        room.extraction.accounts.tell(told)

    def _begin(self) -> None:
        free = self.house.settings.run.concurrency - len(self._busy)
        if free <= 0 or self.house.settings.mode == "recall":
            return
        inbox, now = self._inbox, self.house.clock()
        gap_wait = _GAP_WAIT if inbox.waiting() < self.house.settings.fleet.inbox else timedelta()
        for arrived in inbox.ready(now, _LOOKED_AHEAD, gap_wait):
            place = arrived.person, arrived.slug
            if place not in self._busy:
                self._start(place, self._run(arrived))
                free -= 1
                if not free:
                    return

    def _start(self, place: tuple[str, str], run: Coroutine[object, object, None]) -> None:
        self._busy[place] = task = asyncio.create_task(run)
        task.add_done_callback(partial(self._ended, place))

    def _ended(self, place: tuple[str, str], task: asyncio.Task[None]) -> None:
        del self._busy[place]
        if not task.cancelled() and (fault := task.exception()) is not None:
            self.fault = fault
        self._news.set()
        self._freed.set()

    async def _run(self, arrived: Arrived) -> None:
        inbox, now = self._inbox, self.house.clock()
        sending = unpack(arrived.payload)
        if isinstance(sending, Refused):
            inbox.done(arrived, f"refused: {sending.reason}")
            return
        try:
            async with self._persons.room(arrived.person) as room:
                states = room.ledger.ranges.states(sending.agent, sending.session)
                closed = {key for key, row in states.items() if row.state == "closed"}
                whole = sending.window
                left = tuple(each for each in whole.exchanges if each.key not in closed)
                if not left:
                    inbox.done(arrived, "already run")
                    return
                snapshot = Snapshot(window=replace(whole, exchanges=left))
                row = await room.in_zone(sending.zone).run(snapshot)
                if row is not None and row.outcome in CLOSING:
                    inbox.done(arrived, row.outcome)
                    self.changed.add(arrived.person)
                else:
                    inbox.later(arrived, self._due(room, sending.agent, sending.session))
                self.tell(room)
        except ExtractordError as error:
            self._say(f"{arrived.person}: {error}")
            inbox.later(arrived, now + _LATER)

    async def _run_again(self, person: str, window: Window, brief: Brief) -> None:
        async with self._persons.room(person) as room:
            await room.extraction.run(Snapshot(window=window, brief=brief))
            self.tell(room)
            self.changed.add(person)

    def _due(self, room: PersonsRoom, agent: str, session: str) -> datetime:
        now = self.house.clock()
        waits = [row.retry_at for row in room.ledger.ranges.states(agent, session).values() if row.retry_at]
        return max(waits, default=now + _LATER)
