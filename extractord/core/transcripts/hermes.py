"""Hermes: rows of one database, undone by a flag; before that, lines or a document for each session."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from msgspec import Raw, Struct
from msgspec.structs import replace

from extractord.core.records import Origin, Role, Seen
from extractord.core.transcripts.chat import ROLES, ChatMessage, calls_of, opening, text_of, told
from extractord.core.transcripts.decoding import decoder
from extractord.core.transcripts.hermes_words import typed_in
from extractord.core.transcripts.source import Container, Opened, Rows, Source, Surroundings
from extractord.core.transcripts.speech import Speech
from extractord.core.transcripts.telling import decoded

_COMPACTION = re.compile(
    r"\s*\[(?:CONTEXT (?:COMPACTION|SUMMARY)|PRIOR CONTEXT|Your active task list was preserved)",
    re.IGNORECASE,
)
_PROGRAMS = frozenset({"cron", "webhook", "batch"})
_AGENTS = frozenset({"subagent", "delegate"})

ROWS = Rows(
    touched="""
        SELECT sessions.id, CAST(1000 * max(
            coalesce(sessions.ended_at, sessions.started_at), coalesce(newest.last, 0)) AS INTEGER) AS at
        FROM sessions LEFT JOIN (
            SELECT session_id, max(timestamp) AS last FROM messages GROUP BY session_id
        ) AS newest ON newest.session_id = sessions.id
        WHERE at >= :since ORDER BY at
    """,
    records="""
        WITH RECURSIVE up(id, parent, nth) AS (
            SELECT id, parent_session_id, 0 FROM sessions WHERE id = :session
            UNION ALL
            SELECT s.id, s.parent_session_id, nth + 1 FROM sessions AS s JOIN up ON s.id = parent
            WHERE nth < 64
        )
        SELECT 'session' AS kind, one.id, one.source,
            (SELECT id FROM up ORDER BY nth DESC LIMIT 1) AS parent,
            (SELECT cwd FROM sessions AS s WHERE s.id = one.id) AS cwd,
            (SELECT git_branch FROM sessions AS s WHERE s.id = one.id) AS branch,
            (SELECT CASE WHEN json_valid(model_config) THEN json_extract(model_config, '$._delegate_from') END
                FROM sessions AS s WHERE s.id = one.id) AS delegate,
            NULL AS role, NULL AS content, NULL AS tool_calls, NULL AS tool_call_id, NULL AS tool_name,
            NULL AS timestamp, NULL AS active, NULL AS compacted, NULL AS observed
        FROM (SELECT NULL AS cwd, NULL AS git_branch, NULL AS model_config, 0 AS archived) AS missing
        JOIN (SELECT id, source FROM sessions WHERE id = :session) AS one
        WHERE NOT coalesce((SELECT archived FROM sessions AS s WHERE s.id = one.id), 0)
        UNION ALL
        SELECT * FROM (
            SELECT 'message', NULL, NULL, NULL, NULL, NULL, NULL, one.role, one.content, one.tool_calls,
                one.tool_call_id, one.tool_name, one.timestamp,
                (SELECT active FROM messages AS m WHERE m.id = one.id),
                (SELECT compacted FROM messages AS m WHERE m.id = one.id),
                (SELECT observed FROM messages AS m WHERE m.id = one.id)
            FROM (SELECT 1 AS active, 0 AS compacted, 0 AS observed, 0 AS archived) AS missing
            JOIN (SELECT * FROM messages WHERE session_id = :session) AS one
            WHERE NOT coalesce((SELECT archived FROM sessions AS s WHERE s.id = :session), 0)
            ORDER BY one.id
        )
    """,
)
"""A column that an older database lacks is found in `missing`, which is outside where it is looked for.

A session goes on from the first of those above it: each repeats some of what was said before.
"""


class _Config(Struct):
    cwd: str | None = None


class _Record(Struct):
    """What stands in a record besides the message that it may be: a row, a line, a whole document."""

    kind: str | None = None
    type: str | None = None
    id: str | int | None = None
    session_id: str | None = None
    parent: str | None = None
    parent_session_id: str | None = None
    source: str | None = None
    platform: str | None = None
    cwd: str | None = None
    repository_cwd: str | None = None
    model_config: _Config | None = None
    branch: str | None = None
    git_branch: str | None = None
    producer: str | None = None
    role: str | None = None
    active: Any = None
    compacted: Any = None
    observed: Any = None
    delegate: str | None = None
    state: str | None = None
    text: str | None = None
    messages: list[Raw] | None = None


_RECORD = decoder(_Record)
_MESSAGE = decoder(ChatMessage)


class HermesReader:
    """Folds one session after another; all forms give a message the same key, made of its words."""

    def __init__(self, opened: Opened) -> None:
        """Take the file's name for the session's until a record says it."""
        self.session: str | None = None
        self.version: str | None = None
        self.unknown: Counter[str] = Counter()
        name = opened.path.rsplit("/", 1)[-1].partition(".")[0].removeprefix("session_")
        self._speech = Speech("hermes", name)
        self._prompts = Origin.HUMAN
        self._set_aside: Counter[str] = Counter()

    def feed(self, record: bytes) -> Iterator[Seen]:
        """Given a row of `ROWS.records` as JSON, a line, or a document, yield what it brings."""
        found = decoded(record, _RECORD, self.unknown)
        if found is None:
            return
        if found.messages is not None:
            self._begin(found)
            for each in found.messages:
                raw = bytes(each)
                yield from self._message(_RECORD(raw) or _Record(), raw)
        elif found.kind == "session" or "session_meta" in (found.type, found.role):
            self._begin(found)
        else:
            yield from self._message(found, record)

    def settle(self) -> Iterator[Seen]:
        """Nothing waits: a message is told as it stands."""
        return iter(())

    def _begin(self, found: _Record) -> None:
        named = found.session_id or (str(found.id) if found.kind == "session" and found.id else None)
        self.session = named or self.session or self._speech.session
        above = None if found.delegate else found.parent or found.parent_session_id
        self._speech.begin(self.session, above)
        self._set_aside.clear()
        config = found.model_config or _Config()
        self._speech.cwd = found.cwd or found.repository_cwd or config.cwd or self._speech.cwd
        self._speech.branch = found.branch or found.git_branch or self._speech.branch
        self.version = (found.producer or "").partition("hermes/")[2] or self.version
        source = found.source or found.platform
        self._prompts = Origin.HEADLESS if source in _PROGRAMS else Origin.HUMAN
        self._speech.is_subagent = source in _AGENTS or bool(found.delegate)

    def _message(self, around: _Record, record: bytes) -> Iterator[Seen]:
        message = _MESSAGE(record)
        if message is None or message.role not in ROLES:
            if message is None or message.role != "session_meta":
                self.unknown[f"message/{message.role[:64] if message else ''}"] += 1
            return
        self.session = self.session or self._speech.session
        if message.content is None and around.text is not None:
            message = replace(message, content=around.text)
        if self._is_repeated(message, is_set_aside=bool(around.compacted)):
            return
        entry = opening(self._speech, message, time=message.timestamp)
        if (around.active in (0, False) and not around.compacted) or around.state == "rewound":
            entry = replace(entry, active=False)
        if message.role != "user":
            yield from told(self._speech, message, entry, ended=True)
        elif _COMPACTION.match(entry.text):
            yield from self._speech.aside(replace(entry, role=Role.CONTEXT, origin=Origin.RECALLED))
        elif around.observed or (typed := typed_in(entry.text)) is None:
            yield from self._speech.aside(replace(entry, role=Role.CONTEXT, origin=Origin.SYNTHETIC))
        else:
            origin = self._prompts if entry.origin is Origin.HUMAN else entry.origin
            yield from self._speech.prompted(replace(entry, origin=origin), None, typed)
            if rest := entry.text.replace(typed, "", 1).strip():
                around_it = replace(entry, id=f"{entry.id}#0", role=Role.CONTEXT, text=rest)
                yield from self._speech.aside(replace(around_it, origin=Origin.SYNTHETIC))

    def _is_repeated(self, message: ChatMessage, *, is_set_aside: bool) -> bool:
        """A compaction sets all messages aside, and puts some of them behind its summary once more."""
        asked = " ".join(call.id for call in calls_of(message) if call.id)
        call = message.tool_call_id if message.role == "tool" else asked
        if message.role != "user" and not call:
            return False
        mark = f"{message.role} {call or text_of(message.content)}"
        again = self._set_aside[mark] > 0
        self._set_aside[mark] += int(is_set_aside) - int(again)
        return again


def _roots(around: Surroundings) -> tuple[str, ...]:
    """`HERMES_HOME`, else `.hermes` in the home."""
    return (around.env.get("HERMES_HOME") or f"{around.home}/.hermes",)


_BELONGS = re.compile(r"state\.db|sessions/[^/]+\.jsonl|sessions/session_[^/]+\.json")
_LINE = re.compile(rb'\s*\{"(?:role":\s*"session_meta"|type":\s*"session_meta",\s*"session_id")')


def _container(path: str) -> Container:
    if path.endswith(".db"):
        return Container.ROWS
    return Container.LINES if path.endswith(".jsonl") else Container.DOCUMENT


def _claims(path: str, head: bytes) -> bool:
    """True for the database by its folder, or for what stands in a session's lines or document."""
    if head.startswith(b"SQLite format 3\0"):
        return "hermes" in path and path.endswith("/state.db")
    if path.endswith(".jsonl"):
        first = head.partition(b"\n")[0]
        dumped = b'"tool_name":' in first and b'"finish_reason":' in first and first.startswith(b'{"role":')
        return dumped or _LINE.match(head) is not None
    return b'"producer": "hermes/' in head or (b'"session_id"' in head and b'"session_start"' in head)


SOURCE = Source(
    agent="hermes",
    roots=_roots,
    belongs=lambda path: _BELONGS.fullmatch(path) is not None,
    container=_container,
    claims=_claims,
    reader=HermesReader,
    rows=ROWS,
    gaps=("an undo is noticed with the next message; in a group's chat everybody counts as the person"),
    seen="0.9.0, and records that name none",
)
