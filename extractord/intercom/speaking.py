"""The daemon's line to the broker: events that wait in the ledger, the status, and what is heard."""

from __future__ import annotations

import asyncio
import platform
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from msgspec.structs import replace

from extractord import __version__
from extractord.core.broker import Broker, Calling, Will
from extractord.core.events import Event
from extractord.core.heard import Heard, Unusable
from extractord.core.said import (
    LAST_WILL,
    Standing,
    Status,
    encoded,
    heard_topics,
    said_topic,
    segment,
    status_topic,
)
from extractord.edges.bus import Line, first_to_end, keep
from extractord.house import House
from extractord.intercom import Obey, Say
from extractord.intercom.sieve import Sieve

_AT_ONCE = 50
_ASKED = 30
"""So many requests wait at most for the one that is being done."""
_FAREWELL_S = 5.0


@asynccontextmanager
async def speaking(house: House, say: Say, broker: Broker) -> AsyncIterator[Speaking]:
    """Given the open house, whom to tell and a broker, yield what tells that too.

    At the end what waits is said, and good-bye; for at most 5 s.
    """
    made = Speaking(house, say)
    living = asyncio.create_task(made.live(broker))
    try:
        yield made
    finally:
        made.leave()
        if made.is_on_line:
            await asyncio.wait({living}, timeout=_FAREWELL_S)
        living.cancel()
        await asyncio.gather(living, return_exceptions=True)


class Speaking:
    """Tells every event to whoever was to be told, and to the broker; does what is heard."""

    def __init__(self, house: House, say: Say) -> None:
        """`say` is told of events and sentences first, whatever becomes of the broker."""
        self._house = house
        self._say = say
        self._name = segment(house.settings.mqtt.name or platform.node())
        self._status = Status(state="online", at=house.clock(), version=__version__)
        self._news = asyncio.Event()
        self._obey: Obey | None = None
        self._sieve = Sieve(house.clock, self.say)
        self._troubles: set[str] = set()
        self.is_on_line = False

    def say(self, event: Event | str) -> None:
        """Tell of an event; sentences for a person stay here."""
        self._say(event)
        if isinstance(event, str):
            return
        bound = self._house.settings.mqtt.outbox
        self._house.ledger.outbox.put(
            said_topic(self._name, event), encoded(event), self._house.clock(), bound
        )
        self._news.set()

    def stand(self, state: Standing) -> None:
        """The status is this from now on."""
        self._status = Status(state=state, at=self._house.clock(), version=__version__)
        self._news.set()

    def obey(self, obey: Obey) -> None:
        """From now on `obey` does what is heard."""
        self._obey = obey

    def leave(self) -> None:
        """Say what waits, and good-bye: `live` returns then."""
        self._obey = None
        self.stand("offline")

    async def live(self, broker: Broker) -> None:
        """Keep a line to the broker until `leave`."""
        calling = Calling(
            client=f"extractord-{self._house.state.identity.id[:16]}",
            will=Will(topic=status_topic(self._name), payload=encoded(LAST_WILL)),
        )
        await keep(broker, calling, self._live, self._lost)

    async def _live(self, line: Line) -> None:
        self.is_on_line = True
        parts = [self._speak(line), line.broken()]
        if self._house.settings.mqtt.hear:
            await line.subscribe([heard_topics(self._name)])
            asked: asyncio.Queue[Heard] = asyncio.Queue(_ASKED)
            parts += [self._hear(line, asked), self._do(asked)]
        await first_to_end(*parts)

    async def _speak(self, line: Line) -> None:
        """Events in order, the status whenever it changes; the last word is `offline`."""
        said: Status | None = None
        outbox = self._house.ledger.outbox
        while True:
            self._news.clear()
            status, waiting = self._status, outbox.oldest(_AT_ONCE)
            is_last = status.state == "offline"
            if status != said and not (is_last and waiting):
                counted = replace(status, waiting=outbox.waiting(), dropped=outbox.dropped())
                await line.publish(status_topic(self._name), encoded(counted), retain=True)
                if said is None:
                    self._say("the broker is there")
                    self._troubles.clear()
                said = status
            if waiting:
                answers = [line.publish(each.topic, each.payload) for each in waiting]
                results = await asyncio.gather(*answers, return_exceptions=True)
                outbox.said(each.id for each, result in zip(waiting, results, strict=True) if result is None)
                for result in results:
                    if result is not None:
                        raise result
            elif is_last:
                return
            else:
                await self._news.wait()

    async def _hear(self, line: Line, asked: asyncio.Queue[Heard]) -> None:
        """Let nothing pile up that a stranger sends, however long it takes to do what was asked before."""
        async for came in line.came():
            line.ack(came)
            heard = self._sieve.sifted(came, is_full=asked.full())
            if not isinstance(heard, Unusable):
                asked.put_nowait(heard)

    async def _do(self, asked: asyncio.Queue[Heard]) -> None:
        """What was asked, one after the other."""
        while True:
            heard = await asked.get()
            if self._obey is not None:
                self.say(await self._obey(heard))

    def _lost(self, why: str) -> None:
        self.is_on_line = False
        if why not in self._troubles:
            self._say(f"{why}; reconnecting, and events wait meanwhile")
        self._troubles.add(why)
