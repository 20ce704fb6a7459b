"""Whether what the settings name can be used: every problem that does not need the rooms open."""

from __future__ import annotations

import os
from pathlib import Path

from extractord.config.broker import broker_of
from extractord.config.settings import Model, Settings
from extractord.core.broker import Broker
from extractord.core.embedded import NAME as EMBEDDED
from extractord.errors import ConfigError
from extractord.keyfile import fault_of

_NAME_BYTES = 255
"""Longer names there are in no usual file system."""


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


def folder_fault(name: str, place: Path) -> str | None:
    """What keeps a folder from being made where it is missing, or written where it is there.

    What is wrong stands before the last `: `, what to do behind it.
    """
    if longest := [part for part in place.parts if len(part.encode()) > _NAME_BYTES]:
        return f"{name} is {place}, and no folder has a name as long as {longest[0][:20]}…: give another one"
    there = next(folder for folder in (place, *place.parents) if os.path.lexists(folder))
    if there.is_dir() and os.access(there, os.W_OK | os.X_OK):
        return None
    if there.exists() and os.statvfs(there).f_flag & os.ST_RDONLY:
        return f"{name} is {place}, on a file system that is read-only: make it writable, or set another"
    if there == place:
        says = "which is not a folder that this user may write"
    else:
        says = f"which cannot be made below {there}"
    return f"{name} is {place}, {says}: give it to this user, or set another place"
