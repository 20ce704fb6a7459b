"""What the daemon says to the broker, and what it hears from it; a broker that is away stops only this."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from extractord.config.broker import broker_of
from extractord.core.events import Event, Heeded
from extractord.core.heard import Heard
from extractord.core.said import Standing
from extractord.house import House

Say = Callable[[Event | str], None]
Obey = Callable[[Heard], Awaitable[Heeded]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Intercom:
    """Who is told of what happens, and who asks for something."""

    say: Say
    """Told of every event and sentence; the broker, where there is one, of the events."""
    stand: Callable[[Standing], None]
    """Told what the daemon is from now on."""
    obey: Callable[[Obey], None]
    """Given what does that which is heard, from now on."""


@asynccontextmanager
async def intercom(house: House, say: Say) -> AsyncIterator[Intercom]:
    """Given the open house and whom to tell, yield what tells the broker too, where [mqtt] wants it.

    At the end what waits is said, and good-bye. Raise ConfigError where [mqtt] cannot be used.
    """
    mqtt = house.settings.mqtt
    broker = broker_of(mqtt)
    if broker is None or not mqtt.say:
        yield Intercom(say=say, stand=_ignore, obey=_ignore)
        return
    from extractord.intercom.speaking import speaking  # noqa: PLC0415 - 4 MB for who has a broker

    async with speaking(house, say, broker) as line:
        yield Intercom(say=line.say, stand=line.stand, obey=line.obey)


def _ignore(_: object) -> None:
    """Without a broker nobody is told, and nobody asks."""
