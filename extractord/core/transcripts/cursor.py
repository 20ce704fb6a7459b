"""Cursor's agent transcripts: JSONL of role and blocks, without ids, times or results."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from msgspec import Struct

from extractord.core.ports import Reader
from extractord.core.records import Entry, Seen
from extractord.core.transcripts.blocks import Content
from extractord.core.transcripts.cursor_store import ROWS, CursorStoreReader
from extractord.core.transcripts.cursor_text import CursorTextReader
from extractord.core.transcripts.cursor_words import is_marked, said_by
from extractord.core.transcripts.decoding import decoder
from extractord.core.transcripts.source import Container, Opened, Source, Surroundings
from extractord.core.transcripts.speech import Speech
from extractord.core.transcripts.telling import decoded

_KNOWN = frozenset({"text", "thinking", "reasoning", "image", "tool_use", "tool_call", "tool-call"})
_RESULTS = frozenset({"tool_result", "tool-result"})


class _Message(Struct):
    content: Content = None


class _Record(Struct):
    role: str = ""
    type: str = ""
    message: _Message | None = None


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
        self._are_marked = False

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
        for block in content if isinstance(content, list) else ():
            if block.type not in _KNOWN and block.type not in _RESULTS:
                self.unknown[f"block/{block.type[:64]}"] += 1
        self._are_marked = self._are_marked or is_marked(role, content)
        for each in said_by(self._speech, role, content, are_marked=self._are_marked):
            self._last = each
            yield each

    def _ended(self) -> Iterator[Seen]:
        """A line of its own says that the turn has ended."""
        if self._last is not None and self._last.role == "assistant":
            yield from self._speech.answered(self._last, self._last.calls, ended=True)


def _roots(around: Surroundings) -> tuple[str, ...]:
    """`.cursor/projects` and `.cursor/chats` in the home, and what its server keeps on another machine."""
    places = (".cursor/projects", ".cursor/chats", ".cursor-server/projects")
    return tuple(f"{around.home}/{place}" for place in places)


_BELONGS = re.compile(
    r"[^/]+/agent-transcripts/(?:[^/]+\.(?:jsonl|txt)|[^/]+/(?:subagents/)?[^/]+\.(?:jsonl|txt))"
    r"|[^/]+/[^/]+/store\.db"
)
_HEAD = re.compile(rb'\s*\{"role":\s*"(?:user|assistant)",\s*"message":\s*\{"content":')
_TEXT = re.compile(rb"\s*user:\r?\n\s*<(?:user_query|[a-z_-]+)\b[^\n]*>")
_TABLES = (b"CREATE TABLE blobs", b"CREATE TABLE meta")


def _container(path: str) -> Container:
    if path.endswith(".db"):
        return Container.ROWS
    return Container.DOCUMENT if path.endswith(".txt") else Container.LINES


def _claims(path: str, head: bytes) -> bool:
    """True for lines of role and message, a text that begins with a query, or a store of blobs."""
    if head.startswith(b"SQLite format 3\0"):
        return path.endswith("store.db") and all(table in head for table in _TABLES)
    if path.endswith(".txt"):
        return _TEXT.match(head.removeprefix(b"\xef\xbb\xbf")) is not None
    return path.endswith(".jsonl") and _HEAD.match(head) is not None


def _reader(opened: Opened) -> Reader:
    match _container(opened.path):
        case Container.ROWS:
            return CursorStoreReader(opened)
        case Container.DOCUMENT:
            return CursorTextReader(opened)
        case Container.LINES:
            return CursorReader(opened)


SOURCE = Source(
    agent="cursor",
    roots=_roots,
    belongs=lambda path: _BELONGS.fullmatch(path) is not None,
    container=_container,
    claims=_claims,
    reader=_reader,
    rows=ROWS,
    writes_turn_end=False,
    gaps=(
        "no times; only `store.db` has results, so elsewhere whether a write was done is not known; in a "
        "`.txt` an answer can look like a prompt; what a compaction put out of `store.db`, and the "
        "editor's `state.vscdb`, are not read"
    ),
    seen="records name none",
)
