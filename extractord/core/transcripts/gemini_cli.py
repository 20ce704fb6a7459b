"""Gemini CLI: where its op logs and documents are, and how to know one."""

from __future__ import annotations

import re

from extractord.core.transcripts.gemini_session import AGENT, GeminiReader
from extractord.core.transcripts.source import Container, Source, Surroundings

__all__ = ["AGENT", "SOURCE", "chat_recording", "container", "home_of"]


def home_of(around: Surroundings) -> str:
    """Where its own files are: `.gemini` in `GEMINI_CLI_HOME`, else in the home."""
    return f"{around.env.get('GEMINI_CLI_HOME') or around.home}/.gemini"


def _roots(around: Surroundings) -> tuple[str, ...]:
    return (f"{home_of(around)}/tmp",)  # noqa: S108 - a folder of the agent's


_BELONGS = re.compile(r"[^/]+/chats/(?:session-[^/]+\.jsonl?|[^/]+/[^/]+\.jsonl)")


def container(path: str) -> Container:
    """Given a path, say whether it is the op log or the document."""
    return Container.LINES if path.endswith(".jsonl") else Container.DOCUMENT


def chat_recording(head: bytes) -> bool:
    """True if a file starts as the chats of this agent and of old Qwen Code do."""
    return b'"projectHash"' in head[:4096] and b'"sessionId"' in head[:4096]


def _family(name: str) -> str | None:
    """A document and the op log that a resume makes of it are one session."""
    stem, _, ending = name.rpartition(".")
    return f"{stem}.json*" if stem.startswith("session-") and ending in ("json", "jsonl") else None


SOURCE = Source(
    agent=AGENT,
    roots=_roots,
    belongs=lambda path: _BELONGS.fullmatch(path) is not None,
    container=container,
    claims=lambda path, head: chat_recording(head) and "/.qwen/" not in path,
    reader=GeminiReader,
    beside=("../.project_root", "../../.project_root"),
    family=_family,
    writes_turn_end=False,
    purged_after_days=30,
    seen="0.8.2 to 0.61.0; records name none",
)
