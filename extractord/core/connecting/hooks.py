"""A session-start hook in an agent's JSON settings, in the form that Claude Code has given others."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from extractord.core.connecting import jsonc
from extractord.core.connecting.jsontext import Place
from extractord.core.connecting.target import Addition, Ground, Trace

SESSION_START = "SessionStart"


def groups_of(event: str) -> Place:
    """Where the groups of an event's hooks are in JSON settings."""
    return ("hooks", event, -1)


def hook_command(ground: Ground, agent: str) -> str:
    """Return the command that an agent's hook runs, for a shell."""
    return shlex.join([*ground.command, *hook_words(agent)])


def hook_words(agent: str) -> tuple[str, ...]:
    """Return the words behind the program's own by which an agent's memories are asked for."""
    return ("context", "--format", "hook", "--agent", agent)


def is_hook_of_ours(value: object, agent: str) -> bool:
    """True for a handler that runs our command, wherever that was installed."""
    return isinstance(value, Mapping) and str(value.get("command", "")).endswith(
        shlex.join(hook_words(agent))
    )


def hook(path: str, agent: str, handler: Mapping[str, Any], event: str = SESSION_START) -> Addition:
    """Given the handler's own object, return its addition to the settings at `path`."""
    groups = groups_of(event)
    handlers: Place = (*groups, "hooks", -1)

    def is_ours(value: object) -> bool:
        return is_hook_of_ours(value, agent)

    def is_group_of_ours(value: object) -> bool:
        inner = value.get("hooks") if isinstance(value, dict) else None
        return isinstance(inner, list) and bool(inner) and all(map(is_ours, inner))

    def added(text: str | None) -> tuple[str, Trace]:
        return jsonc.added(text, groups, {"hooks": [handler]})

    def removed(text: str, trace: Trace) -> str | None:
        left = jsonc.removed(text, groups, is_group_of_ours, trace)
        return left and jsonc.removed(left, handlers, is_ours, (str(len(handlers)), ""))

    def holds(text: str) -> bool:
        return [each for each in jsonc.values(text, handlers) if is_ours(each)] == [handler]

    return Addition(key="hook", path=path, added=added, removed=removed, holds=holds)
