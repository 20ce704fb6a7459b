"""Kimi Code and Kimi CLI: the wire's events as JSONL, one file for each agent of a session."""

from __future__ import annotations

import re

from extractord.core.transcripts.kimi_session import KimiReader
from extractord.core.transcripts.source import Container, Source, Surroundings


def _roots(around: Surroundings) -> tuple[str, ...]:
    """`sessions` in `KIMI_CODE_HOME`, else in `~/.kimi-code`; and those of the old CLI."""
    home = around.env.get("KIMI_CODE_HOME") or f"{around.home}/.kimi-code"
    return (f"{home}/sessions", f"{around.home}/.kimi/sessions")


_BELONGS = re.compile(r"[^/]+/[^/]+/(?:agents/[^/]+/)?wire\.jsonl")
_HEAD = re.compile(
    rb'\s*\{(?:"type":\s*"metadata",\s*"protocol_version"'
    rb'|"timestamp":\s*[\d.]+,\s*"message":\s*\{"type":\s*"[A-Z]\w+",\s*"payload")'
    rb'|(?:.*\n)??\{"role":\s*"_(?:system_prompt|checkpoint|usage)"'
)


SOURCE = Source(
    agent="kimi",
    roots=_roots,
    belongs=lambda path: _BELONGS.fullmatch(path) is not None,
    container=lambda _path: Container.LINES,
    claims=lambda path, head: path.endswith(".jsonl") and _HEAD.match(head) is not None,
    reader=KimiReader,
    beside=("../../state.json", "state.json"),
    gaps="`context.jsonl` of the old CLI is read only where it is named",
    seen="wire protocol 1.4, 1.5 (2.1.0)",
)
