"""A person's memories as the broker retains them: what changed is said, what was forgotten is taken back."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import msgspec

from extractord.core.broker import Came
from extractord.core.digesting import digest
from extractord.core.fleet import (
    FLEET,
    Generation,
    Roots,
    generation_topic,
    memory_topic,
    roots_topic,
    said,
)
from extractord.edges.bus import Line
from extractord.edges.ledger.fleet import Published
from extractord.edges.store import Store
from extractord.errors import StoreError
from extractord.fleet.persons import PersonsRoom

_HEARD_S = 5.0
_AT_ONCE = 50


class Publishing:
    """Over one line: what the broker should have, and what it was given."""

    def __init__(self, line: Line, published: Published, extractor: str) -> None:
        self._line = line
        self._published = published
        self._topic = generation_topic(extractor)
        self._word: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    @property
    def topic(self) -> str:
        """Where the generation is retained."""
        return self._topic

    def met(self, came: Came) -> bool:
        """True for our own retained word, and for what we say on that topic ourselves: no window."""
        if came.topic == self._topic and came.is_retained and not self._word.done():
            self._word.set_result(came.payload)
        return came.topic == self._topic

    async def begin(self) -> int:
        """Find out what the broker still knows; return how many topics have to be said again."""
        try:
            async with asyncio.timeout(_HEARD_S):
                known = said(await self._word, Generation)
        except TimeoutError:
            known = None
        return self._published.lost(known.number if known is not None else 0)

    async def publish(self, room: PersonsRoom) -> int:
        """Say what changed of a person's memories; return how many topics that were. Raise BusError."""
        wanted = await room.writer.look(_wanted, room.person)
        before = {
            topic: sha256
            for kind in ("memories", "roots")
            for topic, sha256 in self._published.below(f"{FLEET}/{kind}/{room.person}/").items()
        }
        changed = {
            topic: payload for topic, payload in wanted.items() if before.get(topic) != digest(payload)
        }
        gone = [topic for topic, known in before.items() if topic not in wanted and known is not None]
        told: Mapping[str, bytes] = {**changed, **dict.fromkeys(gone, b"")}
        topics = sorted(told, key=lambda topic: topic.startswith(f"{FLEET}/roots/"))
        for start in range(0, len(topics), _AT_ONCE):
            await self._say(topics[start : start + _AT_ONCE], told)
        return len(topics)

    async def _say(self, topics: list[str], told: Mapping[str, bytes]) -> None:
        answers = [self._line.publish(topic, told[topic], retain=True) for topic in topics]
        for result in await asyncio.gather(*answers, return_exceptions=True):
            if isinstance(result, BaseException):
                raise result
        number = self._published.note(
            {topic: digest(told[topic]) if told[topic] else None for topic in topics}
        )
        await self._line.publish(self._topic, msgspec.json.encode(Generation(number=number)), retain=True)


def _wanted(store: Store, person: str) -> dict[str, bytes]:
    """Every topic of the person with what should be there: what an index would show, and lists of it."""
    wanted: dict[str, bytes] = {}
    for root in store.names():
        shown = []
        for row in store.survey(root):
            if row.fault or row.withheld:
                continue
            try:
                raw = store.roots.raw(root, row.path)
            except StoreError:
                continue
            if raw is not None:
                shown.append(row.path)
                wanted[memory_topic(person, root, row.path)] = raw
        wanted[roots_topic(person, root)] = msgspec.json.encode(Roots(paths=tuple(shown)))
    return wanted
