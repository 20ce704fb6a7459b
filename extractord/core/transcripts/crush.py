"""Crush: sessions and messages as rows of a database in each project, updated while they stream."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from msgspec import Struct, field

from extractord.core.records import Origin, Role, Seen
from extractord.core.transcripts.blocks import REMINDER
from extractord.core.transcripts.decoding import decoder
from extractord.core.transcripts.source import Container, Opened, Rows, Source
from extractord.core.transcripts.speech import Speech
from extractord.core.transcripts.telling import decoded

_ENDS = frozenset({"end_turn", "stop", "max_tokens", "canceled", "error"})
_ITS_OWN = re.compile(
    r"\s*The previous session was interrupted because it got too long, the initial user request"
)
"""How it goes on by itself after a summary: the request that it repeats was given before."""
_SILENT = frozenset({"text", "reasoning", "image_url", "binary", "tool_call", "tool_result", "finish"})
_MS = "CASE WHEN {0} < 100000000000 THEN {0} * 1000 ELSE {0} END"

ROWS = Rows(
    touched=f"""
        SELECT sessions.id, max({_MS.format("sessions.updated_at")}, coalesce(newest.last, 0)) AS at
        FROM sessions LEFT JOIN (
            SELECT session_id, max({_MS.format("updated_at")}) AS last FROM messages GROUP BY session_id
        ) AS newest ON newest.session_id = sessions.id
        WHERE at >= :since ORDER BY at
    """,  # noqa: S608 - nothing of it is given from outside
    records="""
        SELECT 'session' AS kind, id, parent_session_id AS parent, NULL AS role, NULL AS parts,
            NULL AS created_at, NULL AS is_summary
        FROM sessions WHERE id = :session
        UNION ALL
        SELECT * FROM (
            SELECT 'message', one.id, NULL, one.role, CAST(one.parts AS TEXT), one.created_at,
                (SELECT is_summary_message FROM messages AS m WHERE m.id = one.id)
            FROM (SELECT 0 AS is_summary_message) AS missing
            JOIN (SELECT rowid AS nth, * FROM messages WHERE session_id = :session) AS one
            ORDER BY one.created_at, one.nth
        )
    """,
)
"""A column that an older database lacks is found in `missing`, which is outside where it is looked for."""


class _Body(Struct):
    text: str | None = None
    hidden: Any = None
    id: str | None = None
    name: str | None = None
    input: str | None = None
    reason: str | None = None
    tool_call_id: str | None = None
    content: str | None = None
    is_error: Any = None


class _Part(Struct):
    type: str = ""
    data: _Body = field(default_factory=_Body)


class _Row(Struct):
    kind: str = ""
    id: str = ""
    parent: str | None = None
    role: str | None = None
    parts: str | None = None
    created_at: Any = None
    is_summary: Any = None


_ROW = decoder(_Row)
_PARTS = decoder(list[_Part])


class CrushReader:
    """Folds the rows of one session after another."""

    def __init__(self, opened: Opened) -> None:
        """Take the project for the cwd: the database lies in its folder `.crush`."""
        self.session: str | None = None
        self.version: str | None = None
        self.unknown: Counter[str] = Counter()
        self._speech = Speech("crush", "")
        project, found, _ = opened.path.replace("\\", "/").rpartition("/.crush/")
        self._speech.cwd = project if found else None

    def feed(self, record: bytes) -> Iterator[Seen]:
        """Given a row of `ROWS.records` as JSON, yield what it brings."""
        row = decoded(record, _ROW, self.unknown)
        if row is None:
            return
        match row.kind:
            case "session":
                self.session, self._speech.is_subagent = row.id, bool(row.parent)
                self._speech.begin(row.id)
            case "message":
                yield from self._message(row)
            case other:
                self.unknown[other[:64]] += 1

    def settle(self) -> Iterator[Seen]:
        """Nothing waits: a row is told as it stands."""
        return iter(())

    def _message(self, row: _Row) -> Iterator[Seen]:
        parts = decoded((row.parts or "").encode(), _PARTS, self.unknown) or []
        for part in parts:
            if part.type not in _SILENT:
                self.unknown[f"part/{part.type[:64]}"] += 1
        texts = [part.data for part in parts if part.type == "text" and part.data.text]
        text = "\n".join(each.text or "" for each in texts)
        its_own = _ITS_OWN.match(text) is not None or any(each.hidden for each in texts)
        speech, at = self._speech, row.created_at
        if row.is_summary:
            yield from speech.aside(speech.entry(Role.CONTEXT, Origin.RECALLED, text, row.id, at))
        elif row.role == "user" and its_own:
            yield from speech.aside(speech.entry(Role.CONTEXT, Origin.SYNTHETIC, text, row.id, at))
        elif row.role == "user":
            entry = speech.entry(Role.USER, Origin.HUMAN, text, row.id, at)
            yield from speech.prompted(entry, REMINDER) if text.strip() else ()
        elif row.role == "assistant":
            calls = [
                speech.call(part.data.id or f"{row.id}/{nth}", part.data.name or "", part.data.input or "")
                for nth, part in enumerate(parts)
                if part.type == "tool_call"
            ]
            ended = any(part.type == "finish" and part.data.reason in _ENDS for part in parts)
            entry = speech.entry(Role.ASSISTANT, Origin.SYNTHETIC, text, row.id, at)
            yield from speech.answered(entry, calls, ended=ended and not speech.is_subagent)
        else:
            for nth, part in enumerate(part for part in parts if part.type == "tool_result"):
                result, call = part.data, part.data.tool_call_id or f"{row.id}/{nth}"
                ok = not result.is_error
                yield from speech.result(call, result.content or "", ok=ok, time=at, name=result.name or "")


_BELONGS = re.compile(r"(?:.*/)?\.crush/crush\.db")


SOURCE = Source(
    agent="crush",
    roots=lambda _around: (),
    belongs=lambda path: _BELONGS.fullmatch(path) is not None,
    container=lambda _path: Container.ROWS,
    claims=lambda path, head: head.startswith(b"SQLite format 3\0") and path.endswith("/crush.db"),
    reader=CrushReader,
    rows=ROWS,
    gaps="deleted messages stay known",
    seen="records name none",
)
