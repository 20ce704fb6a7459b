"""Factory Droid: JSONL of messages made of blocks, and the lines that `droid exec` prints."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from extractord.core.records import Entry, Origin, Role, Seen
from extractord.core.transcripts.blocks import REMINDER, Content, opening, said_in, shown_in, text_of
from extractord.core.transcripts.decoding import decoder
from extractord.core.transcripts.source import Container, Opened, Source, Surroundings
from extractord.core.transcripts.speech import Speech
from extractord.core.transcripts.telling import decoded

_SILENT = frozenset({"todo_state", "session_end", "settings"})
_SEEN_BY_ONE = frozenset({"llm_only", "user_only", "hidden"})
"""What only the model, or only the person, is shown: the agent put it there."""
_TASK = "# Task Tool Invocation"
"""How a sub-agent's prompt begins, and its session's title, which in older versions is the only sign."""


class _Message(Struct):
    role: str = ""
    content: Content = None
    visibility: str | None = None
    messageType: str | None = None  # noqa: N815 - the record's own name


class _Record(Struct):
    type: str = ""
    id: str | None = None
    sessionId: str | None = None  # noqa: N815
    callingSessionId: str | None = None  # noqa: N815
    decompSessionType: str | None = None  # noqa: N815
    title: str | None = None
    timestamp: Any = None
    cwd: str | None = None
    version: Any = None
    parentId: str | None = None  # noqa: N815
    message: _Message | str | None = None
    role: str | None = None
    text: str | None = None
    toolName: str | None = None  # noqa: N815
    parameters: Any = None
    isError: Any = None  # noqa: N815
    value: Any = None
    finalText: str | None = None  # noqa: N815
    summaryText: str | None = None  # noqa: N815


_DECODER = decoder(_Record)


class DroidReader:
    """Folds one session's lines in either dialect."""

    def __init__(self, opened: Opened) -> None:
        """Take the file's name for the session's where no line says it."""
        self.session: str | None = None
        self.version: str | None = None
        self.unknown: Counter[str] = Counter()
        self._speech = Speech("droid", opened.path.rsplit("/", 1)[-1].removesuffix(".jsonl"))
        self._last: Entry | None = None

    def feed(self, record: bytes) -> Iterator[Seen]:
        """Given a line, yield what it brings."""
        line = decoded(record, _DECODER, self.unknown)
        if line is None:
            return
        match line.type:
            case "session_start" | "system":
                self._begin(line)
            case "message" if isinstance(line.message, _Message):
                for each in self._message(line, line.message):
                    self._last = each if each.role is Role.ASSISTANT else self._last
                    yield each
            case "agent_turn_outcome":
                yield from self._ended()
            case "message" if line.role is not None:
                yield from self._printed(line)
            case "tool_call" | "tool_result" | "completion" | "error":
                yield from self._step(line)
            case "compaction_state":
                yield from self._speech.aside(
                    self._entry(line, Role.CONTEXT, Origin.RECALLED, line.summaryText or "")
                )
            case silent if silent in _SILENT:
                return
            case other:
                self.unknown[other[:64]] += 1

    def settle(self) -> Iterator[Seen]:
        """Nothing waits: a line is whole."""
        return iter(())

    def _begin(self, line: _Record) -> None:
        named = line.id if line.type == "session_start" else line.sessionId
        self.session = named or self._speech.session
        self._speech.session = self.session
        self._speech.cwd = line.cwd or self._speech.cwd
        is_called = bool(line.callingSessionId) or (line.title or "").startswith(_TASK)
        self._speech.is_subagent = is_called or line.decompSessionType == "worker"
        self.version = line.version if isinstance(line.version, str) else self.version

    def _message(self, line: _Record, message: _Message) -> Iterator[Entry]:
        text = text_of(message.content)
        if message.role == "user" and text.startswith(_TASK):
            self._speech.is_subagent = True
        entry = opening(self._speech, message.role, text, line.id, line.timestamp)
        entry = replace(entry, parent=line.parentId)
        if message.role == "user" and (message.visibility in _SEEN_BY_ONE or message.messageType):
            entry = replace(entry, role=Role.CONTEXT, origin=_not_human(entry.origin))
        yield from said_in(self._speech, message.role, message.content, entry, REMINDER)

    def _ended(self) -> Iterator[Seen]:
        """A line of its own says that the turn has ended."""
        if self._last is not None and not self._last.turn_end:
            yield from self._speech.answered(self._last, self._last.calls, ended=True)
            self._last = None

    def _printed(self, line: _Record) -> Iterator[Seen]:
        """A message of `droid exec`, whose prompts a program gives."""
        entry = opening(self._speech, line.role or "", line.text or "", line.id, line.timestamp)
        if entry.origin is Origin.HUMAN:
            entry = replace(entry, origin=Origin.HEADLESS)
        yield from said_in(self._speech, line.role or "", line.text, entry, REMINDER)

    def _step(self, line: _Record) -> Iterator[Seen]:
        call = line.id or ""
        match line.type:
            case "tool_call":
                asked = self._speech.call(call, line.toolName or "", line.parameters)
                yield from self._speech.answered(
                    self._entry(line, Role.ASSISTANT, Origin.SYNTHETIC, ""), [asked]
                )
            case "tool_result":
                shown = shown_in(line.value)
                yield from self._speech.result(
                    call, shown, ok=not line.isError, time=line.timestamp, name=line.toolName or ""
                )
            case "completion":
                entry = self._entry(line, Role.ASSISTANT, Origin.SYNTHETIC, line.finalText or "")
                yield from self._speech.answered(entry, ended=True)
            case _:
                said = line.message if isinstance(line.message, str) else ""
                entry = self._entry(line, Role.CONTEXT, Origin.SYNTHETIC, said)
                yield from self._speech.answered(entry, ended=True)

    def _entry(self, line: _Record, role: Role, origin: Origin, text: str) -> Entry:
        return self._speech.entry(role, origin, text, line.id, line.timestamp)


def _not_human(origin: Origin) -> Origin:
    return Origin.SYNTHETIC if origin is Origin.HUMAN else origin


def _roots(around: Surroundings) -> tuple[str, ...]:
    """`.factory/sessions` in the home."""
    return (f"{around.home}/.factory/sessions",)


_BELONGS = re.compile(r"(?:[^/]+/)?[^/]+\.jsonl")


def _claims(path: str, head: bytes) -> bool:
    """True if the first line is this agent's, in either dialect."""
    first = head.lstrip(b"\xef\xbb\xbf \r\n").partition(b"\n")[0]
    if first.startswith(b'{"type":"session_start",'):
        return path.endswith(".jsonl") and b'"id":' in first
    return b'"type":"system"' in first and b'"subtype":"init"' in first and b'"sessionId"' in first


SOURCE = Source(
    agent="droid",
    roots=_roots,
    belongs=lambda path: _BELONGS.fullmatch(path) is not None,
    container=lambda _path: Container.LINES,
    claims=_claims,
    reader=DroidReader,
    writes_turn_end=False,
    gaps="branches that a rewind left are not told apart",
    seen="0.81.0, 0.215.0",
)
