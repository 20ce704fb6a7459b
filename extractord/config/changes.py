"""What differs between two readings of the settings, and what of it a living daemon can follow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Self

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from extractord.config.settings import Settings

LIVE = frozenset({"mode", "log", "model", "run", "projects", "agents", "budget", "keep"})
"""What can change while it lives. The rest is opened, or given up for ever, at the start."""


class Changes(Struct, frozen=True, kw_only=True):
    """From one reading to the next; keys are dotted, sorted."""

    settings: Settings
    """The new ones, where a living daemon can follow; the old ones elsewhere."""
    followed: tuple[str, ...]
    at_restart: tuple[str, ...]

    @classmethod
    def between(cls, old: Settings, new: Settings) -> Self:
        """Given the settings in force and those that were read, return what changes."""
        before, after = dict(_flat(old)), dict(_flat(new))
        keys = sorted(key for key in before.keys() | after.keys() if before.get(key) != after.get(key))
        return cls(
            settings=replace(old, **{key: getattr(new, key) for key in LIVE}),
            followed=tuple(key for key in keys if key.partition(".")[0] in LIVE),
            at_restart=tuple(key for key in keys if key.partition(".")[0] not in LIVE),
        )

    def sentences(self) -> Iterator[str]:
        """What a person should know of it, a line each."""
        if self.followed:
            yield f"configuration reread: {', '.join(self.followed)} changed"
        if self.at_restart:
            yield f"configuration reread: {', '.join(self.at_restart)} needs a restart"
        if not self.followed and not self.at_restart:
            yield "configuration reread: nothing changed"


_TABLES = frozenset({"projects.identities", "model.prices"})
"""Settings that are tables of a person's own keys."""


def _flat(settings: Settings) -> Iterator[tuple[str, Any]]:
    def under(table: Mapping[str, Any], where: str) -> Iterator[tuple[str, Any]]:
        for key, value in table.items():
            if isinstance(value, Mapping) and f"{where}{key}" not in _TABLES:
                yield from under(value, f"{where}{key}.")
            else:
                yield f"{where}{key}", value

    return under(msgspec.to_builtins(settings, enc_hook=_path), "")


def _path(value: object) -> str:
    if isinstance(value, Path):
        return str(value)
    raise NotImplementedError(type(value))
