"""Each person's own memory and ledger on an extractor: opened when needed, the last 64 kept open."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from functools import partial
from pathlib import Path

from msgspec.structs import replace as with_

from extractord.config.settings import Memory, Settings
from extractord.core.fleet import is_person, partition_of
from extractord.edges.ledger import Ledger
from extractord.edges.store import Writer
from extractord.errors import ConfigError
from extractord.extraction import Extraction
from extractord.house import House, extraction_of
from extractord.storeroom import another_store, storeroom

_OPEN = 64
_NAMED = 3
_FOLDER = "persons"


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonsRoom:
    """What stands open of one person."""

    person: str
    ledger: Ledger
    writer: Writer
    extraction: Extraction
    closing: AsyncExitStack

    def in_zone(self, zone: tzinfo) -> Extraction:
        """What makes this person's runs by the person's own clock."""
        clock = self.extraction.clock

        def local() -> datetime:
            return clock().astimezone(zone)

        return replace(self.extraction, clock=local, briefing=replace(self.extraction.briefing, clock=local))


class Persons:
    """The rooms of an extractor's persons."""

    def __init__(self, house: House, warn: Callable[[str], None]) -> None:
        self._house = house
        self._warn = warn
        self._rooms: OrderedDict[str, PersonsRoom] = OrderedDict()
        self._used: Counter[str] = Counter()

    def known(self) -> tuple[str, ...]:
        """Everybody who has a ledger here."""
        return known_in(self._house.settings)

    def move(self, house: House) -> None:
        """From now on each person's runs are made as this house makes them."""
        self._house = house
        for person, room in self._rooms.items():
            extraction = extraction_of(
                of_person(house.settings, person), room.ledger, room.writer, house.means
            )
            self._rooms[person] = replace(room, extraction=extraction)

    async def close(self) -> None:
        """Close every room."""
        while self._rooms:
            _, room = self._rooms.popitem()
            await room.closing.aclose()

    @asynccontextmanager
    async def room(self, person: str) -> AsyncIterator[PersonsRoom]:
        """Yield a person's room; it stays open while somebody is in it."""
        room = self._rooms.pop(person, None) or self._opened(person)
        self._rooms[person] = room
        self._used[person] += 1
        try:
            yield room
        finally:
            self._used[person] -= 1
            idle = [each for each in self._rooms if not self._used[each]]
            for each in idle[: max(len(self._rooms) - _OPEN, 0)]:
                await self._rooms.pop(each).closing.aclose()

    def _opened(self, person: str) -> PersonsRoom:
        settings = of_person(self._house.settings, person)
        for place in (settings.memory_dir, settings.state_dir):
            place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        stack = AsyncExitStack()
        opened = stack.enter_context(storeroom(settings, self._warn))
        opened.ledger.hurry()
        level = self._house.means.level
        opened.ledger.confined(level)
        writer = Writer(partial(another_store, settings, opened.state, confinement=level))
        stack.push_async_callback(writer.close)
        extraction = extraction_of(settings, opened.ledger, writer, self._house.means)
        extraction.accounts.reaped(self._house.clock())
        return PersonsRoom(
            person=person, ledger=opened.ledger, writer=writer, extraction=extraction, closing=stack
        )


def known_in(settings: Settings) -> tuple[str, ...]:
    """Given an extractor's settings, return everybody who has a ledger there."""
    folder = settings.state_dir / _FOLDER
    return tuple(sorted(each.name for each in folder.glob("*") if is_person(each.name)))


def check_persons(settings: Settings, partitions: Collection[int]) -> None:
    """Raise ConfigError where persons of other partitions are on this volume.

    Two extractors with a copy each would say what is retained of them in turn, and mirrors forget.
    """
    every = settings.fleet.partitions
    places = {person: partition_of(person, every) for person in known_in(settings)}
    strangers = [f"{person} is of partition {p}" for person, p in places.items() if p not in partitions]
    if strangers:
        more = f", and {len(strangers) - _NAMED} more" if len(strangers) > _NAMED else ""
        raise ConfigError(
            f"this volume has others' memories ({', '.join(strangers[:_NAMED])}{more}): is it the volume of"
            f" another extractor, is `fleet.partitions` still {every}? To move a person see docs/fleet.md"
        )


def of_person(settings: Settings, person: str) -> Settings:
    """Given an extractor's settings, return those with which any command works on one person's memory."""
    memory: Path = settings.memory_dir / _FOLDER / person
    return with_(settings, memory=Memory(dir=str(memory)), state_dir=settings.state_dir / _FOLDER / person)
