"""A session-start hook in an agent's JSON settings, in the form that Claude Code has given others."""

from __future__ import annotations

import shlex
from typing import Any

from extractord.core.connecting import jsonc
from extractord.core.connecting.target import Addition, Ground, Trace

GROUPS = ("hooks", "SessionStart", -1)
_HANDLERS = (*GROUPS, "hooks", -1)


def hook_command(ground: Ground, agent: str) -> str:
    """Return the command that an agent's hook runs, for a shell."""
    return f"{shlex.join(ground.command)} {_tail(agent)}"


def session_start(path: str, agent: str, handler: dict[str, Any]) -> Addition:
    """Given the handler's own object, return its addition to the settings at `path`."""
    tail = _tail(agent)

    def is_ours(value: object) -> bool:
        return isinstance(value, dict) and str(value.get("command", "")).endswith(tail)

    def is_group_of_ours(value: object) -> bool:
        handlers = value.get("hooks") if isinstance(value, dict) else None
        return isinstance(handlers, list) and bool(handlers) and all(map(is_ours, handlers))

    def added(text: str | None) -> tuple[str, Trace]:
        return jsonc.added(text, GROUPS, {"hooks": [handler]})

    def removed(text: str, trace: Trace) -> str | None:
        left = jsonc.removed(text, GROUPS, is_group_of_ours, trace)
        return left and jsonc.removed(left, _HANDLERS, is_ours, (str(len(_HANDLERS)), ""))

    return Addition(key="hook", path=path, added=added, removed=removed)


def _tail(agent: str) -> str:
    return f"context --format hook --agent {agent}"
