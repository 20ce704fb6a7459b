"""The signals that ask this process to end."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def signalled(stop: asyncio.Event, at_once: asyncio.Event) -> Iterator[None]:
    """The first SIGTERM or SIGINT sets `stop`, every other one `at_once`, until the block ends."""
    loop = asyncio.get_running_loop()

    def came() -> None:
        (at_once if stop.is_set() else stop).set()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, came)
    try:
        yield
    finally:
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)
