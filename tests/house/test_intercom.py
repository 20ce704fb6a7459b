"""What a stranger sends does not pile up while what was asked before is being done."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast

from extractord.config.settings import Mqtt, Settings
from extractord.core.broker import Came
from extractord.core.events import Event, Heeded, Unheeded
from extractord.core.heard import Heard
from extractord.core.said import segment
from extractord.edges.bus import Line
from extractord.edges.ledger import Ledger
from extractord.house import House
from extractord.intercom.speaking import Speaking

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
MANY, MOST = 5000, 30


class Flooded:
    """A line on which all is there at once, and which then is quiet."""

    longest = None

    def __init__(self) -> None:
        self.acked = 0
        self.is_over = asyncio.Event()

    async def publish(self, *_: Any, **__: Any) -> None:
        """The broker has it."""

    async def subscribe(self, topics: Iterable[str]) -> None:
        """They are heard."""

    async def broken(self) -> None:
        """It never is."""
        await asyncio.Event().wait()

    async def came(self) -> AsyncIterator[Came]:
        topic = f"extractord/v1/{segment('here')}/heard/pause"
        for mid in range(MANY):
            yield Came(topic, b"", False, mid)  # noqa: FBT003 - it was not retained
        await asyncio.Event().wait()

    def ack(self, _: Came) -> None:
        self.acked += 1
        if self.acked == MANY:
            self.is_over.set()


async def test_a_flood_is_let_go_while_one_request_takes_long() -> None:
    done, said, go_on, is_enough = list[Heard](), list[Event | str](), asyncio.Event(), asyncio.Event()

    async def obey(heard: Heard) -> Heeded:
        await go_on.wait()
        done.append(heard)
        if len(done) == MOST:
            is_enough.set()
        return Heeded(at=NOW, word="pause", done=True)

    with Ledger.in_memory() as ledger:
        settings = Settings(mqtt=Mqtt(url="mqtt://127.0.0.1", name="here", hear=True))
        house = SimpleNamespace(settings=settings, ledger=ledger, clock=lambda: NOW)
        speaking = Speaking(cast("House", house), said.append)
        speaking.obey(obey)
        line = Flooded()
        living = asyncio.create_task(speaking._live(cast("Line", line)))
        async with asyncio.timeout(120):
            await line.is_over.wait()
            assert done == []
            go_on.set()
            await is_enough.wait()
        living.cancel()
        await asyncio.gather(living, return_exceptions=True)
    assert [each for each in said if isinstance(each, Unheeded)] != []
