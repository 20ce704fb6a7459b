"""`run --role extractor` and `run --role mirror`, from opening to an orderly end."""

from __future__ import annotations

import asyncio
import contextlib
import platform
import tempfile
from collections.abc import AsyncIterator, Callable, Collection, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path

from extractord.config import Settings
from extractord.core.events import Heeded
from extractord.core.fleet import Claim
from extractord.core.heard import Heard
from extractord.core.said import segment
from extractord.edges.signals import Signals, drained, first_of, signalled
from extractord.edges.state import State
from extractord.edges.store import Writer
from extractord.errors import ConfigError
from extractord.fleet import broker_for, person_of
from extractord.fleet.claiming import Claiming
from extractord.fleet.extracting import Extracting
from extractord.fleet.forwarding import forwarding
from extractord.fleet.mirroring import Mirroring
from extractord.fleet.persons import check_persons
from extractord.following import Outside, only_read, reread
from extractord.house import House, opened
from extractord.intercom import Say, intercom
from extractord.storeroom import another_store, confined, storeroom

Part = Coroutine[object, object, None]
_BEAT_S = 1.0


def partitions_in(text: str, every: int) -> frozenset[int]:
    """Given `0-7`, `3` or `0-3,8`, return the partitions. Raise ConfigError for what is none of `every`."""
    found: set[int] = set()
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()):
            raise ConfigError(f"--partitions {text}: give numbers from 0 to {every - 1}, like 0-7 or 0,3")
        found.update(range(min(int(first), every), min(int(last or first), every) + 1))
    if not found or max(found) >= every:
        raise ConfigError(f"--partitions {text}: `fleet.partitions` is {every}, so 0 to {every - 1}")
    return frozenset(found)


async def serve_extractor(settings: Settings, outside: Outside, partitions: Collection[int]) -> None:
    """Run the windows of these partitions until SIGTERM; those in flight end within `drain_s`."""
    broker = broker_for(settings)
    with signalled() as signals:
        async with (
            opened(settings, serving=True, warn=outside.say) as house,
            intercom(house, outside.say) as bus,
        ):
            check_persons(settings, partitions)
            extracting = Extracting(house, partitions, bus.say)
            running = extracting.running
            claim = Claim(
                name=segment(settings.mqtt.name or platform.node()),
                partitions=frozenset(partitions),
                since=house.clock(),
            )
            claiming = Claiming(extracting.name, claim, bus.say)
            calling = asyncio.create_task(claiming.live(broker, lambda: extracting.live(broker)))
            numbers = ", ".join(map(str, sorted(partitions)))
            outside.say(f"extracting partitions {numbers} of {settings.fleet.partitions}")
            bus.obey(partial(_disobeyed, house))

            def follow() -> None:
                extracting.move(reread(extracting.house, outside))

            attending = _attending(signals, outside, f"extracting {len(partitions)} partitions", follow)
            try:
                await _until(attending, calling, running.work(signals.stop, outside.notify.alive))
                await drained(running.tasks, running.house.settings.run.drain_s, signals.at_once)
            finally:
                calling.cancel()
                for run in running.tasks:
                    run.cancel()
                await asyncio.gather(calling, *running.tasks, return_exceptions=True)
                await extracting.close()
            outside.say("stopped")
            if running.fault is not None:
                raise running.fault


async def serve_mirror(settings: Settings, outside: Outside) -> None:
    """Keep the copy until SIGTERM."""
    broker, tmp = broker_for(settings), tempfile.gettempdir()
    with signalled() as signals, storeroom(settings, outside.say, serving=True) as room:
        kept = [settings.memory_dir, settings.state_dir]
        level = confined(settings, Path(tmp), kept, broker_port=broker.port)
        writer = Writer(partial(another_store, settings, room.state, confinement=level))
        try:
            async with mirroring(room.state, writer, settings, outside.say) as living:

                def look() -> None:
                    for sentence in only_read(settings, outside.load):
                        outside.say(sentence)

                attending = _attending(signals, outside, "mirroring", look)
                await _until(attending, living, _beating(signals, outside.notify.alive))
        finally:
            await writer.close()
        outside.say("stopped")


@asynccontextmanager
async def played(roles: Collection[str], house: House, say: Say) -> AsyncIterator[House]:
    """Given a workstation's roles and the open house, yield the house that plays them."""
    async with AsyncExitStack() as stack:
        if "mirror" in roles:
            await stack.enter_async_context(mirroring(house.state, house.writer, house.settings, say))
        yield await stack.enter_async_context(forwarding(house, say)) if "forwarder" in roles else house


@asynccontextmanager
async def mirroring(
    state: State, writer: Writer, settings: Settings, say: Say
) -> AsyncIterator[asyncio.Task[None]]:
    """Keep the copy in the block. Raise ConfigError for no broker, no person, or memories of one's own."""
    client = f"extractord-mirror-{state.identity.id[:16]}"
    mirror = Mirroring(writer, person_of(settings), client, settings.run.rescan_s, say)
    await mirror.begin()
    living = asyncio.create_task(mirror.live(broker_for(settings)))
    try:
        yield living
    finally:
        living.cancel()
        await asyncio.gather(living, return_exceptions=True)


async def _until(attending: Part, calling: asyncio.Task[None], part: Part) -> None:
    """Do this until it ends or a signal comes; what goes wrong in `calling` is raised."""
    working, asked = asyncio.create_task(part), asyncio.create_task(attending)
    await asyncio.wait({working, calling, asked}, return_when=asyncio.FIRST_COMPLETED)
    asked.cancel()
    await asyncio.gather(asked, return_exceptions=True)
    await working
    if calling.done():
        calling.result()


async def _attending(signals: Signals, outside: Outside, status: str, look_again: Callable[[], None]) -> None:
    """Ready, until a signal asks to stop; at SIGHUP the configuration is looked at again."""
    try:
        outside.notify.ready(status)
        while not signals.stop.is_set():
            await first_of(signals.stop, signals.reread)
            if signals.reread.is_set():
                signals.reread.clear()
                outside.notify.reloading()
                look_again()
                outside.notify.ready(status)
    finally:
        signals.stop.set()
        outside.notify.stopping("stopping")


async def _disobeyed(house: House, heard: Heard) -> Heeded:
    reason = "an extractor does as its signals say, and obeys nobody on the bus"
    word = str(heard.__struct_config__.tag)
    return Heeded(at=house.clock(), word=word, done=False, reason=reason)


async def _beating(signals: Signals, alive: Callable[[], None]) -> None:
    """Until a signal comes, tell whoever supervises that it goes on."""
    while not signals.stop.is_set():
        alive()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(signals.stop.wait(), _BEAT_S)
