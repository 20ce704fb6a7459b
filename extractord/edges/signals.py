"""The signals that ask this process to end, or to reread its configuration."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Signals:
    """What was asked of this process so far."""

    stop: asyncio.Event = field(default_factory=asyncio.Event)
    at_once: asyncio.Event = field(default_factory=asyncio.Event)
    reread: asyncio.Event = field(default_factory=asyncio.Event)


@contextmanager
def signalled() -> Iterator[Signals]:
    """The first SIGTERM or SIGINT sets `stop`, every other one `at_once`, SIGHUP `reread`, in the block.

    Afterwards they change nothing any more: the process is about to end, and how is settled.
    """
    loop, asked = asyncio.get_running_loop(), Signals()

    def end() -> None:
        (asked.at_once if asked.stop.is_set() else asked.stop).set()

    answers = {signal.SIGTERM: end, signal.SIGINT: end, signal.SIGHUP: asked.reread.set}
    for number, answer in answers.items():
        loop.add_signal_handler(number, answer)
    try:
        yield asked
    finally:
        for number in answers:
            loop.remove_signal_handler(number)
            signal.signal(number, signal.SIG_IGN)


async def drained(running: Collection[asyncio.Task[None]], seconds: float, at_once: asyncio.Event) -> None:
    """Wait until all of it has ended, at most so long, and no longer than until the event is set."""
    if not running:
        return
    ends = {asyncio.create_task(asyncio.wait(running)), asyncio.create_task(at_once.wait())}
    await asyncio.wait(ends, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    for end in ends:
        end.cancel()


async def first_of(*events: asyncio.Event) -> None:
    """Wait until one of the events is set."""
    waiting = [asyncio.create_task(event.wait()) for event in events]
    try:
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in waiting:
            task.cancel()
