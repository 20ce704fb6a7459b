"""Whether a person sits at the terminal: only then does anything become `confirmed`."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from extractord.config import platform_surroundings
from extractord.edges.store.noticing import PERSON, UNATTENDED

_AGENTS: Mapping[str, tuple[str, ...]] = {
    "Claude Code": ("CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID"),
    "Codex": ("CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED", "CODEX_THREAD_ID", "CODEX_CI"),
    "Gemini CLI": ("GEMINI_CLI",),
    "Qwen Code": ("QWEN_CODE",),
    "opencode": ("OPENCODE", "OPENCODE_PID"),
    "Pi": ("PI_CODING_AGENT",),
    "Copilot CLI": ("COPILOT_CLI", "COPILOT_AGENT_SESSION_ID"),
    "Goose": ("GOOSE_TERMINAL",),
    "Cline": ("CLINE_ACTIVE",),
    "Roo Code": ("ROO_ACTIVE",),
    "Cursor": ("CURSOR_AGENT",),
    "Augment": ("AUGMENT_AGENT",),
    "Antigravity": ("ANTIGRAVITY_AGENT",),
    "Crush": ("CRUSH",),
    "Kimi": ("KIMI_CLI",),
    "an agent": ("AGENT", "AI_AGENT"),
}
"""What agents put into the environment of the commands that they run: no setting of a person's own."""


def unattended() -> str:
    """Return why nobody can be taken to sit here, a sentence; empty where a person does."""
    environ, _, _ = platform_surroundings()
    for agent, names in _AGENTS.items():
        for name in names:
            if environ.get(name):
                return f"{name} is set: {agent} runs this, and only a person may accept what is kept"
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return "this is not a terminal, and only a person may accept what is kept"
    return ""


def decider() -> str:
    """Return who decides here: a person, or nobody who could confirm anything."""
    return UNATTENDED if unattended() else PERSON
