"""Each partition is one extractor's: of two that were given the same one, the later gives way."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine
from datetime import datetime

import msgspec

from extractord.core.broker import Broker, Calling, Came, Will
from extractord.core.events import Event
from extractord.core.fleet import Claim, claim_topic, claims_topics, is_claim_topic, said
from extractord.edges.bus import Line, first_to_end, keep
from extractord.errors import BusError, ConfigError


class Claiming:
    """Says on a line of its own whose these partitions are, as long as it lives; hears who else says so.

    The broker retains the claim, and takes it back (last will) when it has lost the line.
    """

    def __init__(self, name: str, claim: Claim, say: Callable[[Event | str], None]) -> None:
        """`name` is the volume's, `claim` what is said."""
        self._name = name
        self._claim = claim
        self._topic = claim_topic(name)
        self._say = say
        self._told: set[str] = set()
        self._granted = asyncio.Event()

    async def live(self, broker: Broker, extract: Callable[[], Coroutine[object, object, None]]) -> None:
        """Claim, and begin to `extract` when nobody else does; both end together.

        Raise ConfigError where another extractor, which began earlier, has one of the partitions.
        """
        calling = Calling(client=f"extractord-claim-{self._name}", will=Will(topic=self._topic, payload=b""))
        await first_to_end(keep(broker, calling, self._live, self._lost), self._when_granted(extract))

    async def _when_granted(self, extract: Callable[[], Coroutine[object, object, None]]) -> None:
        await self._granted.wait()
        await extract()

    async def _live(self, line: Line) -> None:
        self._told.clear()
        claim = msgspec.json.encode(self._claim)
        await line.publish(self._topic, claim, retain=True)
        await line.subscribe([claims_topics()], retained=True)
        await line.publish(self._topic, claim, retain=True)  # it comes back after all that was retained
        try:
            async for came in line.came():
                line.ack(came)
                self._hear(came)
        finally:
            with contextlib.suppress(BusError):
                await line.publish(self._topic, b"", retain=True)

    def _hear(self, came: Came) -> None:
        if came.topic == self._topic:
            if not came.is_retained:
                self._granted.set()
            return
        other = said(came.payload, Claim) if is_claim_topic(came.topic) else None
        both = self._claim.partitions & other.partitions if other else frozenset[int]()
        if other is None or not both:
            return
        numbers = ", ".join(map(str, sorted(both)))
        if _order(other, came.topic) < _order(self._claim, self._topic):
            raise ConfigError(
                f"--partitions: {numbers} of these {'is' if len(both) == 1 else 'are'} the extractor"
                f" {other.name}'s, which began {other.since:%Y-%m-%d %H:%M:%S%z}: give each partition to one"
                f" extractor (to move one see docs/fleet.md). If that one is gone for good, clear its claim:"
                f" `mosquitto_pub -r -n -t {came.topic}`, with your broker's address, name and password"
            )
        self._tell(f"the extractor {other.name} was given partitions of these too ({numbers}), and gives way")

    def _lost(self, why: str) -> None:
        self._tell(f"{why}; reconnecting, to say whose the partitions are")

    def _tell(self, what: str) -> None:
        """Once, until the line is another."""
        if what not in self._told:
            self._told.add(what)
            self._say(what)


def _order(claim: Claim, topic: str) -> tuple[datetime, str]:
    """Who began earlier; at the same moment the topic decides, for both alike."""
    return claim.since, topic
