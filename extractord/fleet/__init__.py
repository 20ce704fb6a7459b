"""More than one machine: forwarders tail, extractors remember, mirrors show; the broker is between them."""

from __future__ import annotations

import getpass
import platform
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from extractord.config import Settings
from extractord.config.broker import broker_of
from extractord.core.broker import Broker
from extractord.core.fleet import is_person
from extractord.core.said import segment
from extractord.errors import ConfigError
from extractord.house import House
from extractord.intercom import Say

Played = Callable[[House, Say], AbstractAsyncContextManager[House]]
"""Given the open house and whom to tell, yields the house as a workstation's roles have it."""
WEEK_S = 7 * 86_400
FOR_EVER_S = 0xFFFFFFFF


def broker_for(settings: Settings) -> Broker:
    """Given the settings, return the fleet's broker. Raise ConfigError where there is none."""
    broker = broker_of(settings.mqtt)
    if broker is None:
        raise ConfigError("`run --role` needs a broker: set `mqtt.url`")
    return broker


def person_of(settings: Settings) -> str:
    """Given the settings, return whose sessions are read here. Raise ConfigError for no usable name."""
    name = settings.fleet.person or segment(f"{getpass.getuser()}@{platform.node()}".lower())
    if not is_person(name):
        raise ConfigError(
            f"`fleet.person` is {name!r}: give a name of small letters, digits and `. _ @ -`, at most 64"
        )
    return name
