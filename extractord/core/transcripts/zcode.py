"""ZCode: sessions, messages and their parts as rows of one database, times in several units."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from extractord.core.records import Entry, Origin, Role, Seen, ToolCall
from extractord.core.transcripts.blocks import REMINDER, shown_in
from extractord.core.transcripts.decoding import decoder
from extractord.core.transcripts.source import Container, Opened, Rows, Source, Surroundings
from extractord.core.transcripts.speech import Speech
from extractord.core.transcripts.telling import decoded
from extractord.core.transcripts.zcode_meaning import Branch, Message, is_sub_agents, origin_of

_OUTCOMES = {"completed": True, "error": False}
_ASKS = frozenset({"tool", "tool_use"})
_SILENT = _ASKS | {
    *("text", "reasoning", "thinking", "file", "image", "step-start", "step-finish", "snapshot", "patch"),
    *("compaction", "agent", "subtask", "retry", "timeline"),
}
_NANOSECONDS = 10**15

_NUMBER = """
    CASE WHEN typeof({0}) = 'text' AND {0} GLOB '*[^0-9]*' THEN CAST(strftime('%s', {0}) AS INTEGER)
    ELSE CAST({0} AS INTEGER) END
"""
"""A time as a number, in whatever unit it is; written as a number, as its text, or as ISO 8601 has it."""
_MS = """
    CASE WHEN {0} < 100000000000 THEN {0} * 1000 WHEN {0} >= 1000000000000000 THEN {0} / 1000000 ELSE {0} END
"""

ROWS = Rows(
    touched=f"""
        SELECT id, max({_MS.format("coalesce(own, 0)")}, {_MS.format("coalesce(newest, 0)")}) AS at
        FROM (
            SELECT id, {_NUMBER.format("coalesce(time_updated, time_created)")} AS own, (
                SELECT max({_NUMBER.format("message.time_created")}) FROM message
                WHERE message.session_id = session.id) AS newest
            FROM session
        )
        WHERE at >= :since ORDER BY at
    """,  # noqa: S608 - nothing of it is given from outside
    records="""
        SELECT 'session' AS kind, one.id, one.directory,
            (SELECT parent_id FROM session AS s WHERE s.id = one.id) AS parent,
            (SELECT task_type FROM session AS s WHERE s.id = one.id) AS task,
            (SELECT CAST(revert AS TEXT) FROM session AS s WHERE s.id = one.id) AS revert,
            NULL AS time, NULL AS data, NULL AS parts
        FROM (SELECT NULL AS parent_id, NULL AS task_type, NULL AS revert) AS missing
        JOIN (SELECT id, directory FROM session WHERE id = :session) AS one
        UNION ALL
        SELECT * FROM (
            SELECT 'message', message.id, NULL, NULL, NULL, NULL,
                message.time_created, CAST(message.data AS TEXT),
                (SELECT json_group_array(json_object('id', id, 'data', data)) FROM (
                    SELECT id, CAST(data AS TEXT) AS data FROM part
                    WHERE message_id = message.id ORDER BY part.rowid))
            FROM message WHERE message.session_id = :session ORDER BY message.rowid
        )
    """,
)
"""A session's row, then each message with its parts, in the order in which they were written.

A column that a database lacks is found in `missing`, which is outside where it is looked for.
"""


class _Row(Struct):
    kind: str = ""
    id: str = ""
    directory: str | None = None
    parent: str | None = None
    task: str | None = None
    revert: str | None = None
    time: Any = None
    data: str | None = None
    parts: str | None = None


class _PartRow(Struct):
    data: str | None = None


class _State(Struct):
    status: str | None = None
    input: Any = None
    output: Any = None
    error: Any = None


class _Part(Struct):
    type: str = ""
    text: str | None = None
    content: Any = None
    synthetic: Any = None
    ignored: Any = None
    is_error: Any = None
    tool_use_id: str | None = None
    output: Any = None
    tool: str | None = None
    name: str | None = None
    callID: str | None = None  # noqa: N815 - the record's own name
    id: str | None = None
    input: Any = None
    state: _State = field(default_factory=_State)


_ROW = decoder(_Row)
_PARTS = decoder(list[_PartRow])
_MESSAGE = decoder(Message)
_PART = decoder(_Part)


class ZCodeReader:
    """Folds the rows of one session after another."""

    def __init__(self, _opened: Opened) -> None:
        """Know nothing until a session's row comes."""
        self.session: str | None = None
        self.version: str | None = None
        self.unknown: Counter[str] = Counter()
        self._speech = Speech("zcode", "")
        self._branch = Branch(None, self.unknown)

    def feed(self, record: bytes) -> Iterator[Seen]:
        """Given a row of `ROWS.records` as JSON, yield what it brings."""
        row = decoded(record, _ROW, self.unknown)
        if row is None:
            return
        match row.kind:
            case "session":
                self.session, self._speech.cwd = row.id, row.directory
                self._speech.is_subagent = is_sub_agents(row.task, row.parent)
                self._branch = Branch(row.revert, self.unknown)
                self._speech.begin(row.id)
            case "message":
                yield from self._message(row)
            case other:
                self.unknown[other[:64]] += 1

    def settle(self) -> Iterator[Seen]:
        """Nothing waits: a row is told as it stands."""
        return iter(())

    def _message(self, row: _Row) -> Iterator[Seen]:
        stands = self._branch.stands(row.id)
        message = decoded((row.data or "").encode(), _MESSAGE, self.unknown)
        if message is None:
            return
        parts = [each for each in self._parts(row) if not (each.synthetic or each.ignored)]
        text = "\n".join(filter(None, (_text(part) for part in parts)))
        asked = [part for part in parts if part.type in _ASKS]
        for part in parts:
            if part.type == "tool_result":
                yield from self._answered(row, part)
            elif part.type not in _SILENT:
                self.unknown[f"part/{part.type[:64]}"] += 1
        match message.role:
            case "user":
                yield from self._said(row, origin_of(message, text), text, stands=stands)
            case "assistant" if message.summary:
                yield from self._said(row, Origin.RECALLED, text, stands=stands)
            case "assistant" | "model":
                entry = self._entry(row, Role.ASSISTANT, Origin.SYNTHETIC, text, stands=stands)
                calls = tuple(self._call(entry.id, nth, part) for nth, part in enumerate(asked))
                yield from self._speech.answered(entry, calls)
                yield from self._results(row, calls, asked)
            case "system":
                return
            case other:
                self.unknown[f"message/{other[:64]}"] += 1

    def _said(self, row: _Row, origin: Origin, text: str, *, stands: bool) -> Iterator[Seen]:
        """A person's prompt, or what the program says in a message of theirs."""
        if origin in (Origin.RECALLED, Origin.SYNTHETIC):
            yield from self._speech.aside(self._entry(row, Role.CONTEXT, origin, text, stands=stands))
        elif text.strip():
            entry = self._entry(row, Role.USER, origin, text, stands=stands)
            yield from self._speech.prompted(entry, REMINDER)

    def _answered(self, row: _Row, part: _Part) -> Iterator[Seen]:
        """A result that stands in a part of its own."""
        call = part.tool_use_id or part.callID or part.id
        shown = shown_in(part.content) or shown_in(part.output)
        if call:
            yield from self._speech.result(call, shown, ok=not part.is_error, time=_time(row.time))

    def _parts(self, row: _Row) -> Iterator[_Part]:
        for each in decoded((row.parts or "[]").encode(), _PARTS, self.unknown) or ():
            part = decoded((each.data or "").encode(), _PART, self.unknown)
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

    def _entry(self, row: _Row, role: Role, origin: Origin, text: str, *, stands: bool) -> Entry:
        entry = self._speech.entry(role, origin, text, row.id, _time(row.time))
        return entry if stands else replace(entry, active=False)


def _text(part: _Part) -> str | None:
    """What a part says, under either name."""
    return (part.text or shown_in(part.content)) if part.type == "text" else None


def _time(value: object) -> object:
    """A number may stand as text, and count nanoseconds."""
    number = int(value) if isinstance(value, str) and re.fullmatch(r"\d{1,19}", value, re.ASCII) else value
    return number // 1_000_000 if isinstance(number, int) and number >= _NANOSECONDS else number


def _roots(around: Surroundings) -> tuple[str, ...]:
    """`cli/db` in `ZCODE_HOME`, else in `.zcode` in the home; and the folder of a database that is named."""
    base = around.env.get("ZCODE_HOME") or f"{around.home}/.zcode"
    named = around.env.get("ZCODE_SESSION_DB_PATH") or around.env.get("ZCODE_SESSION_DB") or ""
    own = named.rpartition("/")[0] if named.endswith("/db.sqlite") else ""
    return tuple(dict.fromkeys((f"{base}/cli/db", *([own] if own.startswith("/") else []))))


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
    seen="records name none; CLI 0.16.5 as described",
)
