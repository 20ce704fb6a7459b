"""Gemini CLI: a hook in its user settings, and a server there."""

from __future__ import annotations

from extractord.core.connecting.settled import settled
from extractord.core.transcripts.gemini_cli import AGENT, home_of

_PATIENCE_MS = 10_000


TARGET = settled(
    AGENT,
    "Gemini CLI",
    settings=lambda ground: f"{home_of(ground.around)}/settings.json",
    handler={"name": "extractord", "timeout": _PATIENCE_MS},
    switch=(("hooksConfig", "enabled"), False),
    own_memory=(
        "writes to its `GEMINI.md` files when it is told to remember something; its Auto Memory is off, "
        'unless `"experimental": {"autoMemory": true}` stands in `settings.json`'
    ),
)
