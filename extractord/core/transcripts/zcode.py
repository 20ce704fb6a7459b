"""ZCode: sessions, messages and their parts as rows of one database, times in several units."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from msgspec import Struct, field

from extractord.core.records import Entry, Origin, Role, Seen, ToolCall
from extractord.core.transcripts.blocks import REMINDER, shown_in
from extractord.core.transcripts.decoding import decoder
from extractord.core.transcripts.source import Container, Opened, Rows, Source, Surroundings
from extractord.core.transcripts.speech import Speech
from extractord.core.transcripts.telling import decoded

_OUTCOMES = {"completed": True, "error": False}
_SILENT = frozenset({"reasoning", "file", "step-start", "step-finish", "snapshot", "patch", "compaction"})

ROWS = Rows(
    touched="""
        SELECT id, CASE WHEN time_updated < 100000000000 THEN time_updated * 1000 ELSE time_updated END AS at
        FROM session WHERE at >= :since ORDER BY at
    """,
    records="""
        SELECT 'session' AS kind, id, directory, NULL AS time, NULL AS data, NULL AS parts
        FROM session WHERE id = :session
        UNION ALL
        SELECT * FROM (
            SELECT 'message', message.id, NULL, message.time_created, CAST(message.data AS TEXT),
                (SELECT json_group_array(json_object('id', id, 'data', data)) FROM (
                    SELECT id, CAST(data AS TEXT) AS data FROM part
                    WHERE message_id = message.id ORDER BY part.rowid))
            FROM message WHERE message.session_id = :session ORDER BY message.rowid
        )
    """,
)
"""A session's row, then each message with its parts, in the order in which they were written."""


class _Row(Struct):
    kind: str = ""
    id: str = ""
    directory: str | None = None
    time: Any = None
    data: str | None = None
    parts: str | None = None


class _PartRow(Struct):
    id: str = ""
    data: str = ""


class _Message(Struct):
    role: str = ""
    summary: Any = None


class _State(Struct):
    status: str | None = None
    input: Any = None
    output: Any = None
    error: Any = None


class _Part(Struct):
    type: str = ""
    text: str | None = None
    synthetic: Any = None
    tool: str | None = None
    name: str | None = None
    callID: str | None = None  # noqa: N815 - the record's own name
    id: str | None = None
    input: Any = None
    state: _State = field(default_factory=_State)


_ROW = decoder(_Row)
_PARTS = decoder(list[_PartRow])
_MESSAGE = decoder(_Message)
_PART = decoder(_Part)


class ZCodeReader:
    """Folds the rows of one session after another."""

    def __init__(self, _opened: Opened) -> None:
        """Know nothing until a session's row comes."""
        self.session: str | None = None
        self.version: str | None = None
        self.unknown: Counter[str] = Counter()
        self._speech = Speech("zcode", "")

    def feed(self, record: bytes) -> Iterator[Seen]:
        """Given a row of `ROWS.records` as JSON, yield what it brings."""
        row = decoded(record, _ROW, self.unknown)
        if row is None:
            return
        match row.kind:
            case "session":
                self.session, self._speech.cwd = row.id, row.directory
                self._speech.begin(row.id)
            case "message":
                yield from self._message(row)
            case other:
                self.unknown[other[:64]] += 1

    def settle(self) -> Iterator[Seen]:
        """Nothing waits: a row is told as it stands."""
        return iter(())

    def _message(self, row: _Row) -> Iterator[Seen]:
        message = decoded((row.data or "").encode(), _MESSAGE, self.unknown)
        if message is None:
            return
        parts = [each for each in self._parts(row) if not each.synthetic]
        text = "\n".join(part.text for part in parts if part.type == "text" and part.text)
        asked = [part for part in parts if part.type in ("tool", "tool_use")]
        for part in parts:
            if part.type != "text" and part not in asked and part.type not in _SILENT:
                self.unknown[f"part/{part.type[:64]}"] += 1
        match message.role:
            case "user":
                entry = self._entry(row, Role.USER, Origin.HUMAN, text)
                yield from self._speech.prompted(entry, REMINDER) if text.strip() else ()
            case "assistant" if message.summary:
                yield from self._speech.aside(self._entry(row, Role.CONTEXT, Origin.RECALLED, text))
            case "assistant":
                entry = self._entry(row, Role.ASSISTANT, Origin.SYNTHETIC, text)
                calls = tuple(self._call(entry.id, nth, part) for nth, part in enumerate(asked))
                yield from self._speech.answered(entry, calls)
                yield from self._results(row, calls, asked)
            case other:
                self.unknown[f"message/{other[:64]}"] += 1

    def _parts(self, row: _Row) -> Iterator[_Part]:
        for each in decoded((row.parts or "[]").encode(), _PARTS, self.unknown) or ():
            part = decoded(each.data.encode(), _PART, self.unknown)
            if part is not None:
                yield part

    def _call(self, entry: str, nth: int, part: _Part) -> ToolCall:
        asked = part.state.input if part.state.input is not None else part.input
        ident = part.callID or part.id or f"{entry}/{nth}"
        return self._speech.call(ident, part.tool or part.name or "", asked)

    def _results(self, row: _Row, calls: tuple[ToolCall, ...], asked: list[_Part]) -> Iterator[Seen]:
        for call, part in zip(calls, asked, strict=True):
            ok = _OUTCOMES.get(part.state.status or "")
            if ok is not None:
                shown = shown_in(part.state.output if ok else part.state.error)
                yield from self._speech.result(call.id, shown, ok=ok, time=_time(row.time))

    def _entry(self, row: _Row, role: Role, origin: Origin, text: str) -> Entry:
        return self._speech.entry(role, origin, text, row.id, _time(row.time))


def _time(value: object) -> object:
    """A number may stand as text."""
    return int(value) if isinstance(value, str) and re.fullmatch(r"\d{1,18}", value, re.ASCII) else value


def _roots(around: Surroundings) -> tuple[str, ...]:
    """`.zcode/cli/db` in the home."""
    return (f"{around.home}/.zcode/cli/db",)


SOURCE = Source(
    agent="zcode",
    roots=_roots,
    belongs=lambda path: path == "db.sqlite",
    container=lambda _path: Container.ROWS,
    claims=lambda path, head: head.startswith(b"SQLite format 3\0") and "zcode" in path,
    reader=ZCodeReader,
    rows=ROWS,
    writes_turn_end=False,
    gaps="deleted messages stay known",
    seen="records name none",
)
