"""Whether what the settings name can be used: every problem that does not need the rooms open."""

from __future__ import annotations

from pathlib import Path

from extractord.config.broker import broker_of
from extractord.config.settings import Model, Settings
from extractord.core.broker import Broker
from extractord.core.embedded import NAME as EMBEDDED
from extractord.errors import ConfigError
from extractord.keyfile import fault_of


def required(settings: Settings) -> Broker | None:
    """Given the settings, return how the broker is reached; None where there is none.

    Raise ConfigError with every problem.
    """
    broker: Broker | None = None
    problems: list[str] = []
    try:
        broker = broker_of(settings.mqtt)
    except ConfigError as error:
        problems += error.problems
    if fault := key_fault(settings.model):
        problems.append(fault)
    if problems:
        raise ConfigError(*problems)
    return broker


def key_fault(model: Model) -> str | None:
    """What keeps the key's file from being used; None where there is none, or nobody wants it."""
    if model.name == EMBEDDED or not model.key_file:
        return None
    return fault_of("model.key_file", Path(model.key_file).expanduser(), is_secret=True)
