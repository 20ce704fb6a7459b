"""Codex's lines to entries, where those of the agent and its tools wait until they are needed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from extractord.core.exchanges import PROMPTS
from extractord.core.lines import Block
from extractord.core.records import Deferred, Entry, Kept, Seen, Thawed
from extractord.core.transcripts.codex_records import SILENT, SILENT_EVENTS
from extractord.core.transcripts.codex_standing import Standing
from extractord.core.transcripts.codex_thread import CodexThread
from extractord.core.transcripts.decoding import is_whole

_HEAD = re.compile(
    rb'\{"timestamp":"[^"\\]{20,30}+",(?:"ordinal":\d++,)?"type":"(?:'
    rb'event_msg","payload":\{"type":"(?:'
    rb'(?P<ended>(?:task|turn)_complete)"'
    rb'|(?:task|turn)_started","turn_id":"(?P<started>[!#-\[\]-~]++)"(?=(?:,"\w++":'
    rb'(?:"[ !#-\[\]-~]*+"|[1-9]\d*+|null|true|false))*+\}\}\Z)'
    rb"|(?P<told>" + b"|".join(sorted(name.encode() for name in SILENT_EVENTS)) + rb')")'
    rb'|response_item","payload":\{"type":"(?:'
    rb'(?P<silent>reasoning|message","(?:id":"[^"\\]*+",")?role":"developer)"'
    rb'|(?:custom_tool|function)_call_output","call_id":"(?P<answered>[!#-\[\]-~]++)"'
    rb'|(?P<called>(?:custom_tool|function)_call)"'
    rb'|message","(?:id":"[^"\\]*+",")?role":"(?P<said>assistant)")'
    rb"|(?P<noted>" + b"|".join(sorted(name.encode() for name in SILENT)) + rb')")'
)
_SAYING_NOTHING = frozenset(["told", "noted"])
_CALL = b'"call_id":"'
_ID = re.compile(rb"[!#-\[\]-~]++")
_TURN = re.compile(rb'_metadata_passthrough":\{"turn_id":"([!#-\[\]-~]++)"')
_PASSED, _PASSED_BYTES = b'_metadata_passthrough"', 512
"""What tells the turn at a record's end, in newer versions."""
_RECORD_BYTES = 128 * 1024
"""A longer record is read at once: of a tool's output an entry keeps 64 Ki characters."""
_BRACE = ord("}")


class _About(Struct, frozen=True, gc=False):
    """Where the thread stood at a record, and how a command ended that its output may not tell."""

    standing: Standing
    call: str | None = None
    did: bool | None = None


class CodexDeferring:
    """A thread whose calls, outputs and answers go out as they came.

    A call and its output wait together or not at all. What waits when a second prompt comes in the
    same turn is made then: ids count what a turn repeats.
    """

    def __init__(self, path: str) -> None:
        """Begin as a thread that is read at once does."""
        self.reader = CodexThread(path)
        self._name = path.rpartition("/")[2]
        self._count = 0
        self._session = ""
        """Of what went out deferred last: an end is its end."""
        self._about: _About | None = None
        self._asked: dict[str, tuple[Deferred, ...]] = {}
        """Calls that went out deferred since the last prompt; nothing is left of those with an output."""
        self._said: list[Deferred] = []
        """Answers of this turn that went out deferred."""
        self._turn: str | None = None
        self._prompted_turn: str | None = None
        self._is_steered = False
        """This turn has a second prompt, or no id."""

    def skim(self, block: Block) -> Iterator[Seen | Deferred | Thawed]:
        """Given lines, yield what each brings, one after the other: what is thawed meanwhile counts."""
        lines, at = block
        inner, head_of, newline_after = self.reader, _HEAD.match, lines.find
        while (end := newline_after(b"\n", at)) >= 0:
            head = head_of(lines, at, end) if lines[end - 1] == _BRACE else None
            kind = head.lastgroup if head else None
            if kind in _SAYING_NOTHING:
                inner.follows_meta = False
            elif end > at:
                deferred = self._skimmed(lines, at, end, head) if head else None
                if deferred is None:
                    yield from self._at_once(lines[at:end])
                elif deferred is not _SILENT:
                    yield deferred
            at = end + 1

    def thaw(self, deferred: Deferred) -> Sequence[Entry]:
        """Make its entries for good; what came since stays the newest."""
        for call in [call for call, asked in self._asked.items() if deferred in asked]:
            del self._asked[call]
        inner, emitted = self.reader, self.reader.entries.emitted
        last, is_behind, now = emitted.last, emitted.is_behind, inner.at
        made = _made(inner, deferred)
        inner.at = now
        emitted.last, emitted.is_behind = last, is_behind
        return made

    def _at_once(self, record: bytes) -> Iterator[Seen | Deferred | Thawed]:
        inner = self.reader
        if self._asked and b'_call_output"' in record:
            yield from self._thawed_calls()
        if inner.entries.emitted.is_behind and not inner.at.is_copying and b'"compacted"' in record:
            yield self._kept(record)
            return
        seen = tuple(inner.read(record))
        self._about = None
        if any(isinstance(each, Entry) and each.origin in PROMPTS for each in seen):
            yield from self._thawed_calls()
            self._asked.clear()
            self._note_turn()
            if inner.at.turn is None or inner.at.turn == self._prompted_turn:
                self._is_steered = True
                for deferred in self._said:
                    yield Thawed(deferred.session, deferred.id, tuple(self.thaw(deferred)))
                self._said = []
            self._prompted_turn = inner.at.turn
        yield from seen
        if inner.entries.emitted.is_end_unsaid:
            inner.entries.emitted.is_end_unsaid = False
            yield self._kept(record, ends=True)

    def _thawed_calls(self) -> Iterator[Thawed]:
        """Calls that wait for their outputs wait no longer."""
        waiting, self._asked = self._asked, {call: () for call, asked in self._asked.items() if not asked}
        for deferred in [each for asked in waiting.values() for each in asked]:
            yield Thawed(deferred.session, deferred.id, tuple(self.thaw(deferred)))

    def _skimmed(self, lines: bytes, at: int, end: int, head: re.Match[bytes]) -> Deferred | None:
        """A line, to be kept; None where it has to be read at once."""
        inner, kind = self.reader, head.lastgroup
        is_other = not inner.is_known or inner.at.is_copying or inner.follows_meta
        if is_other or end - at > _RECORD_BYTES or (inner.at.waiting and kind != "started"):
            return None
        if kind == "started":
            inner.at.enter(head["started"].decode())
            self._note_turn()
            return _SILENT
        if kind == "ended":
            return self._end(lines[at:end])
        if inner.at.is_imported:
            return None
        return self._item(lines, at, end, head) if self._is_of_turn(lines, at, end) else None

    def _item(self, lines: bytes, at: int, end: int, head: re.Match[bytes]) -> Deferred | None:
        match head.lastgroup:
            case "answered":
                return self._output(lines[at:end], head["answered"].decode())
            case "called":
                return self._call(lines, at, end, head.end())
            case "said":
                return self._answer(lines[at:end])
            case _:
                return _SILENT

    def _is_of_turn(self, lines: bytes, at: int, end: int) -> bool:
        """True where the record is of the turn that was entered, as far as it tells."""
        passed = lines.rfind(_PASSED, max(at, end - _PASSED_BYTES), end)
        if passed < 0:
            return True
        turn = _TURN.match(lines, passed, end)
        return turn is not None and turn[1].decode() == self.reader.at.turn

    def _note_turn(self) -> None:
        turn = self.reader.at.turn
        if turn != self._turn:
            self._turn, self._said, self._about = turn, [], None
            self._is_steered = turn is None

    def _end(self, record: bytes) -> Deferred | None:
        emitted = self.reader.entries.emitted
        if not emitted.is_behind or not is_whole(record):
            return None
        return _SILENT if emitted.has_ended else self._kept(record, ends=True)

    def _output(self, record: bytes, call: str) -> Deferred | None:
        if call not in self._asked:
            return None
        self._asked[call] = ()
        did = self.reader.entries.succeeded.pop(call, None)
        return self._kept(record, call=call, did=did)

    def _call(self, lines: bytes, at: int, end: int, after: int) -> Deferred | None:
        named = lines.find(_CALL, after, end)
        if named < 0:
            return None
        named += len(_CALL)
        quoted = lines[named : lines.find(b'"', named, end)]
        if not _ID.fullmatch(quoted):
            return None
        call = quoted.decode()
        deferred = self._kept(lines[at:end], calls=True)
        self._asked[call] = (*self._asked.get(call, ()), deferred)
        return deferred

    def _answer(self, record: bytes) -> Deferred | None:
        self._note_turn()
        if self._is_steered or self._turn is None:
            return None
        deferred = self._kept(record)
        self._said.append(deferred)
        return deferred

    def _kept(
        self,
        record: bytes,
        *,
        calls: bool = False,
        ends: bool = False,
        call: str | None = None,
        did: bool | None = None,
    ) -> Deferred:
        inner = self.reader
        self._count += 1
        about = self._about
        if about is None:
            about = self._about = _About(inner.at.now())
        if did is not None:
            about = _About(about.standing, call, did)
        name = f"{self._name}:{self._count}"
        inner.at.ids.append(name)
        inner.entries.emitted.deferred(name, ends=ends)
        if not ends:
            self._session = inner.session or ""
        return Deferred(self._session, name, record, calls, ends, about.standing.cwd, about)


_SILENT = Deferred("", "", b"")
"""It brings no entry."""


def thaw(kept: tuple[Kept, ...]) -> tuple[Entry, ...]:
    """Given what is kept of an exchange, return its entries: a thread reads it that knows what was made."""
    thread = CodexThread("")
    entries: dict[str, Entry] = {}
    for each in kept:
        if isinstance(each, Entry):
            thread.entries.emitted.note(each, aside=False)
            entries[each.id] = each
        else:
            entries.update((entry.id, entry) for entry in _made(thread, each))
    return tuple(entries.values())


def _made(thread: CodexThread, deferred: Deferred) -> list[Entry]:
    about = deferred.about
    if isinstance(about, _About):
        thread.at = about.standing.now()
        if about.call is not None and about.did is not None:
            thread.entries.succeeded[about.call] = about.did
    return [seen for seen in thread.read(deferred.record) if isinstance(seen, Entry)]
