"""Pi and its fork OMP: JSONL whose records form a tree, one file a session."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime

import msgspec

from extractord.core.records import Entry, Origin, Role, Seen, ToolCall, Voided
from extractord.core.transcripts.branches import Branches
from extractord.core.transcripts.pi_records import RECORD, Message, Part, Record, calls_in, text_in
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
_WRAPPERS = re.compile(r"\A\s*<(skill|file) name=\"[^\n>]*>.*</\1>", re.DOTALL)
"""What stands before a person's words, to the last end mark: a file may hold one too."""

_ENDS = frozenset({"stop", "length", "aborted", "error"})
_SILENT_NAMES = """
    title model_change thinking_level_change custom label session_info leaf mode_change usage context_edit"""
_SILENT = frozenset(_SILENT_NAMES.split())
_OUTCOMES = {"ok": True, "error": False}
_WITHOUT_ID = re.compile(rb'\s*\{"type":"\w+","timestamp":')
"""How a line of version 1 begins; an id that was put in since stands at its end."""
_NESTED = re.compile(r"(?:^|/)\d{4}-\d\d-\d\dT[^/]*_[^/]+/[^/]+\.jsonl$")


@dataclass(frozen=True, slots=True)
class Dialect:
    """What agents that keep Pi's files do each in their own way."""

    agent: str
    call: Callable[[str, str, object, str | None], ToolCall]
    """From id, name, arguments and cwd."""
    prompt: Callable[[Entry, Message], Iterator[Entry]]
    """A user's message, as an entry and as recorded, to what a person said and what was put round it."""


PI = Dialect(
    agent="pi",
    call=lambda ident, name, arguments, cwd: tool_call(ident, name, arguments, cwd, _TOOLS),
    prompt=lambda entry, _message: pieces(entry, _WRAPPERS),
)


class PiReader:
    """Folds one session file.

    Version 1 has no ids, so its entries are keyed by their text; they stay so where a newer program
    has rewritten the file and given them ids, so that they are still the same.
    """

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
        self._has_id = False
        self._told = Told()
        self._branches = Branches()
        self._texts: Counter[str] = Counter()

    def feed(self, record: bytes) -> Iterator[Seen]:
        """Given a line, yield what it brings."""
        line = decoded(record, RECORD, self.unknown)
        if line is None:
            return
        self._has_id = bool(line.id) and _WITHOUT_ID.match(record) is None
        if line.id and line.type != "session":
            self._branches.grow(line.id, line.parentId)
        match line.type:
            case "session":
                self._open(line)
            case "message" if line.message is not None:
                yield from self._message(line, line.message)
            case "compaction" | "branch_summary" if line.summary:
                yield from self._tell(line, self._entry(line, Role.CONTEXT, Origin.RECALLED, line.summary))
            case "custom_message":
                text = text_in(line.content)
                yield from self._tell(line, *pieces(self._entry(line, Role.CONTEXT, Origin.SYNTHETIC, text)))
            case silent if silent in _SILENT:
                return
            case other:
                self.unknown[other[:64]] += 1

    def settle(self) -> Iterator[Seen]:
        """Nothing waits: a record is whole."""
        return iter(())

    def _open(self, header: Record) -> None:
        if header.id and header.id != self.session:
            self.session = header.id
            self._branches = Branches()
        self._cwd = header.cwd
        forked = header.parentSession or header.branchedFrom
        self._forked_at = instant(header.timestamp) if forked else None

    def _message(self, line: Record, message: Message) -> Iterator[Seen]:
        text = text_in(message.content)
        match message.role:
            case "user":
                entry = self._entry(line, Role.USER, Origin.HUMAN, text)
                yield from self._prompt(line, tuple(self._dialect.prompt(entry, message)))
            case "assistant":
                entry = self._entry(line, Role.ASSISTANT, Origin.SYNTHETIC, text)
                calls = tuple(
                    self._call(entry.id, nth, part) for nth, part in enumerate(calls_in(message.content))
                )
                ended = message.stopReason in _ENDS
                yield from self._tell(
                    line, msgspec.structs.replace(entry, calls=calls, turn_end=ended), spoken=True
                )
            case "toolResult":
                if message.toolCallId is not None:
                    yield from self._told.outcome(message.toolCallId, ok=not message.isError)
                origin = result_origin(message.toolName or "", text, Origin.SYNTHETIC)
                entry = self._entry(line, Role.TOOL, origin, shortened(text))
                yield from self._tell(line, msgspec.structs.replace(entry, calls=self._nest(entry, message)))
            case "bashExecution":
                shown = f"$ {message.command or ''}\n{message.output or ''}"
                yield from self._tell(
                    line, self._entry(line, Role.CONTEXT, Origin.SYNTHETIC, shortened(shown))
                )
            case "custom" | "hookMessage":
                yield from self._tell(line, *pieces(self._entry(line, Role.CONTEXT, Origin.SYNTHETIC, text)))
            case "compactionSummary" | "branchSummary":
                summary = message.summary or text
                yield from self._tell(line, self._entry(line, Role.CONTEXT, Origin.RECALLED, summary))
            case "system":
                return
            case other:
                self.unknown[f"message/{other[:64]}"] += 1

    def _prompt(self, line: Record, entries: tuple[Entry, ...]) -> Iterator[Seen]:
        """A person's prompt: where it hangs on an earlier record, the branch after that is void."""
        if line.id and (dead := self._branches.left_behind(line.id)):
            yield Voided(session=self.session or self._name, ids=dead)
        yield from self._tell(line, *entries, spoken=True)

    def _entry(self, line: Record, role: Role, origin: Origin, text: str) -> Entry:
        time = instant(line.timestamp)
        if time is None and line.message is not None:
            time = instant(line.message.timestamp)
        if self._forked_at is not None and time is not None and time < self._forked_at:
            origin = Origin.COPIED
        elif self._nested and origin is not Origin.RECALLED:
            origin = Origin.SUBAGENT
        return Entry(
            id=line.id if line.id and self._has_id else self._key(text),
            agent=self._dialect.agent,
            session=self.session or self._name,
            role=role,
            origin=origin,
            text=text,
            parent=line.parentId if self._has_id else None,
            time=time,
            cwd=self._cwd,
        )

    def _key(self, text: str) -> str:
        first = text_key(text, 0)
        self._texts[first] += 1
        return text_key(text, self._texts[first] - 1)

    def _call(self, entry: str, nth: int, part: Part) -> ToolCall:
        return self._dialect.call(part.id or f"{entry}/{nth}", part.name or "", part.arguments, self._cwd)

    def _nest(self, entry: Entry, message: Message) -> tuple[ToolCall, ...]:
        """The calls that a tool made itself, each with its outcome."""
        nested = (message.nestedCalls.calls if message.nestedCalls else None) or ()
        parts = (Part(id=each.id, name=each.name, arguments=each.arguments) for each in nested)
        made = (self._call(entry.id, nth, part) for nth, part in enumerate(parts))
        return tuple(
            msgspec.structs.replace(call, ok=_OUTCOMES.get(each.status or ""))
            for call, each in zip(made, nested, strict=True)
        )

    def _tell(self, line: Record, *entries: Entry, spoken: bool = False) -> Iterator[Seen]:
        record = line.id or entries[0].id.partition("#")[0]
        self._branches.bear(record, (each.id for each in entries), spoken=spoken)
        for entry in entries:
            yield from self._told.tell(entry)


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
    seen="0.31.1 to 1.6.0; records name none",
)
