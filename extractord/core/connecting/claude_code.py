"""Claude Code: a hook in its user settings, and a server among the person's own."""

from __future__ import annotations

from extractord.core.connecting.settled import settled
from extractord.core.connecting.target import Ground
from extractord.core.transcripts.claude_code import home_of
from extractord.core.transcripts.claude_session import AGENT

_PATIENCE_S = 10


def _servers(ground: Ground) -> str:
    old = f"{home_of(ground.around)}/.config.json"
    if ground.read(old) is not None:
        return old
    return f"{ground.around.env.get('CLAUDE_CONFIG_DIR') or ground.around.home}/.claude.json"


TARGET = settled(
    AGENT,
    "Claude Code",
    settings=lambda ground: f"{home_of(ground.around)}/settings.json",
    servers=_servers,
    handler={"timeout": _PATIENCE_S},
    switch=(("disableAllHooks",), True),
    own_memory=(
        "writes notes of its own to `projects/*/memory` in its folder and reads them back; to have one "
        'memory only, set `"autoMemoryEnabled": false` in `settings.json`, or use `/memory`'
    ),
)
