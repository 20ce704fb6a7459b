"""A session of opencode: messages and parts, updated while they stream and deleted after a revert."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import msgspec

from extractord.core.records import Entry, Origin, Role, Seen, ToolCall, Voided
from extractord.core.transcripts.blocks import REMINDER
from extractord.core.transcripts.opencode_export import exported, session_row
from extractord.core.transcripts.opencode_rows import (
    IDS,
    MESSAGE,
    PART,
    PARTS,
    REVERT,
    ROW,
    ROW_LIST,
    SESSION_FILE,
    TOOLS,
    Message,
    Part,
    Revert,
    Row,
    SessionFile,
    made_later,
)
from extractord.core.transcripts.opencode_words import beside, heard
from extractord.core.transcripts.recorded import instant, shortened
from extractord.core.transcripts.source import Opened
from extractord.core.transcripts.telling import Told, decoded, pieces, result_origin
from extractord.core.transcripts.toolcalls import tool_call

AGENT = "opencode"

_GOES_ON = frozenset({"tool-calls", "unknown"})
_SILENT = frozenset(
    {
        "reasoning",
        "file",
        "step-start",
        "step-finish",
        "patch",
        "snapshot",
        "agent",
        "subtask",
        "retry",
        "compaction",
    }
)


class OpencodeReader:
    """Folds the rows of one session after another; entries keep the rows' ids and update times."""

    def __init__(self, _opened: Opened, agent: str = AGENT) -> None:
        """Know nothing until a session's row comes; forks of opencode keep its tables."""
        self._agent = agent
        self.session: str | None = None
        self.version: str | None = None
        self.unknown: Counter[str] = Counter()
        self._subagent = False
        self._directory: str | None = None
        self._revert: Revert | None = None
        self._told = Told()
        self._live: dict[str, dict[str, tuple[str, ...]]] = {}
        self._void: dict[str, tuple[str, ...]] = {}

    def feed(self, record: bytes) -> Iterator[Seen]:
        """Given a row of `ROWS.records` as JSON, or a list of such from files, yield what it brings."""
        if record.startswith(b"["):
            rows = decoded(record, ROW_LIST, self.unknown) or []
        else:
            row = decoded(record, ROW, self.unknown)
            rows = [row] if row is not None else []
        for each in rows:
            yield from self._row(each)

    def _row(self, row: Row) -> Iterator[Seen]:
        match row.kind:
            case "session":
                yield from self._opened(row)
            case "file":
                yield from self._from_file(row)
            case "message":
                yield from self._message(row)
            case other:
                self.unknown[other[:64]] += 1

    def _from_file(self, row: Row) -> Iterator[Seen]:
        """A session's own file, or all of it in an export, as rows in the database would be."""
        whole = tuple(exported(row.data or ""))
        for each in whole:
            yield from self._row(each)
        if not whole:
            found = decoded((row.data or "").encode(), SESSION_FILE, self.unknown) or SessionFile()
            yield from self._opened(session_row(found, row.id, row.parts))

    def settle(self) -> Iterator[Seen]:
        """Nothing waits: a row is told as it stands."""
        return iter(())

    def _opened(self, row: Row) -> Iterator[Seen]:
        """A session's row; messages that it no longer has were deleted, which a revert does."""
        self.session, self.version = row.id, row.version or self.version
        self._subagent, self._directory = bool(row.parent_id), row.directory
        self._revert = decoded(row.revert.encode(), REVERT, self.unknown) if row.revert else None
        there = set(decoded((row.data or "[]").encode(), IDS, self.unknown) or ())
        live = self._live.setdefault(row.id, {})
        yield from self._voided([message for message in live if message not in there])

    def _voided(self, messages: list[str]) -> Iterator[Seen]:
        live = self._live.get(self.session or "", {})
        if dead := tuple(entry for message in messages for entry in live.pop(message, ())):
            yield Voided(session=self.session or "", ids=dead)

    def _message(self, row: Row) -> Iterator[Seen]:
        message = decoded((row.data or "").encode(), MESSAGE, self.unknown)
        if message is None:
            return
        active = not self._reverted(row.id)
        entry = Entry(
            id=row.id,
            agent=self._agent,
            session=self.session or "",
            role=Role.CONTEXT,
            origin=Origin.SYNTHETIC,
            parent=message.parentID,
            time=instant(_at(message.time, "created")),
            cwd=_at(message.path, "cwd") or self._directory,
            active=active,
        )
        parts = tuple(self._parts(row))
        match message.role:
            case "user":
                entries = tuple(self._user(entry, parts))
            case "assistant":
                entries = tuple(self._assistant(entry, message, parts))
            case other:
                self.unknown[f"message/{other[:64]}"] += 1
                return
        if active and (again := self._void.pop(row.id, ())):
            yield Voided(session=self.session or "", again=again)
        revision = row.time_updated if isinstance(row.time_updated, int) else 0
        live = self._live.setdefault(self.session or "", {})
        for each in entries:
            origin = self._origin(entry, each.origin)
            yield from self._told.tell(msgspec.structs.replace(each, origin=origin), max(revision, 0))
        live[row.id] = ids = tuple(each.id for each in entries)
        if not active and self._void.get(row.id) != ids:
            self._void[row.id] = ids
            yield Voided(session=self.session or "", ids=ids)

    def _origin(self, message: Entry, origin: Origin) -> Origin:
        """Where words come from, as the session tells: a fork's copies have older times than ids."""
        if origin is Origin.RECALLED:
            return origin
        if message.time is not None and made_later(self.session or "", message.id, message.time):
            return Origin.COPIED
        return Origin.SUBAGENT if self._subagent else origin

    def _reverted(self, message: str) -> bool:
        """True for what a revert has taken back, from a message, or from a part in it, on."""
        revert = self._revert
        if revert is None or not revert.messageID:
            return False
        return message > revert.messageID or (message == revert.messageID and not revert.partID)

    def _parts(self, row: Row) -> Iterator[Part]:
        for stored in decoded((row.parts or "[]").encode(), PARTS, self.unknown) or ():
            part = decoded(stored.data.encode(), PART, self.unknown)
            if part is None:
                continue
            if part.type not in ("text", "tool") and part.type not in _SILENT:
                self.unknown[f"part/{part.type[:64]}"] += 1
            part.id = stored.id
            yield part

    def _user(self, entry: Entry, parts: tuple[Part, ...]) -> Iterator[Entry]:
        typed = [part.text for part in parts if part.type == "text" and part.text and not _made(part)]
        spoken = [said for said in map(heard, typed) if said[1] is not Origin.SYNTHETIC]
        is_bare = not any(part.type in ("compaction", "text", "subtask") for part in parts)
        if spoken or (parts and is_bare):
            said = "\n".join(words for words, _ in spoken)
            origin = spoken[0][1] if spoken else Origin.HUMAN
            prompt = msgspec.structs.replace(entry, role=Role.USER, origin=origin, text=said)
            yield from pieces(prompt, REMINDER)
        if around := "\n\n".join(filter(None, map(beside, typed))):
            yield from pieces(msgspec.structs.replace(entry, id=f"{entry.id}#0", text=around))
        for part in parts:
            if part.type == "text" and part.text and _made(part):
                yield from pieces(msgspec.structs.replace(entry, id=part.id, text=part.text))

    def _assistant(self, entry: Entry, message: Message, parts: tuple[Part, ...]) -> Iterator[Entry]:
        text = "\n".join(part.text for part in parts if part.type == "text" and part.text and not _made(part))
        if message.summary is True:
            yield msgspec.structs.replace(entry, origin=Origin.RECALLED, text=text)
            return
        steps = [part.reason for part in parts if part.type == "step-finish"]
        finish = message.finish or next(reversed(steps), None)
        finished = finish is not None and finish not in _GOES_ON
        yield msgspec.structs.replace(
            entry,
            role=Role.ASSISTANT,
            text=text,
            calls=tuple(self._call(entry.cwd, part) for part in parts if part.type == "tool"),
            turn_end=bool(_at(message.time, "completed")) and (finished or bool(message.error)),
        )
        for part in parts:
            output = part.state.output if part.state.status == "completed" else part.state.error
            if part.type == "tool" and isinstance(output, str) and output:
                yield msgspec.structs.replace(
                    entry,
                    id=part.id,
                    role=Role.TOOL,
                    origin=result_origin(part.tool or "", output, Origin.SYNTHETIC),
                    text=shortened(output),
                    time=instant(_at(part.state.time, "end")) or entry.time,
                )

    def _call(self, cwd: str | None, part: Part) -> ToolCall:
        call = tool_call(part.callID or part.id, part.tool or "", part.state.input, cwd, TOOLS)
        ok = {"completed": _at(part.state.metadata, "exit") in (None, 0), "error": False}.get(
            part.state.status or ""
        )
        return msgspec.structs.replace(call, ok=ok)


def _made(part: Part) -> bool:
    """True if the agent made a text part: its own, or shown but never sent."""
    return bool(part.synthetic or part.ignored)


def _at(value: object, key: str) -> Any:
    """The key's value where `value` is an object, else None."""
    return value.get(key) if isinstance(value, dict) else None
