"""The CLI's store of a session: messages as JSON, and in another blob which of them there are."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from msgspec import Struct

from extractord.core.records import Seen
from extractord.core.transcripts.blocks import Block
from extractord.core.transcripts.cursor_words import is_marked, said_by
from extractord.core.transcripts.decoding import decoder
from extractord.core.transcripts.recorded import absolute
from extractord.core.transcripts.source import Opened, Rows
from extractord.core.transcripts.speech import Speech
from extractord.core.transcripts.telling import decoded

ROWS = Rows(
    touched="SELECT :folder, max(rowid) AS at FROM blobs HAVING at >= :since",
    records="""
        SELECT 'session' AS kind, NULL AS id, NULL AS data WHERE :session = :folder
        UNION ALL
        SELECT * FROM (
            SELECT 'root', blobs.id, hex(blobs.data) FROM blobs, meta
            WHERE meta.key = '0' AND substr(CAST(blobs.data AS BLOB), 1, 1) <> x'7B'
                AND instr(lower(meta.value), lower(hex(blobs.id)))
        )
        UNION ALL
        SELECT * FROM (
            SELECT 'message', id, CAST(data AS TEXT) FROM blobs
            WHERE substr(CAST(data AS BLOB), 1, 1) = x'7B' ORDER BY rowid
        )
        UNION ALL
        SELECT 'end', NULL, NULL
    """,
)
"""A blob has no time, but a number that only rises. The newest root is named in a value that is hex."""
_CHILDREN = re.compile(rb"(?:\x0a\x20.{32})*", re.DOTALL)
_CHILD = 34
_PLACE = re.compile(rb"\x4a(?:([\x00-\x7f])|([\x80-\xff])([\x01-\x7f]))(?=file:///)", re.DOTALL)
"""The ninth field: its length, and a URI."""
_SAYS = frozenset({"user", "assistant", "tool"})
_SILENT = frozenset({"system", "developer"})


class _Row(Struct):
    kind: str = ""
    id: str | None = None
    data: str | None = None


class _Part(Struct):
    """A part of a message, in this form's own names."""

    type: str = ""
    text: str | None = None
    toolCallId: str | None = None  # noqa: N815 - the record's own name
    toolName: str | None = None  # noqa: N815
    args: Any = None
    input: Any = None
    result: Any = None
    output: Any = None
    isError: Any = None  # noqa: N815


class _Message(Struct):
    role: str = ""
    content: str | list[_Part] | None = None


_ROW = decoder(_Row)
_MESSAGE = decoder(_Message)


class CursorStoreReader:
    """Folds a session's rows, each time from the first on; a message is known by its words."""

    def __init__(self, opened: Opened) -> None:
        """Take the folder's name for the session's."""
        self.session: str | None = None
        self.version: str | None = None
        self.unknown: Counter[str] = Counter()
        folders = opened.path.replace("\\", "/").split("/")
        self._speech = Speech("cursor", folders[-2] if len(folders) > 1 else folders[-1])
        self._messages: dict[str, str] = {}
        self._there: list[str] = []

    def feed(self, record: bytes) -> Iterator[Seen]:
        """Given a row of `ROWS.records` as JSON, yield what it brings: all at the end."""
        row = decoded(record, _ROW, self.unknown)
        match row.kind if row else None:
            case None:
                return
            case "session":
                self.session = self._speech.session
                self._messages, self._there = {}, []
            case "root" if row and row.data:
                self._root(row.data)
            case "message" if row and row.id and row.data:
                self._messages[row.id] = row.data
            case "end":
                yield from self._all()
            case other:
                self.unknown[(other or "")[:64]] += 1

    def settle(self) -> Iterator[Seen]:
        """Nothing waits: a row is told as it stands."""
        return iter(())

    def _root(self, data: str) -> None:
        """Which messages there are, in order, and where the session works."""
        try:
            raw = bytes.fromhex(data)
        except ValueError:
            self.unknown["root"] += 1
            return
        match = _CHILDREN.match(raw)
        end = match.end() if match else 0
        self._there = [raw[at + 2 : at + _CHILD].hex() for at in range(0, end, _CHILD)]
        if place := _PLACE.search(raw, end):
            length = place[1][0] if place[1] else place[2][0] & 0x7F | place[3][0] << 7
            uri = raw[place.end() : place.end() + length].decode("utf-8", "replace")
            self._speech.cwd = absolute(unquote(uri), None)

    def _all(self) -> Iterator[Seen]:
        """The messages that the root has; all of them where it has none that is known."""
        self._speech.begin(self.session or self._speech.session)
        named = [ident for ident in self._there if ident in self._messages]
        found = (
            decoded(self._messages[ident].encode(), _MESSAGE, self.unknown)
            for ident in named or self._messages
        )
        messages = [each for each in found if each is not None]
        marked = any(is_marked(each.role, _content(each)) for each in messages)
        for message in messages:
            if message.role in _SAYS:
                yield from said_by(self._speech, message.role, _content(message), are_marked=marked)
            elif message.role not in _SILENT:
                self.unknown[f"message/{message.role[:64]}"] += 1


def _content(message: _Message) -> str | list[Block] | None:
    """A message's content as other agents shape it; what a tool's message says is a result."""
    if isinstance(message.content, list):
        return [
            Block(
                type=part.type,
                text=part.text if message.role != "tool" else None,
                id=part.toolCallId,
                name=part.toolName,
                input=part.input if part.args is None else part.args,
                tool_use_id=part.toolCallId,
                content=part.result,
                output=part.output,
                is_error=part.isError if isinstance(part.isError, bool) else None,
            )
            for part in message.content
        ]
    return message.content if message.role != "tool" else None
