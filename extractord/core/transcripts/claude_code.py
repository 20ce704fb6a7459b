"""Claude Code: where its transcripts are, sub-agents' among them, and how to know one."""

from __future__ import annotations

from extractord.core.transcripts.claude_deferring import ClaudeDeferring, thaw
from extractord.core.transcripts.claude_session import AGENT, ClaudeSession, decode
from extractord.core.transcripts.source import Container, Later, Source, Surroundings

_ASIDE = frozenset(["memory", "tool-results", "session-memory"])
_DESKTOP = "Library/Application Support/Claude"
_TELLING = frozenset(["permission-mode", "queue-operation", "file-history-snapshot", "attachment"])


def home_of(around: Surroundings) -> str:
    """Where its own files are."""
    return (around.env.get("CLAUDE_CONFIG_DIR") or f"{around.home}/.claude").rstrip("/")


def _roots(around: Surroundings) -> tuple[str, ...]:
    roots = [f"{home_of(around)}/projects"]
    if around.platform == "darwin":
        desktop = f"{around.home}/{_DESKTOP}"
        roots += [f"{desktop}/claude-code-sessions", f"{desktop}/local-agent-mode-sessions"]
    return tuple(roots)


def _belongs(path: str) -> bool:
    """True for `<slug>/<session>.jsonl` and what sub-agents leave below `<session>/subagents/`."""
    *folders, name = path.split("/")
    if not name.endswith(".jsonl") or _ASIDE.intersection(folders):
        return False
    if len(folders) <= 1 or "projects" in folders:
        return name != "history.jsonl"
    return name == "audit.jsonl" or ("subagents" in folders and name.startswith("agent-"))


def _claims(path: str, head: bytes) -> bool:
    """True if one of the first lines is a message of Claude Code's, or one of its bookkeeping lines.

    iFlow keeps such lines too, under `session-…`.
    """
    if not path.endswith(".jsonl"):
        return False
    for line in head.split(b"\n")[:40]:
        row = decode(line) if line else None
        if row is None or not (row.session or row.uuid or row.timestamp):
            continue
        if (row.session or "").startswith("session-"):
            return False
        if row.type in ("user", "assistant") and row.message and row.message.content is not None:
            return True
        if row.type in _TELLING:
            return True
    return False


SOURCE = Source(
    agent=AGENT,
    roots=_roots,
    belongs=_belongs,
    container=lambda _path: Container.LINES,
    claims=_claims,
    reader=lambda opened: ClaudeSession(opened.path.replace("\\", "/")),
    later=Later(lambda opened: ClaudeDeferring(opened.path.replace("\\", "/")), thaw),
    purged_after_days=30,
    seen="0.2.126 to 2.1.332",
)
