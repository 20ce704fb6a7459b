"""Goose: messages as rows of one database, replaced as a whole by a compaction; once a file a session."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct

from extractord.core.records import Entry, Origin, Role, Seen, ToolCall
from extractord.core.transcripts.decoding import decoder
from extractord.core.transcripts.recorded import instant, shortened, text_key
from extractord.core.transcripts.source import Container, Opened, Rows, Source, Surroundings
from extractord.core.transcripts.telling import Told, decoded, pieces, result_origin
from extractord.core.transcripts.toolcalls import Takes, tool_call

_TOOLS = {
    "view": Takes("read", ("path",)),
    "text_editor": Takes("write", ("path",)),
    "write": Takes("write", ("path",)),
    "edit": Takes("write", ("path",)),
    "shell": Takes("shell", ("command",), ("working_dir",)),
}
_ORIGINS = {
    "user": Origin.HUMAN,
    "terminal": Origin.HUMAN,
    "scheduled": Origin.HEADLESS,
    "sub_agent": Origin.SUBAGENT,
}
_SILENT = frozenset(
    {"thinking", "redactedThinking", "image", "toolConfirmationRequest", "systemNotification"}
)

ROWS = Rows(
    touched="""
        SELECT id, CAST(strftime('%s', updated_at) AS INTEGER) * 1000 AS at FROM sessions
        WHERE archived_at IS NULL AND at >= :since ORDER BY at
    """,
    records="""
        SELECT 'session' AS kind, id, session_type, working_dir, NULL AS role, NULL AS created,
            NULL AS content, NULL AS metadata
        FROM sessions WHERE id = :session AND archived_at IS NULL
        UNION ALL
        SELECT * FROM (
            SELECT 'message', message_id, NULL, NULL, role, created_timestamp,
                CAST(content_json AS TEXT), CAST(metadata_json AS TEXT)
            FROM messages JOIN sessions ON sessions.id = messages.session_id
            WHERE session_id = :session AND archived_at IS NULL ORDER BY messages.id
        )
    """,
)
"""A session's row, then its messages; a compaction gives them new row ids, so `message_id` is theirs."""


class _Value(Struct):
    name: str | None = None
    arguments: Any = None
    content: Any = None
    isError: Any = None  # noqa: N815 - the record's own name


class _Outcome(Struct):
    status: str | None = None
    value: _Value | list[Any] | None = None
    error: Any = None


class _Block(Struct):
    type: str = ""
    text: str | None = None
    id: str | None = None
    toolCall: _Outcome | None = None  # noqa: N815
    toolResult: _Outcome | None = None  # noqa: N815


class _Metadata(Struct):
    userVisible: Any = None  # noqa: N815


class _Record(Struct):
    """A row, or a line of an old file: its content is text in the one, a list in the other."""

    kind: str | None = None
    id: str | None = None
    session_type: str | None = None
    working_dir: str | None = None
    role: str | None = None
    created: Any = None
    content: str | list[_Block] | None = None
    metadata: str | None = None


_RECORD = decoder(_Record)
_BLOCKS = decoder(list[_Block])
_METADATA = decoder(_Metadata)


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
        self._texts: Counter[str] = Counter()

    def feed(self, record: bytes) -> Iterator[Seen]:
        """Given a row as JSON, or a line, yield what it brings."""
        found = decoded(record, _RECORD, self.unknown)
        if found is None:
            return
        if found.role is not None:
            yield from self._message(found)
        elif found.working_dir is not None:
            self._cwd = found.working_dir
            self.session = found.id if found.kind else self._name
            self._prompts = _ORIGINS.get(found.session_type or "user", Origin.SYNTHETIC)
            self._texts.clear()
        else:
            self.unknown["no role"] += 1

    def settle(self) -> Iterator[Seen]:
        """Nothing waits: a row is told as it stands."""
        return iter(())

    def _message(self, record: _Record) -> Iterator[Seen]:
        blocks = self._blocks(record.content)
        if not blocks:
            return
        metadata = decoded((record.metadata or "").encode(), _METADATA, self.unknown)
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
            if block.type not in ("text", "toolRequest", "toolResponse") and block.type not in _SILENT:
                self.unknown[f"block/{block.type[:64]}"] += 1
        if hidden:
            yield from self._told.tell(entry)
        elif record.role == "assistant":
            asked = [block for block in blocks if block.type == "toolRequest"]
            calls = tuple(self._call(entry.id, nth, block) for nth, block in enumerate(asked))
            said = msgspec.structs.replace(entry, role=Role.ASSISTANT, calls=calls)
            yield from self._told.tell(msgspec.structs.replace(said, turn_end=bool(text) and not calls))
        else:
            yield from self._user(entry, blocks)

    def _blocks(self, content: str | list[_Block] | None) -> list[_Block]:
        if isinstance(content, list):
            return content
        return decoded((content or "").encode(), _BLOCKS, self.unknown) or []

    @property
    def _own(self) -> Origin:
        """Of what the agent and its tools say."""
        return Origin.SUBAGENT if self._prompts is Origin.SUBAGENT else Origin.SYNTHETIC

    def _user(self, entry: Entry, blocks: list[_Block]) -> Iterator[Seen]:
        """A person's message, or the results of tools in one."""
        answers = [block for block in blocks if block.type == "toolResponse"]
        for nth, block in enumerate(answers):
            result = block.toolResult or _Outcome()
            call = block.id or f"{entry.id}/{nth}"
            refused = isinstance(result.value, _Value) and bool(result.value.isError)
            yield from self._told.outcome(call, ok=result.status == "success" and not refused)
            shown = shortened(_output(result))
            origin = result_origin("", shown, self._own)
            yield from self._told.tell(
                msgspec.structs.replace(entry, id=f"{call}/result", role=Role.TOOL, origin=origin, text=shown)
            )
        if not answers:
            for each in pieces(msgspec.structs.replace(entry, role=Role.USER, origin=self._prompts)):
                yield from self._told.tell(each)

    def _call(self, entry: str, nth: int, block: _Block) -> ToolCall:
        asked = block.toolCall.value if block.toolCall else None
        value = asked if isinstance(asked, _Value) else _Value()
        name, arguments = value.name or "", value.arguments
        kind = name.rpartition("__")[2]
        if kind == "text_editor" and isinstance(arguments, dict) and arguments.get("command") == "view":
            kind = "view"
        call = tool_call(block.id or f"{entry}/{nth}", kind, arguments, self._cwd, _TOOLS)
        return msgspec.structs.replace(call, name=name)

    def _key(self, role: str, text: str, blocks: list[_Block]) -> str:
        words = text or "".join(f"{role} {block.type} {block.id}" for block in blocks)
        first = text_key(words, 0)
        self._texts[first] += 1
        return text_key(words, self._texts[first] - 1)


def _output(result: _Outcome) -> str:
    """The text of a tool's result, or of its error."""
    content = result.value.content if isinstance(result.value, _Value) else result.value
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


def _claims(path: str, head: bytes) -> bool:
    """True for the database by its folder or name, or an old file by its first line."""
    if head.startswith(b"SQLite format 3\0"):
        return "goose" in path and path.endswith("/sessions.db")
    return head.startswith(b'{"working_dir":') and b'"message_count":' in head.partition(b"\n")[0]


SOURCE = Source(
    agent="goose",
    roots=_roots,
    belongs=lambda path: _BELONGS.fullmatch(path) is not None,
    container=lambda path: Container.LINES if path.endswith(".jsonl") else Container.ROWS,
    claims=_claims,
    reader=GooseReader,
    rows=ROWS,
    gaps="a message that an edit took back stays known",
    seen="records name none",
)
