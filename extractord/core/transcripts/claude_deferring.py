"""Claude Code's lines to entries, where those of the agent and its tools wait until they are needed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import msgspec
from msgspec import Raw, Struct, field

from extractord.core.exchanges import PROMPTS
from extractord.core.lines import Block
from extractord.core.records import Deferred, Entry, Kept, Origin, Seen, Thawed
from extractord.core.transcripts.claude_calls import USES
from extractord.core.transcripts.claude_session import ENDING, ClaudeSession
from extractord.core.transcripts.claude_skimming import BOOKKEEPING, CONVERSED, HEAD, Ends, attached
from extractord.core.transcripts.decoding import is_whole

_RECORD_BYTES = 128 * 1024
"""A longer record is read at once: of a tool's output an entry keeps 64 Ki characters."""
_PLACED = frozenset(["attached", "ended"])
_REFUSED = b'"userFeedback"'
"""Of a result with the words of a person who refused the call: a prompt."""
_EMPTY = frozenset((b"", b'""', b"null"))
_ODD = (b'"\\', b'"\xef')
"""How a text begins that may hold nothing but a byte order mark."""
_MARK = b"extractord-memory"
_ENDINGS = tuple(f'}}],"stop_reason":"{reason}"'.encode() for reason in sorted(ENDING))


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
        self.reader = ClaudeSession(path)
        self._ends = Ends()
        self._asked: dict[str, Deferred] = {}
        """Calls that went out deferred and have no result yet."""

    def skim(self, block: Block) -> Iterator[Seen | Deferred | Thawed]:
        """Given lines, yield what each brings, one after the other: what is thawed meanwhile counts."""
        lines, at = block
        head_of, newline_after, inner = HEAD.match, lines.find, self.reader
        while (end := newline_after(b"\n", at)) >= 0:
            head = head_of(lines, at, end)
            if head is None:
                yield from self._read(lines[at:end]) if end > at else ()
            elif head[1] in BOOKKEEPING and inner.session is not None:
                pass
            elif (kind := head.lastgroup) in CONVERSED:
                deferred = self._skimmed(lines, at, end, head)
                if deferred is None:
                    yield from self._read(lines[at:end])
                elif deferred is not _SILENT:
                    yield deferred
            elif kind not in _PLACED or not self._is_placed(lines, at, end, head):
                yield from self._at_once(lines[at:end])
            at = end + 1

    def thaw(self, deferred: Deferred) -> Sequence[Entry]:
        """Make its entries for good; what came since stays the newest."""
        for call in [call for call, asked in self._asked.items() if asked.id == deferred.id]:
            del self._asked[call]
        return self._made(deferred.record)

    def _skimmed(self, lines: bytes, at: int, end: int, head: re.Match[bytes]) -> Deferred | None:
        """A line, known by its ends, to be kept; None where it has to be read."""
        inner, ends, kind, after = self.reader, self._ends, head.lastgroup, head.end()
        if not inner.order.is_prompted or end - at > _RECORD_BYTES:
            return None
        if kind == "answered":
            stop = ends.answered(lines, after, end)
            is_known = stop is not None and self._answers(lines, stop, head) in self._asked
            is_known = is_known and lines.find(_REFUSED, after, end) < 0
        else:
            stop = ends.said(lines, after, end)
            is_known = stop is not None and not (kind == "said" and lines.find(_MARK, after, stop) >= 0)
        if stop is None or not is_known:
            return None
        record = lines[at:end]
        is_end = kind == "said" and lines.startswith(_ENDINGS, stop)
        if (is_end and not is_whole(record)) or not inner.tree.grow(ends.node, head["parent"].decode()):
            return None
        inner.session = ends.session
        if kind == "thought":
            return _SILENT
        inner.emitted.deferred(ends.node, ends=is_end)
        deferred = Deferred(ends.session, ends.node, record, kind == "called", is_end)
        if kind == "called":
            self._asked[head["called"].decode()] = deferred
        elif kind == "answered":
            del self._asked[self._answers(lines, stop, head)]
        return deferred

    def _answers(self, lines: bytes, stop: int, head: re.Match[bytes]) -> str:
        named = head["call"]
        return named.decode() if named else self._ends.call(lines, head.end(), stop)

    def _read(self, record: bytes) -> Iterable[Seen | Deferred | Thawed]:
        """Read a line, as far as it takes to know whether it can wait."""
        inner = self.reader
        try:
            row = _decode(record)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return self._at_once(record)
        if row.uuid in inner.tree:
            return self._again(row, record)
        deferred = self._deferred(row, record) if inner.order.is_prompted else None
        if deferred is None:
            return self._at_once(record)
        inner.tree.add(row.uuid, row.parent, anchors=True)
        inner.session = row.session
        self._ends.learn(record, row.session)
        if deferred is _SILENT:
            return ()
        inner.emitted.deferred(row.uuid, ends=deferred.ends)
        return (deferred,)

    def _made(self, record: bytes) -> list[Entry]:
        inner, emitted = self.reader, self.reader.emitted
        last, is_behind, session = emitted.last, emitted.is_behind, inner.session
        made = [seen for seen in inner.feed(record) if isinstance(seen, Entry)]
        emitted.last, emitted.is_behind, inner.session = last, is_behind, session
        return made

    def _at_once(self, record: bytes) -> Sequence[Seen | Deferred | Thawed]:
        inner = self.reader
        before = self._thawed() if self._asked and b'"tool_result"' in record else []
        seen = inner.read(record)
        if self._asked and any(isinstance(each, Entry) and each.origin in PROMPTS for each in seen):
            before += self._thawed()
        if not inner.emitted.is_end_unsaid:
            return [*before, *seen] if before else seen
        inner.emitted.is_end_unsaid = False
        end = Deferred(inner.session or "", f"end {len(inner.tree)}", record, ends=True)
        return [*before, *seen, end]

    def _thawed(self) -> list[Seen | Deferred | Thawed]:
        """Calls that wait for their results wait no longer."""
        asked = {each.id: each for each in self._asked.values()}.values()
        return [Thawed(each.session, each.id, tuple(self.thaw(each))) for each in asked]

    def _is_placed(self, lines: bytes, at: int, end: int, head: re.Match[bytes]) -> bool:
        """True for a line that brings no entry, once it has its place in the tree, if it has one."""
        if head.lastgroup == "attached":
            node = attached(lines, at, end)
        else:
            node = head["ended"] if self.reader.emitted.has_ended else None
        if node is None or self.reader.session is None:
            return False
        tree, uuid = self.reader.tree, node.decode()
        if uuid not in tree:
            tree.add(uuid, head["parent"].decode(), anchors=False)
        return True

    def _again(self, row: _Envelope, record: bytes) -> Iterator[Seen | Deferred | Thawed]:
        """A line whose id was there before: what the agent said may be said otherwise."""
        if not self.reader.emitted.has_deferred(row.uuid):
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
        if _REFUSED in record:
            return None
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
    session.order.prompted()
    entries: dict[str, Entry] = {}
    for each in kept:
        if isinstance(each, Entry):
            session.emitted.note(each, aside=each.origin is Origin.SUBAGENT)
            entries[each.id] = each
        else:
            session.session = each.session
            entries.update((seen.id, seen) for seen in session.feed(each.record) if isinstance(seen, Entry))
    return tuple(entries.values())
