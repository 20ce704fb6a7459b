"""The agents that can be read; a new one is a file beside this and a line here."""

from __future__ import annotations

from extractord.core.transcripts import (
    claude_code,
    codex,
    copilot_cli,
    gemini_cli,
    goose,
    opencode,
    pi,
    qwen_code,
)
from extractord.core.transcripts.source import Source

SOURCES: tuple[Source, ...] = (
    claude_code.SOURCE,
    codex.SOURCE,
    gemini_cli.SOURCE,
    qwen_code.SOURCE,
    opencode.SOURCE,
    pi.SOURCE,
    copilot_cli.SOURCE,
    goose.SOURCE,
)
