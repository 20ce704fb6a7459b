"""The server of the memories in an agent's JSON settings."""

from __future__ import annotations

from typing import Any

from extractord.core.connecting import jsonc
from extractord.core.connecting.target import Addition, Trace

NAME = "extractord"


def server(path: str, section: str, entry: dict[str, Any]) -> Addition:
    """Given the object that an agent expects, return its addition to the settings at `path`."""
    where = (section, NAME)

    def added(text: str | None) -> tuple[str, Trace]:
        return jsonc.added(text, where, entry)

    def removed(text: str, trace: Trace) -> str | None:
        return jsonc.removed(text, where, _is_ours, trace)

    def holds(text: str) -> bool:
        return jsonc.values(text, where) == (entry,)

    return Addition(key="mcp", path=path, added=added, removed=removed, holds=holds)


def _is_ours(value: object) -> bool:
    """True for an entry that starts our server, however its agent spells that."""
    if not isinstance(value, dict):
        return False
    words = [value.get("command"), value.get("args")]
    flat = [str(word) for each in words for word in (each if isinstance(each, list) else [each])]
    return "mcp" in flat and any(NAME in word for word in flat)
