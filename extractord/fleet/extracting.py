"""What an extractor does: windows come in and are kept, are run in order, and become retained memories."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Coroutine
from datetime import datetime, timedelta
from functools import partial

import msgspec
from msgspec.structs import replace

from extractord.core.broker import Broker, Calling, Came
from extractord.core.events import Event, RunFinished
from extractord.core.fleet import Receipt, partition_topic, receipts_topic, sender_of
from extractord.core.outcomes import CLOSING
from extractord.core.ports import RunRow
from extractord.core.records import Brief, Snapshot, Window
from extractord.core.sending import PACKET_BYTES, Refused, id_of, unpack
from extractord.edges.bus import Line, first_to_end, keep
from extractord.edges.ledger import Ledger
from extractord.edges.ledger.fleet import Arrived
from extractord.errors import BusError, ExtractordError
from extractord.fleet import FOR_EVER_S
from extractord.fleet.persons import Persons, PersonsRoom
from extractord.fleet.publishing import Publishing
from extractord.house import House

_AT_ONCE = 100
_TICK_S = 1.0
_PUBLISH_EVERY_S = 0.2
_LATER = timedelta(seconds=30)
_LOOKED_AHEAD = 500
_GAP_WAIT = timedelta(days=1)
"""A window whose predecessor never came runs all the same after so long; at once where nothing more is
taken in: the predecessor may be what is not."""


class Extracting:
    """The windows of some partitions; nothing is lost between a receipt and an outcome."""

    def __init__(self, house: House, partitions: Collection[int], say: Callable[[Event | str], None]) -> None:
        self.house = house
        """As the settings in force want it."""
        self._partitions = partitions
        self._say = say
        self._ledger = Ledger.open(house.settings.state_dir)
        """A connection that waits for the disk: a receipt is a promise."""
        self.name = house.state.identity.id[:16]
        """The volume's."""
        self._persons = Persons(house, say)
        self._news = asyncio.Event()
        self._freed = asyncio.Event()
        self._busy: dict[tuple[str, str], asyncio.Task[None]] = {}
        self._changed: set[str] = set(self._persons.known())
        self._looked = house.clock()
        self._trouble = ""
        self.fault: BaseException | None = None

    @property
    def running(self) -> set[asyncio.Task[None]]:
        """The runs in flight."""
        return set(self._busy.values())

    def move(self, house: House) -> None:
        """From now on runs are made as this house makes them; those in flight end as they began."""
        if house is not self.house:
            self.house = house
            self._persons.move(house)
            self._news.set()

    async def close(self) -> None:
        """Close what stands open."""
        await self._persons.close()
        self._ledger.close()

    async def live(self, broker: Broker) -> None:
        """Keep a line to the broker. The client's id is the volume's, and its session never ends."""
        calling = Calling(
            client=f"extractord-extractor-{self.name}",
            session_s=FOR_EVER_S,
            packet_bytes=PACKET_BYTES,
        )
        await keep(broker, calling, self._live, self._lost)

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

    def _begin(self) -> None:
        free = self.house.settings.run.concurrency - len(self._busy)
        if free <= 0 or self.house.settings.mode == "recall":
            return
        inbox, now = self._ledger.inbox, self.house.clock()
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
        inbox, now = self._ledger.inbox, self.house.clock()
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
                snapshot = Snapshot(window=replace(whole, exchanges=left), offered_at=now)
                row = await room.in_zone(sending.zone).run(snapshot)
                if row is not None and row.outcome in CLOSING:
                    inbox.done(arrived, row.outcome)
                    self._changed.add(arrived.person)
                else:
                    inbox.later(arrived, self._due(room, sending.agent, sending.session))
                self._tell(room)
        except ExtractordError as error:
            self._say(f"{arrived.person}: {error}")
            inbox.later(arrived, now + _LATER)

    async def _run_again(self, person: str, window: Window, brief: Brief) -> None:
        """A parked run that a person wants tried again, from what was kept of it."""
        async with self._persons.room(person) as room:
            snapshot = Snapshot(window=window, offered_at=self.house.clock(), brief=brief)
            await room.extraction.run(snapshot)
            self._tell(room)
            self._changed.add(person)

    def _tell(self, room: PersonsRoom) -> None:
        """Say how each run ended; also one that was killed before it could be said."""

        def told(row: RunRow) -> None:
            head = room.ledger.audit.head()
            self._say(RunFinished(at=self.house.clock(), row=row, person=room.person, audit=head))

        room.extraction.accounts.tell(told)

    async def _look(self, person: str, publishing: Publishing) -> None:
        """What people did to somebody's memories and runs by hand: it is said, and tried again."""
        async with self._persons.room(person) as room:
            self._tell(room)
            await publishing.publish(room)
            for window, brief in room.extraction.accounts.to_retry():
                place = person, window.project.slug
                if place not in self._busy:
                    self._start(place, self._run_again(person, window, brief))

    def _due(self, room: PersonsRoom, agent: str, session: str) -> datetime:
        now = self.house.clock()
        waits = [row.retry_at for row in room.ledger.ranges.states(agent, session).values() if row.retry_at]
        return max(waits, default=now + _LATER)

    async def _live(self, line: Line) -> None:
        publishing = Publishing(line, self._ledger.published, self.name)
        every = self.house.settings.fleet.partitions
        await line.unsubscribe(partition_topic(each) for each in range(every) if each not in self._partitions)
        await line.subscribe([publishing.topic], retained=True)
        await line.subscribe(map(partition_topic, sorted(self._partitions)))
        self._trouble = ""
        self._say("the fleet's broker is there")
        await first_to_end(self._hear(line, publishing), self._publish(publishing))

    async def _hear(self, line: Line, publishing: Publishing) -> None:
        inbox = self._ledger.inbox
        while True:
            batch = await line.batch(_AT_ONCE)
            receipts = self._kept([came for came in batch if not publishing.met(came)])
            for came in batch:
                line.ack(came)
            self._news.set()
            for person, receipt in receipts.items():
                await line.publish(receipts_topic(person), msgspec.json.encode(receipt))
            while inbox.waiting() >= self.house.settings.fleet.inbox:  # the broker keeps the others
                self._freed.clear()
                await self._freed.wait()

    def _kept(self, batch: Collection[Came]) -> dict[str, Receipt]:
        """Keep what came, durably; return the receipts, by person."""
        arrived: list[Arrived] = []
        receipts: dict[str, Receipt] = {}
        for came in batch:
            person = sender_of(came.topic, self.house.settings.fleet.partitions)
            if person is None:
                self._say(f"{came.topic} is nobody's partition: is fleet.partitions the same everywhere?")
                continue
            number, sending = id_of(person, came.payload), unpack(came.payload)
            known = receipts.get(person, Receipt())
            if isinstance(sending, Refused):
                self._say(f"{person}: window {number} is refused: {sending.reason}")
                receipts[person] = replace(known, refused={**known.refused, number: sending.reason})
                continue
            receipts[person] = replace(known, windows=(*known.windows, number))
            arrived.append(
                Arrived(
                    person=person,
                    id=number,
                    slug=sending.slug,
                    forwarder=sending.forwarder,
                    previous=sending.previous,
                    payload=came.payload,
                )
            )
        self._ledger.inbox.put(arrived, self.house.clock())
        return receipts

    async def _publish(self, publishing: Publishing) -> None:
        """Say what changed, of everybody from time to time: people forget memories by hand."""
        if lost := await publishing.begin():
            self._say(f"the broker does not have {lost} topics that it was given: they are said again")
            self._changed.update(self._persons.known())
        while True:
            if self.house.clock() - self._looked > timedelta(seconds=self.house.settings.run.rescan_s):
                self._looked = self.house.clock()
                self._changed.update(self._persons.known())
                self._ledger.inbox.forget(self._looked)
            for person in sorted(self._changed):
                self._changed.discard(person)
                try:
                    await self._look(person, publishing)
                except BusError:
                    self._changed.add(person)
                    raise
                except ExtractordError as error:
                    self._say(f"{person}: {error}")
            await asyncio.sleep(_PUBLISH_EVERY_S)

    def _lost(self, why: str) -> None:
        if why != self._trouble:
            self._say(f"{why}; it is called again, and windows wait there meanwhile")
        self._trouble = why
