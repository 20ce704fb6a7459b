"""Goose: messages as rows of one database, replaced as a whole by a compaction; once a file a session."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

import msgspec

from extractord.core.records import Entry, Origin, Role, Seen, ToolCall
from extractord.core.transcripts.commontools import common_call, has_failed
from extractord.core.transcripts.goose_records import (
    BLOCKS,
    METADATA,
    RECORD,
    Block,
    Metadata,
    Outcome,
    Record,
    Value,
)
from extractord.core.transcripts.recorded import instant, shortened, text_key
from extractord.core.transcripts.source import Container, Opened, Rows, Source, Surroundings
from extractord.core.transcripts.telling import Told, decoded, pieces, result_origin

_ORIGINS = {
    "user": Origin.HUMAN,
    "terminal": Origin.HUMAN,
    "gateway": Origin.HUMAN,
    "acp": Origin.HUMAN,
    "scheduled": Origin.HEADLESS,
    "sub_agent": Origin.SUBAGENT,
}
_ASKS = frozenset({"toolRequest", "frontendToolRequest"})
_SILENT = _ASKS | {
    *("text", "toolResponse", "thinking", "redactedThinking", "reasoning", "image"),
    *("toolConfirmationRequest", "actionRequired", "systemNotification"),
    *("conversationCompacted", "contextLengthExceeded", "summarizationRequested"),
}
_ITS_OWN = re.compile(r"\s*You MUST call the `\w+` tool\b")
"""How a recipe is reminded of its result, in a person's place."""

ROWS = Rows(
    touched="""
        SELECT one.id, CAST(strftime('%s', one.updated_at) AS INTEGER) * 1000 AS at
        FROM (SELECT NULL AS archived_at) AS missing JOIN (SELECT id, updated_at FROM sessions) AS one
        WHERE (SELECT archived_at FROM sessions AS s WHERE s.id = one.id) IS NULL AND at >= :since
        ORDER BY at
    """,
    records="""
        SELECT 'session' AS kind, one.id,
            (SELECT session_type FROM sessions AS s WHERE s.id = one.id) AS session_type, one.working_dir,
            NULL AS role, NULL AS created, NULL AS content, NULL AS metadata
        FROM (SELECT 'user' AS session_type, NULL AS archived_at) AS missing
        JOIN (SELECT id, working_dir FROM sessions WHERE id = :session) AS one
        WHERE (SELECT archived_at FROM sessions AS s WHERE s.id = one.id) IS NULL
        UNION ALL
        SELECT * FROM (
            SELECT 'message', (SELECT message_id FROM messages AS m WHERE m.id = one.id), NULL, NULL,
                one.role, one.created_timestamp, CAST(one.content_json AS TEXT),
                (SELECT CAST(metadata_json AS TEXT) FROM messages AS m WHERE m.id = one.id)
            FROM (SELECT NULL AS message_id, NULL AS metadata_json, NULL AS archived_at) AS missing
            JOIN (SELECT * FROM messages WHERE session_id = :session) AS one
            WHERE (SELECT archived_at FROM sessions AS s WHERE s.id = :session) IS NULL ORDER BY one.id
        )
    """,
)
"""A session's row, then its messages; a compaction gives them new row ids, so `message_id` is theirs.

A column that an older database lacks is found in `missing`, which is outside where it is looked for.
"""


class GooseReader:
    """Folds the rows of one session, or the lines of its old file."""

    def __init__(self, opened: Opened) -> None:
        """Take an old file's name for its session's, and its person for the one who prompts."""
        self.session: str | None = None
        self.version: str | None = None
        self.unknown: Counter[str] = Counter()
        self._name = opened.path.rsplit("/", 1)[-1].partition(".")[0]
        self._prompts = Origin.HUMAN
        self._cwd: str | None = None
        self._told = Told()
        self._calls: dict[str, str] = {}
        self._texts: Counter[str] = Counter()
        self._set_aside: Entry | None = None

    def feed(self, record: bytes) -> Iterator[Seen]:
        """Given a row as JSON, a line, or an export, yield what it brings."""
        found = decoded(record, RECORD, self.unknown)
        if found is None:
            return
        if found.role is not None:
            yield from self._message(found)
        elif found.working_dir is not None:
            self._begin(found)
            for each in found.conversation or ():
                yield from self._message(each)
        else:
            self.unknown["no role"] += 1

    def _begin(self, found: Record) -> None:
        self._cwd = found.working_dir
        is_named = found.kind or found.conversation is not None
        self.session = found.id if is_named and found.id else self._name
        self._prompts = _ORIGINS.get(found.session_type or "user", Origin.SYNTHETIC)
        self._texts.clear()
        self._set_aside = None

    def settle(self) -> Iterator[Seen]:
        """Nothing waits: a row is told as it stands."""
        return iter(())

    def _message(self, record: Record) -> Iterator[Seen]:
        blocks = self._blocks(record.content)
        if not blocks:
            return
        metadata = record.metadata
        if not isinstance(metadata, Metadata):
            metadata = decoded((metadata or "").encode(), METADATA, self.unknown)
        hidden = metadata is not None and metadata.userVisible is False
        text = "\n".join(block.text for block in blocks if block.type == "text" and block.text)
        entry = Entry(
            id=record.id or self._key(record.role or "", text, blocks),
            agent="goose",
            session=self.session or self._name,
            role=Role.CONTEXT,
            origin=Origin.RECALLED if hidden else self._own,
            text=text,
            time=instant(record.created),
            cwd=self._cwd,
        )
        for block in blocks:
            if block.type not in _SILENT:
                self.unknown[f"block/{block.type[:64]}"] += 1
        if hidden:
            yield from self._told.tell(entry)
        elif record.role == "assistant":
            asked = [block for block in blocks if block.type in _ASKS]
            calls = tuple(self._call(entry.id, nth, block) for nth, block in enumerate(asked))
            said = msgspec.structs.replace(entry, role=Role.ASSISTANT, calls=calls)
            yield from self._told.tell(msgspec.structs.replace(said, turn_end=bool(text) and not calls))
        elif record.role != "user":
            self.unknown[f"message/{(record.role or '')[:64]}"] += 1
        else:
            is_set_aside = metadata is not None and metadata.agentVisible is False
            yield from self._user(entry, blocks, is_set_aside=is_set_aside)

    def _blocks(self, content: str | list[Block] | None) -> list[Block]:
        if isinstance(content, list):
            return content
        return decoded((content or "").encode(), BLOCKS, self.unknown) or []

    @property
    def _own(self) -> Origin:
        """Of what the agent and its tools say."""
        return Origin.SUBAGENT if self._prompts is Origin.SUBAGENT else Origin.SYNTHETIC

    def _user(self, entry: Entry, blocks: list[Block], *, is_set_aside: bool) -> Iterator[Seen]:
        """A person's message, or the results of tools in one."""
        answers = [block for block in blocks if block.type == "toolResponse"]
        for nth, block in enumerate(answers):
            result = block.toolResult or Outcome()
            call = block.id or f"{entry.id}/{nth}"
            refused = isinstance(result.value, Value) and bool(result.value.isError)
            shown = shortened(_output(result))
            name = self._calls.get(call, "")
            failed = name.endswith("shell") and has_failed(shown)
            ok = result.status == "success" and not refused and not failed
            yield from self._told.outcome(call, ok=ok)
            origin = result_origin(name, shown, self._own)
            yield from self._told.tell(
                msgspec.structs.replace(entry, id=f"{call}/result", role=Role.TOOL, origin=origin, text=shown)
            )
        if not answers:
            yield from self._said(entry, is_set_aside=is_set_aside)

    def _said(self, entry: Entry, *, is_set_aside: bool) -> Iterator[Seen]:
        """A person's words; those that a compaction set aside last, it says again behind its summary."""
        before, self._set_aside = self._set_aside, entry if is_set_aside else None
        said = msgspec.structs.replace(entry, role=Role.USER, origin=self._prompts)
        if before is not None and before.text == entry.text and not is_set_aside:
            if before.id != entry.id:
                yield from self._told.tell(msgspec.structs.replace(said, origin=Origin.COPIED))
        elif _ITS_OWN.match(entry.text):
            yield from self._told.tell(entry)
        else:
            for each in pieces(said):
                yield from self._told.tell(each)

    def _call(self, entry: str, nth: int, block: Block) -> ToolCall:
        asked = block.toolCall.value if block.toolCall else None
        value = asked if isinstance(asked, Value) else Value()
        ident, name = block.id or f"{entry}/{nth}", value.name or ""
        self._calls[ident] = name
        return common_call(ident, name, value.arguments, self._cwd)

    def _key(self, role: str, text: str, blocks: list[Block]) -> str:
        words = text or "".join(f"{role} {block.type} {block.id}" for block in blocks)
        first = text_key(words, 0)
        self._texts[first] += 1
        return f"{self.session or self._name}/{text_key(words, self._texts[first] - 1)}"


def _output(result: Outcome) -> str:
    """The text of a tool's result, or of its error."""
    content = result.value.content if isinstance(result.value, Value) else result.value
    texts = (
        [each.get("text") for each in content or () if isinstance(each, dict)]
        if isinstance(content, list)
        else []
    )
    shown = "\n".join(text for text in texts if isinstance(text, str))
    return shown or (result.error if isinstance(result.error, str) else "")


def _roots(around: Surroundings) -> tuple[str, ...]:
    """`data/sessions` in `GOOSE_PATH_ROOT`, else in the person's data folder, the same on macOS."""
    root = around.env.get("GOOSE_PATH_ROOT")
    base = around.env.get("XDG_DATA_HOME") or f"{around.home}/.local/share"
    return (f"{root}/data/sessions" if root else f"{base}/goose/sessions",)


_BELONGS = re.compile(r"sessions\.db|[^/]+\.jsonl")


def _container(path: str) -> Container:
    if path.endswith(".json"):
        return Container.DOCUMENT
    return Container.LINES if path.endswith(".jsonl") else Container.ROWS


def _claims(path: str, head: bytes) -> bool:
    """True for the database by its folder or name, an export by its fields, an old file by its first line."""
    if head.startswith(b"SQLite format 3\0"):
        return "goose" in path and path.endswith("/sessions.db")
    if path.endswith(".json"):
        is_object = head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{")
        return is_object and b'"working_dir"' in head and b'"conversation"' in head
    return head.startswith(b'{"working_dir":') and b'"message_count":' in head.partition(b"\n")[0]


SOURCE = Source(
    agent="goose",
    roots=_roots,
    belongs=lambda path: _BELONGS.fullmatch(path) is not None,
    container=_container,
    claims=_claims,
    reader=GooseReader,
    rows=ROWS,
    gaps="a message that an edit took back stays known",
    seen="records name none",
)
