"""Claude Code's lines that bring no entry, known by their first and last bytes."""

from __future__ import annotations

import re

_SILENT_NAMES = """
    progress summary file-history-snapshot file-history-delta queue-operation ai-title custom-title
    agent-name agent-setting last-prompt mode permission-mode pr-link worktree-state relocated tag
    bridge-session atis-latch api-request api-request-blob api-request-shape tools-used cost-state
    started result content-replacement task-summary rate_limit_event frame-link"""
SILENT = frozenset(_SILENT_NAMES.split())
"""Types of records that are known and say nothing."""

_HEAD = re.compile(
    rb'\{"(?:type":"([\w-]+)"'
    rb'|parentUuid":"([\w-]+)","isSidechain":false,"attachment":\{"type":"(?!queued_command")[\w-]+")'
)
BOOKKEEPING = frozenset(name.encode() for name in SILENT - {"progress", "summary"})
_TAIL = re.compile(rb'\},"type":"attachment","uuid":"([\w-]+)","timestamp":"[^"\\]*"')
_TAIL_BYTES = 65_536
"""Newer versions repeat an attachment after its id, as it was rendered."""
_LONG = 2048


def skim(record: bytes) -> tuple[str | None, str] | None:
    """Given a line, return (its id, its parent's) where its ends show that it brings no entry.

    No id for bookkeeping, which has none. None where the line has to be read: most bytes of a
    short session are system prompts in attachments, and are not worth a parser's time.
    """
    head = _HEAD.match(record)
    if head is None or record[-1:] != b"}":
        return None
    if head[1] is not None:
        return (None, "") if head[1] in BOOKKEEPING else None
    if len(record) < _LONG:
        return None
    node = attached(record)
    return (node.decode(), head[2].decode()) if node is not None else None


def attached(record: bytes) -> bytes | None:
    """Given an attachment's line, return its id where it stands as the program writes it."""
    start = record.rfind(b'},"type":"attachment","uuid":"', -_TAIL_BYTES)
    tail = _TAIL.match(record, start) if start > 0 else None
    return tail[1] if tail else None
