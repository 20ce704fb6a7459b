"""SIGHUP: the settings are read again, and followed as a whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from msgspec.structs import replace

from extractord.config import Settings
from extractord.config.changes import Changes
from extractord.core.events import Event
from extractord.edges.notify import Notify
from extractord.errors import ConfigError
from extractord.house import House, rearranged


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """What the daemon speaks to, and is told by."""

    say: Callable[[Event | str], None]
    """Told of every event, and of what a person should know."""
    load: Callable[[], Settings]
    """Reads the settings as the first start did. Raises ConfigError."""
    follow: Callable[[Settings], None]
    """Told of the settings that are in force from now on."""
    notify: Notify


def reread(house: House, outside: Outside) -> House:
    """Given the house as it is, return it as the settings want it now; the same where nothing changes.

    What cannot be used is refused with every problem, and the settings in force stay.
    """
    try:
        changes = Changes.between(house.settings, outside.load())
        fresh = rearranged(house, changes.settings) if changes.followed else house
    except ConfigError as error:
        for sentence in _refused(error):
            outside.say(sentence)
        return house
    for sentence in changes.sentences():
        outside.say(sentence)
    outside.follow(fresh.settings)
    return fresh


def only_read(settings: Settings, load: Callable[[], Settings]) -> Iterator[str]:
    """Given the settings in force, say what differs now; a mirror follows at its next start."""
    try:
        changes = Changes.between(settings, load())
    except ConfigError as error:
        yield from _refused(error)
    else:
        every = tuple(sorted((*changes.followed, *changes.at_restart)))
        yield from replace(changes, followed=(), at_restart=every).sentences()


def _refused(error: ConfigError) -> Iterator[str]:
    for problem in error.problems:
        yield f"configuration refused: {problem}"
    yield "configuration refused: the one in force stays"
