"""Cursor's agent transcripts: JSONL of role and blocks, without ids, times or results."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from extractord.core.records import Entry, Seen
from extractord.core.transcripts.blocks import Content, opening, said_in, text_of
from extractord.core.transcripts.decoding import decoder
from extractord.core.transcripts.source import Container, Opened, Source, Surroundings
from extractord.core.transcripts.speech import Speech
from extractord.core.transcripts.telling import decoded

_QUERY = re.compile(r"<user_query>\n?(.*?)(?:\n?</user_query>|\Z)", re.DOTALL)
_WRAPPER_NAMES = """
    user_info attached_files system_reminder system-reminder git_status project_layout rules user_rules
    always_applied_workspace_rules agent_requestable_workspace_rules agent_skills agent_transcripts
    open_and_recently_viewed_files additional_data current_file linter_errors external_links image_files
    terminal_files_information cursor_commands manually_attached_skills manually_added_selection
    selected_code code_selection mcp_file_system task_notification system_notification timestamp"""
_WRAPPERS = re.compile(
    rf"^<({'|'.join(_WRAPPER_NAMES.split())})\b[^<>]*>(?:.*</\1>|.*)", re.DOTALL | re.MULTILINE
)
"""What the editor puts round a person's words, to the last end mark: a file may hold one too."""
_WORKSPACE = re.compile(r"^Workspace Path: ([^\n]+)$", re.MULTILINE)
_KNOWN = frozenset({"text", "thinking", "reasoning", "image", "tool_use", "tool_call", "tool-call"})
_RESULTS = frozenset({"tool_result", "tool-result"})


class _Message(Struct):
    content: Content = None


class _Record(Struct):
    role: str = ""
    type: str = ""
    message: _Message | None = None
    content: Any = None


_DECODER = decoder(_Record)


class CursorReader:
    """Folds one session's lines, or those of a sub-agent."""

    def __init__(self, opened: Opened) -> None:
        """Take the file's name for the session's: no record says it."""
        self.session: str | None = None
        self.version: str | None = None
        self.unknown: Counter[str] = Counter()
        path = opened.path.replace("\\", "/")
        self._speech = Speech("cursor", path.rsplit("/", 1)[-1].removesuffix(".jsonl"))
        self._speech.is_subagent = "/subagents/" in path
        self._last: Entry | None = None

    def feed(self, record: bytes) -> Iterator[Seen]:
        """Given a line, yield what it brings."""
        line = decoded(record, _DECODER, self.unknown)
        if line is None:
            return
        if line.message is not None and line.role in ("user", "assistant"):
            self.session = self._speech.session
            yield from self._message(line.role, line.message.content)
        elif line.type == "turn_ended":
            yield from self._ended()
        else:
            self.unknown[(line.type or line.role or "no role")[:64]] += 1

    def settle(self) -> Iterator[Seen]:
        """Nothing waits: a line is whole."""
        return iter(())

    def _message(self, role: str, content: Content) -> Iterator[Seen]:
        text = text_of(content)
        if role == "user" and (place := _WORKSPACE.search(text)):
            self._speech.cwd = self._speech.cwd or place[1].strip()
        for block in content if isinstance(content, list) else ():
            if block.type not in _KNOWN and block.type not in _RESULTS:
                self.unknown[f"block/{block.type[:64]}"] += 1
        entry = opening(self._speech, role, text, None, None)
        queries = _QUERY.findall(_WRAPPERS.sub("", text))
        said = "\n".join(queries) if role == "user" and queries else None
        for each in said_in(self._speech, role, content, entry, _WRAPPERS, said):
            self._last = each
            yield each

    def _ended(self) -> Iterator[Seen]:
        """A line of its own says that the turn has ended."""
        if self._last is not None and self._last.role == "assistant":
            yield from self._speech.answered(self._last, self._last.calls, ended=True)


def _roots(around: Surroundings) -> tuple[str, ...]:
    """`.cursor/projects` in the home."""
    return (f"{around.home}/.cursor/projects",)


_BELONGS = re.compile(r"[^/]+/agent-transcripts/(?:[^/]+\.jsonl|[^/]+/(?:subagents/)?[^/]+\.jsonl)")
_HEAD = re.compile(rb'\s*\{"role":\s*"(?:user|assistant)",\s*"message":\s*\{"content":')


SOURCE = Source(
    agent="cursor",
    roots=_roots,
    belongs=lambda path: _BELONGS.fullmatch(path) is not None,
    container=lambda _path: Container.LINES,
    claims=lambda path, head: path.endswith(".jsonl") and _HEAD.match(head) is not None,
    reader=CursorReader,
    writes_turn_end=False,
    gaps=(
        "no times, no results: whether a write was done is not known; `.txt` transcripts, the CLI's "
        "`store.db` and the editor's `state.vscdb` are not read"
    ),
    seen="records name none",
)
