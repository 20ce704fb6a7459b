"""Claude Code's lines to entries, where those of the agent and its tools wait until they are needed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import msgspec
from msgspec import Raw, Struct, field

from extractord.core.exchanges import PROMPTS
from extractord.core.records import Deferred, Entry, Kept, Origin, Seen, Thawed
from extractord.core.transcripts.claude_session import ENDING, USES, ClaudeSession
from extractord.core.transcripts.claude_skimming import BOOKKEEPING, attached

_HEAD = re.compile(
    rb"""\{(?:
      "type":"(?P<bookkept>[\w-]++)"
    | "parentUuid":"(?P<parent>[\w-]++)","isSidechain":false,(?:
        "attachment":\{"type":"(?P<attached>(?!queued_command")[\w-]++)"
      | "type":"system","subtype":"(?P<ended>turn_duration)"
      | (?:"promptId":"[\w-]++",)?"type":"user","message":\{"role":"user","content":(?P<prompted>")
    ))""",
    re.VERBOSE,
)
"""How lines begin that are no answer, no call and no result."""
_UUID = re.compile(rb',"uuid":"([\w-]++)"')
_RECORD_BYTES = 128 * 1024
"""A longer record is read at once: of a tool's output an entry keeps 64 Ki characters."""
_EMPTY = frozenset((b"", b'""', b"null"))
_ODD = (b'"\\', b'"\xef')
"""How a text begins that may hold nothing but a byte order mark."""
_MARK = b"extractord-memory"


class _Block(Struct, gc=False):
    type: str | None = None
    id: str | None = None
    text: Raw = Raw()
    tool_use_id: str | None = None


class _Message(Struct, gc=False):
    content: list[_Block]
    model: str | None = None
    stop_reason: str | None = None


class _Envelope(Struct, gc=False):
    """What tells that a line can wait; one that is of another shape cannot."""

    type: str
    uuid: str
    parent: str = field(name="parentUuid")
    session: str = field(name="sessionId")
    message: _Message
    is_sidechain: bool | None = field(name="isSidechain", default=None)
    is_error: None = field(name="isApiErrorMessage", default=None)
    forked: None = field(name="forkedFrom", default=None)


_decode = msgspec.json.Decoder(_Envelope).decode


class ClaudeDeferring:
    """A session whose calls, results and answers go out as they came.

    A call and its result wait together or not at all. A call that has none when a prompt comes is
    made then, so that a late result finds it.
    """

    def __init__(self, path: str) -> None:
        """Begin as a session that is read at once does."""
        self._inner = ClaudeSession(path)
        self._asked: dict[str, Deferred] = {}
        """Calls that went out deferred and have no result yet."""
        self.unknown = self._inner.unknown

    @property
    def session(self) -> str | None:
        """Of the record last read."""
        return self._inner.session

    @session.setter
    def session(self, session: str | None) -> None:
        self._inner.session = session

    @property
    def version(self) -> str | None:
        """Of the program, where a record named it."""
        return self._inner.version

    @version.setter
    def version(self, version: str | None) -> None:
        self._inner.version = version

    def feed(self, record: bytes) -> Iterable[Seen]:
        """Given a line, return what it brings, nothing deferred."""
        return self._inner.feed(record)

    def settle(self) -> Iterable[Seen]:
        """Nothing waits for its successor."""
        return self._inner.settle()

    def skim(self, records: Iterable[bytes]) -> Iterator[Seen | Deferred | Thawed]:
        """Given lines, yield what each brings."""
        inner, head_of, decode = self._inner, _HEAD.match, _decode
        tree = inner.tree
        for record in records:
            head = head_of(record)
            if head is not None:
                if head[1] in BOOKKEEPING and inner.session is not None:
                    continue
                if head[1] is not None or not self._is_placed(record, head):
                    yield from self._at_once(record)
                continue
            try:
                row = decode(record)
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
                yield from self._at_once(record)
                continue
            if row.uuid in tree:
                yield from self._again(row, record)
                continue
            deferred = self._deferred(row, record) if inner.is_prompted else None
            if deferred is None:
                yield from self._at_once(record)
                continue
            tree.add(row.uuid, row.parent, anchors=True)
            inner.session = row.session
            if deferred is not _SILENT:
                inner.emitted.deferred(row.uuid, ends=deferred.ends)
                yield deferred

    def thaw(self, deferred: Deferred) -> Sequence[Entry]:
        """Make its entries for good; what came since stays the newest."""
        for call in [call for call, asked in self._asked.items() if asked.id == deferred.id]:
            del self._asked[call]
        return self._made(deferred.record)

    def _made(self, record: bytes) -> list[Entry]:
        inner, emitted = self._inner, self._inner.emitted
        last, is_behind, session = emitted.last, emitted.is_behind, inner.session
        made = [seen for seen in inner.feed(record) if isinstance(seen, Entry)]
        emitted.last, emitted.is_behind, inner.session = last, is_behind, session
        return made

    def _at_once(self, record: bytes) -> Iterator[Seen | Deferred | Thawed]:
        inner = self._inner
        if self._asked and b'"tool_result"' in record:
            yield from self._thawed()
        seen = inner.read(record)
        if self._asked and seen and any(isinstance(each, Entry) and each.origin in PROMPTS for each in seen):
            yield from self._thawed()
        yield from seen
        if inner.emitted.is_end_unsaid:
            inner.emitted.is_end_unsaid = False
            yield Deferred(inner.session or "", f"end {len(inner.tree)}", record, ends=True)

    def _thawed(self) -> Iterator[Thawed]:
        """Calls that wait for their results wait no longer."""
        for deferred in {each.id: each for each in self._asked.values()}.values():
            yield Thawed(deferred.session, deferred.id, tuple(self.thaw(deferred)))

    def _is_placed(self, record: bytes, head: re.Match[bytes]) -> bool:
        """True for a line that brings no entry, once it has its place in the tree."""
        if head.lastgroup == "attached":
            node = attached(record)
        elif head.lastgroup == "ended" and self._inner.emitted.has_ended:
            named = _UUID.search(record, head.end())
            node = named[1] if named else None
        else:
            return False
        if node is not None and self._inner.session is not None:
            tree, uuid = self._inner.tree, node.decode()
            if uuid not in tree:
                tree.add(uuid, head["parent"].decode(), anchors=False)
            return True
        return False

    def _again(self, row: _Envelope, record: bytes) -> Iterator[Seen | Deferred | Thawed]:
        """A line whose id was there before: what the agent said may be said otherwise."""
        if not self._inner.emitted.has_deferred(row.uuid):
            yield from self._at_once(record)
        elif row.type == "assistant":
            again = Deferred(row.session, row.uuid, record)
            yield Thawed(row.session, row.uuid, tuple(self.thaw(again)))

    def _deferred(self, row: _Envelope, record: bytes) -> Deferred | None:
        """The line, to be kept; None where it has to be read at once."""
        if row.is_sidechain or len(record) > _RECORD_BYTES or not row.message.content:
            return None
        if row.type == "user":
            return self._result(row, record)
        is_said = row.type == "assistant" and row.message.model != "<synthetic>"
        return self._answer(row, record) if is_said else None

    def _result(self, row: _Envelope, record: bytes) -> Deferred | None:
        asked, blocks = self._asked, row.message.content
        for block in blocks:
            if block.type != "tool_result" or block.tool_use_id not in asked:
                return None
        for block in blocks:
            asked.pop(block.tool_use_id or "", None)
        return Deferred(row.session, row.uuid, record)

    def _answer(self, row: _Envelope, record: bytes) -> Deferred | None:
        calls: list[str] = []
        says = False
        for block in row.message.content:
            if block.id is not None and block.type in USES:
                calls.append(block.id)
            elif block.type == "text" and not _is_odd(text := bytes(block.text)):
                says = says or text not in _EMPTY
            elif block.type != "thinking":
                return None
        if not calls:
            ends = row.message.stop_reason in ENDING
            return Deferred(row.session, row.uuid, record, ends=ends) if says else _SILENT
        deferred = Deferred(row.session, row.uuid, record, calls=True)
        for call in calls:
            self._asked[call] = deferred
        return deferred


def _is_odd(text: bytes) -> bool:
    """True for a text that may be nothing once its byte order mark, or injected memory, is out."""
    return text.startswith(_ODD) or _MARK in text


_SILENT = Deferred("", "", b"")
"""Nothing but thoughts."""


def thaw(kept: tuple[Kept, ...]) -> tuple[Entry, ...]:
    """Given what is kept of an exchange, return its entries: a session reads it that knows what was made."""
    session = ClaudeSession("")
    session.is_prompted = True
    entries: dict[str, Entry] = {}
    for each in kept:
        if isinstance(each, Entry):
            session.emitted.note(each, aside=each.origin is Origin.SUBAGENT)
            entries[each.id] = each
        else:
            session.session = each.session
            entries.update((seen.id, seen) for seen in session.feed(each.record) if isinstance(seen, Entry))
    return tuple(entries.values())
