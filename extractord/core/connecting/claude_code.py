"""Claude Code: a hook in its user settings, and a server among those of the person."""

from __future__ import annotations

from extractord.core.connecting.hooks import hook_command, session_start
from extractord.core.connecting.target import Addition, Ground, Target
from extractord.core.transcripts.claude_code import home_of

NAME = "claude-code"
_PATIENCE_S = 10
_OWN_MEMORY = (
    "Claude Code's own memory goes on beside this: it writes to projects/*/memory in its folder and reads "
    'that back. To have one memory only, set "autoMemoryEnabled": false in settings.json, or switch it off '
    "with /memory."
)


def _additions(ground: Ground) -> tuple[Addition, ...]:
    handler = {"type": "command", "command": hook_command(ground, NAME), "timeout": _PATIENCE_S}
    return (session_start(f"{home_of(ground.around)}/settings.json", NAME, handler),)


TARGET = Target(
    name=NAME,
    purpose="Claude Code is given the memories when a session begins",
    additions=_additions,
    notes=lambda _ground: (_OWN_MEMORY,),
)
