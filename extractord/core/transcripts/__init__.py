"""The agents that can be read; a new one is a file beside this and a line here."""

from __future__ import annotations

from extractord.core.transcripts import (
    aider,
    amp,
    atif,
    claude_code,
    cline,
    codex,
    copilot_cli,
    crush,
    cursor,
    droid,
    gemini_cli,
    goose,
    hermes,
    kimi,
    openai_chat,
    openclaw,
    opencode,
    otel_genai,
    pi,
    qwen_code,
    zcode,
)
from extractord.core.transcripts.source import Source

SOURCES: tuple[Source, ...] = (
    claude_code.SOURCE,
    codex.SOURCE,
    gemini_cli.SOURCE,
    qwen_code.SOURCE,
    opencode.SOURCE,
    openclaw.SOURCE,
    pi.SOURCE,
    copilot_cli.SOURCE,
    goose.SOURCE,
    aider.SOURCE,
    cline.CLINE,
    cline.ROO,
    amp.SOURCE,
    cursor.SOURCE,
    droid.SOURCE,
    zcode.SOURCE,
    crush.SOURCE,
    hermes.SOURCE,
    kimi.SOURCE,
    atif.SOURCE,
    otel_genai.SOURCE,
    openai_chat.SOURCE,
)
