"""An extractor's line to the broker: windows come in and are kept, memories go out and are retained."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from datetime import timedelta

import msgspec
from msgspec.structs import replace

from extractord.core.broker import Broker, Calling, Came
from extractord.core.events import Event
from extractord.core.fleet import Receipt, partition_topic, receipts_topic, sender_of
from extractord.core.sending import PACKET_BYTES, Refused, id_of, unpack
from extractord.edges.bus import Line, first_to_end, keep
from extractord.edges.ledger import Ledger
from extractord.edges.ledger.fleet import Arrived
from extractord.errors import BusError, ExtractordError
from extractord.fleet import FOR_EVER_S
from extractord.fleet.persons import Persons
from extractord.fleet.publishing import Publishing
from extractord.fleet.running import Running
from extractord.house import House

_AT_ONCE = 100
_PUBLISH_EVERY_S = 0.2


class Extracting:
    """The windows of some partitions; nothing is lost between a receipt and an outcome."""

    def __init__(self, house: House, partitions: Collection[int], say: Callable[[Event | str], None]) -> None:
        self._partitions = partitions
        self._say = say
        self._ledger = Ledger.open(house.settings.state_dir)
        """A connection that waits for the disk: a receipt is a promise."""
        self.name = house.state.identity.id[:16]
        """The volume's."""
        self._persons = Persons(house, say)
        self.running = Running(house, self._ledger.inbox, self._persons, say)
        self._looked = house.clock()
        self._trouble = ""

    @property
    def house(self) -> House:
        """As the settings in force want it."""
        return self.running.house

    def move(self, house: House) -> None:
        """From now on runs are made as this house makes them; those in flight end as they began."""
        if house is not self.house:
            self._persons.move(house)
            self.running.move(house)

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

    async def _look(self, person: str, publishing: Publishing) -> None:
        """What people did to somebody's memories and runs by hand: it is said, and tried again."""
        async with self._persons.room(person) as room:
            self.running.tell(room)
            await publishing.publish(room)
            for window, brief in room.extraction.accounts.to_retry():
                self.running.again(person, window, brief)

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
        while True:
            batch = await line.batch(_AT_ONCE)
            receipts = self._kept([came for came in batch if not publishing.met(came)])
            for came in batch:
                line.ack(came)
            self.running.come()
            for person, receipt in receipts.items():
                await line.publish(receipts_topic(person), msgspec.json.encode(receipt))
            await self.running.space()  # the broker keeps the others

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
            self.running.changed.update(self._persons.known())
        while True:
            if self.house.clock() - self._looked > timedelta(seconds=self.house.settings.run.rescan_s):
                self._looked = self.house.clock()
                self.running.changed.update(self._persons.known())
                self._ledger.inbox.forget(self._looked)
            for person in sorted(self.running.changed):
                self.running.changed.discard(person)
                try:
                    await self._look(person, publishing)
                except BusError:
                    self.running.changed.add(person)
                    raise
                except ExtractordError as error:
                    self._say(f"{person}: {error}")
            await asyncio.sleep(_PUBLISH_EVERY_S)

    def _lost(self, why: str) -> None:
        if why != self._trouble:
            self._say(f"{why}; reconnecting, and windows wait at the broker meanwhile")
        self._trouble = why
