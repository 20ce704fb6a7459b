"""Pi and its fork OMP: JSONL whose records form a tree, one file a session."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec
from msgspec import Struct

from extractord.core.records import Entry, Origin, Role, Seen, ToolCall, Voided
from extractord.core.transcripts.branches import Branches
from extractord.core.transcripts.decoding import decoder
from extractord.core.transcripts.recorded import instant, shortened, text_key
from extractord.core.transcripts.source import Container, Opened, Source, Surroundings
from extractord.core.transcripts.telling import Told, decoded, pieces, result_origin
from extractord.core.transcripts.toolcalls import Takes, tool_call

_TOOLS = {
    "read": Takes("read", ("path", "file_path")),
    "grep": Takes("read", ("path",)),
    "find": Takes("read", ("path",)),
    "ls": Takes("read", ("path",)),
    "write": Takes("write", ("path", "file_path")),
    "edit": Takes("write", ("path", "file_path")),
    "apply_patch": Takes("patch", ("patch", "input")),
    "bash": Takes("shell", ("command",), ("cwd",)),
}
_WRAPPERS = re.compile(r"\A\s*<(skill|file) name=\"[^\n]*?>.*</\1>", re.DOTALL)
"""What stands before a person's words, to the last end mark: a file may hold one too."""

_ENDS = frozenset({"stop", "length", "aborted", "error"})
_SILENT = frozenset(
    {
        "title",
        "model_change",
        "thinking_level_change",
        "custom",
        "label",
        "session_info",
        "leaf",
        "mode_change",
    }
)
_NESTED = re.compile(r"(?:^|/)\d{4}-\d\d-\d\dT[^/]*_[^/]+/[^/]+\.jsonl$")


class _Part(Struct):
    type: str = ""
    text: str | None = None
    id: str | None = None
    name: str | None = None
    arguments: Any = None


class _Message(Struct):
    role: str = ""
    content: str | list[_Part] | None = None
    stopReason: str | None = None  # noqa: N815 - the record's own name
    toolCallId: str | None = None  # noqa: N815
    toolName: str | None = None  # noqa: N815
    isError: Any = None  # noqa: N815
    command: str | None = None
    output: str | None = None
    summary: str | None = None
    timestamp: Any = None


class _Record(Struct):
    type: str = ""
    id: str | None = None
    parentId: str | None = None  # noqa: N815
    timestamp: Any = None
    cwd: str | None = None
    parentSession: Any = None  # noqa: N815
    branchedFrom: Any = None  # noqa: N815
    message: _Message | None = None
    content: str | list[_Part] | None = None
    summary: str | None = None


_DECODER = decoder(_Record)


@dataclass(frozen=True, slots=True)
class Dialect:
    """What agents that keep Pi's files do each in their own way."""

    agent: str
    call: Callable[[str, str, object, str | None], ToolCall]
    """From id, name, arguments and cwd."""
    prompt: Callable[[Entry], Iterator[Entry]]
    """A user's message as recorded to what a person said, and what was put round it."""


PI = Dialect(
    agent="pi",
    call=lambda ident, name, arguments, cwd: tool_call(ident, name, arguments, cwd, _TOOLS),
    prompt=lambda entry: pieces(entry, _WRAPPERS),
)


class PiReader:
    """Folds one session file; version 1 has no ids, so its entries are keyed by their text."""

    def __init__(self, opened: Opened, dialect: Dialect = PI) -> None:
        """Take the file's name for the session's where no header says it."""
        self._dialect = dialect
        self.session: str | None = None
        self._name = opened.path.rsplit("/", 1)[-1].removesuffix(".jsonl")
        self.version: str | None = None
        self.unknown: Counter[str] = Counter()
        self._nested = _NESTED.search(opened.path) is not None
        self._cwd: str | None = None
        self._forked_at: datetime | None = None
        self._told = Told()
        self._branches = Branches()
        self._texts: Counter[str] = Counter()

    def feed(self, record: bytes) -> Iterator[Seen]:
        """Given a line, yield what it brings."""
        line = decoded(record, _DECODER, self.unknown)
        if line is None:
            return
        if line.id and line.type != "session":
            self._branches.grow(line.id, line.parentId)
        match line.type:
            case "session":
                self._open(line)
            case "message" if line.message is not None:
                yield from self._message(line, line.message)
            case "compaction" | "branch_summary" if line.summary:
                yield from self._tell(self._entry(line, Role.CONTEXT, Origin.RECALLED, line.summary))
            case "custom_message":
                text = _text(line.content)
                yield from self._tell(*pieces(self._entry(line, Role.CONTEXT, Origin.SYNTHETIC, text)))
            case silent if silent in _SILENT:
                return
            case other:
                self.unknown[other[:64]] += 1

    def settle(self) -> Iterator[Seen]:
        """Nothing waits: a record is whole."""
        return iter(())

    def _open(self, header: _Record) -> None:
        if header.id and header.id != self.session:
            self.session = header.id
            self._branches = Branches()
        self._cwd = header.cwd
        forked = header.parentSession or header.branchedFrom
        self._forked_at = instant(header.timestamp) if forked else None

    def _message(self, line: _Record, message: _Message) -> Iterator[Seen]:
        text = _text(message.content)
        match message.role:
            case "user":
                entry = self._entry(line, Role.USER, Origin.HUMAN, text)
                yield from self._prompt(line, tuple(self._dialect.prompt(entry)))
            case "assistant":
                entry = self._entry(line, Role.ASSISTANT, Origin.SYNTHETIC, text)
                calls = tuple(
                    self._call(entry.id, nth, part) for nth, part in enumerate(_calls(message.content))
                )
                ended = message.stopReason in _ENDS
                yield from self._tell(
                    msgspec.structs.replace(entry, calls=calls, turn_end=ended), spoken=True
                )
            case "toolResult":
                if message.toolCallId is not None:
                    yield from self._told.outcome(message.toolCallId, ok=not message.isError)
                origin = result_origin(message.toolName or "", text, Origin.SYNTHETIC)
                yield from self._tell(self._entry(line, Role.TOOL, origin, shortened(text)))
            case "bashExecution":
                shown = f"$ {message.command or ''}\n{message.output or ''}"
                yield from self._tell(self._entry(line, Role.CONTEXT, Origin.SYNTHETIC, shortened(shown)))
            case "custom" | "hookMessage":
                yield from self._tell(*pieces(self._entry(line, Role.CONTEXT, Origin.SYNTHETIC, text)))
            case "compactionSummary" | "branchSummary":
                summary = message.summary or text
                yield from self._tell(self._entry(line, Role.CONTEXT, Origin.RECALLED, summary))
            case other:
                self.unknown[f"message/{other[:64]}"] += 1

    def _prompt(self, line: _Record, entries: tuple[Entry, ...]) -> Iterator[Seen]:
        """A person's prompt: where it hangs on an earlier record, the branch after that is void."""
        if line.id and (dead := self._branches.left_behind(line.id)):
            yield Voided(session=self.session or self._name, ids=dead)
        yield from self._tell(*entries, spoken=True)

    def _entry(self, line: _Record, role: Role, origin: Origin, text: str) -> Entry:
        time = instant(line.timestamp)
        if time is None and line.message is not None:
            time = instant(line.message.timestamp)
        if self._forked_at is not None and time is not None and time < self._forked_at:
            origin = Origin.COPIED
        elif self._nested and origin is not Origin.RECALLED:
            origin = Origin.SUBAGENT
        return Entry(
            id=line.id or self._key(text),
            agent=self._dialect.agent,
            session=self.session or self._name,
            role=role,
            origin=origin,
            text=text,
            parent=line.parentId,
            time=time,
            cwd=self._cwd,
        )

    def _key(self, text: str) -> str:
        first = text_key(text, 0)
        self._texts[first] += 1
        return text_key(text, self._texts[first] - 1)

    def _call(self, entry: str, nth: int, part: _Part) -> ToolCall:
        return self._dialect.call(part.id or f"{entry}/{nth}", part.name or "", part.arguments, self._cwd)

    def _tell(self, *entries: Entry, spoken: bool = False) -> Iterator[Seen]:
        self._branches.bear(entries[0].id.partition("#")[0], (each.id for each in entries), spoken=spoken)
        for entry in entries:
            yield from self._told.tell(entry)


def _text(content: str | list[_Part] | None) -> str:
    """The text of a message's content, without thinking and images."""
    if content is None or isinstance(content, str):
        return content or ""
    return "\n".join(part.text for part in content if part.type == "text" and part.text)


def _calls(content: str | list[_Part] | None) -> list[_Part]:
    return [part for part in content if part.type == "toolCall"] if isinstance(content, list) else []


def home_of(around: Surroundings) -> str:
    """Where its own files are."""
    return _absolute(around.env.get("PI_CODING_AGENT_DIR") or "~/.pi/agent", around)


def _roots(around: Surroundings) -> tuple[str, ...]:
    """`PI_CODING_AGENT_SESSION_DIR`, else `sessions` in its home; and those of OMP."""
    flat = around.env.get("PI_CODING_AGENT_SESSION_DIR")
    return (
        _absolute(flat, around) if flat else f"{home_of(around)}/sessions",
        _absolute("~/.omp/agent/sessions", around),
    )


def _absolute(place: str, around: Surroundings) -> str:
    return (around.home + place[1:] if place.startswith("~/") else place).rstrip("/")


def _claims(_path: str, head: bytes) -> bool:
    """True if the head holds a session header as Pi writes it, before or after a title."""
    lines = head[:8192].split(b"\n")[:2]
    return any(line.startswith(b'{"type":"session",') and b'"cwd"' in line for line in lines)


SOURCE = Source(
    agent="pi",
    roots=_roots,
    belongs=lambda path: path.endswith(".jsonl") and path.count("/") <= 2,  # noqa: PLR2004 - slug/session/sub-agent
    container=lambda _path: Container.LINES,
    claims=_claims,
    reader=PiReader,
    seen="0.73.1 and before; records name none",
)
