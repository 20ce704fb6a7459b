"""`run`: the daemon, in the foreground."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Coroutine, Sequence
from functools import partial
from typing import Annotated, Literal

from cyclopts import Parameter

from extractord.config import Settings, load_settings, platform_surroundings
from extractord.core.events import Event
from extractord.core.logline import jsonline, logline
from extractord.daemon import serve
from extractord.edges.notify import Notify
from extractord.errors import UsageError
from extractord.following import Outside
from extractord.house import now

Role = Annotated[
    tuple[Literal["forwarder", "extractor", "mirror"], ...],
    Parameter(help="A machine's part in a fleet (docs/fleet.md); forwarder and mirror go together."),
]
Partitions = Annotated[str, Parameter(help="Of an extractor: whose windows it takes, like 0-7.")]


def run(*, role: Role = (), partitions: Partitions = "") -> None:
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
        asyncio.run(_of(role, partitions, settings, outside))
    finally:
        notify.close()


def _of(
    role: Sequence[str], partitions: str, settings: Settings, outside: Outside
) -> Coroutine[object, object, None]:
    """What the roles ask for. Raise UsageError where they do not go together."""
    if bool(partitions) != ("extractor" in role):
        raise UsageError("--partitions goes with --role extractor: say whose windows it takes, like 0-7")
    roles = sorted(set(role))
    if not roles:
        return serve(settings, outside)
    from extractord.fleet import serving  # noqa: PLC0415 - what speaks to a broker costs 4 MB

    match roles:
        case ["extractor"]:
            taken = serving.partitions_in(partitions, settings.fleet.partitions)
            return serving.serve_extractor(settings, outside, taken)
        case ["mirror"]:
            return serving.serve_mirror(settings, outside)
        case ["forwarder"] | ["forwarder", "mirror"]:
            return serve(settings, outside, partial(serving.played, roles))
        case _:
            raise UsageError("an extractor has a machine, or at least a state, of its own")


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
