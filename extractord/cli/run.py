"""`run`: the daemon, in the foreground."""

from __future__ import annotations

import asyncio
import sys

from extractord.config import Settings, load_settings, platform_surroundings
from extractord.core.events import Event
from extractord.core.logline import jsonline, logline
from extractord.daemon import serve
from extractord.edges.notify import Notify
from extractord.following import Outside
from extractord.house import now


def run() -> None:
    """Watch the agents' transcripts and remember what is worth it, until SIGTERM or Ctrl-C.

    The log goes to standard error, a line an event. SIGHUP rereads the configuration. A second
    signal to end does not wait for runs in flight.
    """
    environ, _, _ = platform_surroundings()
    # Kept as the first start had them: what is called like a key is wiped later, `…DAY_TOKENS` too.
    ours = {name: value for name, value in environ.items() if name.startswith("EXTRACTORD_")}
    settings = load_settings(ours)
    log, notify = Log(settings), Notify.of(environ)
    outside = Outside(say=log.say, load=lambda: load_settings(ours), follow=log.follow, notify=notify)
    try:
        asyncio.run(serve(settings, outside))
    finally:
        notify.close()


class Log:
    """Standard error, a line an event, in the form that the settings say."""

    def __init__(self, settings: Settings) -> None:
        self._line = logline
        self.follow(settings)

    def follow(self, settings: Settings) -> None:
        """From now on in this form."""
        self._line = jsonline if settings.log == "json" else logline

    def say(self, event: Event | str) -> None:
        """One line, at once."""
        sys.stderr.write(self._line(event, now()) + "\n")
        sys.stderr.flush()
