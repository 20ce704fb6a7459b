"""What Claude Code's tools are asked to do with files, and whether they did."""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Raw

from extractord.core.records import ToolCall
from extractord.core.transcripts.claude_records import Block, Input, Record, Result, plain
from extractord.core.transcripts.recorded import absolute, shell_touches, shortened

USES = frozenset(["tool_use", "server_tool_use", "mcp_tool_use"])
"""Types of blocks that are calls."""
_WRITERS = frozenset(["Write", "Edit", "MultiEdit", "NotebookEdit"])
_SHELLS = frozenset(["Bash", "PowerShell"])
_FOREIGN_WRITER = re.compile(r"^mcp__.*(?:write|edit|create|append|delete|remove|move|insert|replace|patch)")
_FAILED = ("User rejected", "Error", "Interrupted")


def calls(blocks: Iterable[Block], cwd: str | None) -> tuple[ToolCall, ...]:
    """Given a message's blocks, return the calls among them.

    One that both reads and writes comes twice, by its id.
    """
    return tuple(call for block in blocks if block.type in USES for call in _calls(block, cwd))


def output(block: Block, row: Record) -> tuple[str, bool]:
    """Given a tool's result and its record, return its text and whether the tool did what it was asked."""
    note, text = row.result, shortened(plain(block.content))
    path = note.path if isinstance(note, Result) else None
    if path and path not in text:
        text += f"\n[full output: {path}]"
    return text, not block.is_error and not _has_failed(note)


def _calls(block: Block, cwd: str | None) -> tuple[ToolCall, ...]:
    name, call = block.name or "", block.id or ""
    asked = block.input or Input()
    if name in _SHELLS:
        written, read = shell_touches(asked.command or "", cwd)
        if written and read:
            return (
                ToolCall(id=call, name=name, paths=written, writes=True),
                ToolCall(id=call, name=name, paths=read),
            )
        return (ToolCall(id=call, name=name, paths=written or read, writes=bool(written)),)
    named = asked.file_path or asked.notebook_path or asked.path
    paths = (absolute(named, cwd),) if named else ()
    writes = name in _WRITERS or bool(_FOREIGN_WRITER.match(name))
    return (ToolCall(id=call, name=name, paths=paths, writes=writes and bool(paths)),)


def _has_failed(note: str | Result | list[Raw] | None) -> bool:
    """True if what the program noted about a result says that the tool did not do what it was asked."""
    if isinstance(note, str):
        return note.startswith(_FAILED)
    return isinstance(note, Result) and bool(note.interrupted)
