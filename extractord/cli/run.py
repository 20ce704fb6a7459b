"""`run`: the daemon, in the foreground."""

from __future__ import annotations

import asyncio
import sys

from extractord.config import load_settings
from extractord.core.events import Event
from extractord.core.logline import logline
from extractord.daemon import serve
from extractord.house import now


def run() -> None:
    """Watch the agents' transcripts and remember what is worth it, until SIGTERM or Ctrl-C.

    The log goes to standard error, a line an event. A second signal does not wait for runs in
    flight.
    """
    asyncio.run(serve(load_settings(), _say))


def _say(event: Event | str) -> None:
    sys.stderr.write(f"time={now().isoformat(timespec='milliseconds')} {logline(event)}\n")
    sys.stderr.flush()
