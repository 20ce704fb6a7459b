"""Qwen Code: a hook in its user settings, and a server there.

It runs hooks at a session's start and drops what they say; so ours is asked with the prompts, and
answers the first.
"""

from __future__ import annotations

from extractord.core.connecting.settled import settled
from extractord.core.transcripts.qwen_code import AGENT, home_of

_PATIENCE_MS = 10_000


TARGET = settled(
    AGENT,
    "Qwen Code",
    settings=lambda ground: f"{home_of(ground.around)}/settings.json",
    handler={"name": "extractord", "timeout": _PATIENCE_MS},
    event="UserPromptSubmit",
    switch=(("disableAllHooks",), True),
    own_memory=(
        "extracts memories of its own in the background and reads them back; to have one memory only, set "
        '`"memory": {"enableManagedAutoMemory": false}` in `settings.json`'
    ),
)
