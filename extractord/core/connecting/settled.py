"""An agent that has its hooks and its servers in JSON settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from extractord.core.connecting import jsonc
from extractord.core.connecting.hooks import SESSION_START, hook, hook_command
from extractord.core.connecting.jsontext import Place
from extractord.core.connecting.servers import server
from extractord.core.connecting.target import Addition, Ground, Target


def settled(
    agent: str,
    title: str,
    *,
    settings: Callable[[Ground], str],
    handler: Mapping[str, Any],
    switch: tuple[Place, bool],
    own_memory: str,
    servers: Callable[[Ground], str] | None = None,
    event: str = SESSION_START,
) -> Target:
    """Return the target of such an agent.

    `settings` says which file holds the hooks, `servers` which the servers, where that is another;
    `handler` what stands in the hook besides the command; `switch` where all hooks are turned off,
    and by what; `event` when the hook is asked.
    """
    serving = servers or settings

    def additions(ground: Ground) -> tuple[Addition, ...]:
        command = {"command": hook_command(ground, agent)}
        ours = hook(settings(ground), agent, {"type": "command", **command, **handler}, event)
        if not ground.mcp:
            return (ours,)
        program, *words = ground.command
        return ours, server(serving(ground), "mcpServers", {"command": program, "args": [*words, "mcp"]})

    def notes(ground: Ground) -> tuple[str, ...]:
        where, off = switch
        path = settings(ground)
        if jsonc.values(ground.read(path), where) != (off,):
            return ()
        said = f"`{'.'.join(map(str, where))}` is {str(off).lower()} in {path}"
        return (f"{said}: {title} runs no hook until that is changed.",)

    return Target(
        name=agent,
        purpose=f"a hook in the settings of {title}",
        additions=additions,
        notes=notes,
        own_memory=own_memory,
    )
