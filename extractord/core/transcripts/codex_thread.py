"""A thread of Codex: its rollout's lines folded into entries, copies in forks told apart."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from extractord.core.records import Origin, Role, Seen, Voided
from extractord.core.transcripts.codex_entries import CodexEntries
from extractord.core.transcripts.codex_records import (
    CALLS,
    ENDS,
    ITEMS,
    OUTPUTS,
    SILENT,
    SILENT_EVENTS,
    SILENT_ITEMS,
    STARTS,
    TOOL_ENDS,
    Line,
    Payload,
    plain,
)
from extractord.core.transcripts.codex_standing import Standing, acts
from extractord.core.transcripts.codex_words import is_summary, is_template, place_in, prose
from extractord.core.transcripts.decoding import decoder, is_blank
from extractord.core.transcripts.recorded import instant

THREAD = re.compile(r"rollout-[\dT-]{19}-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})")
_SILENT_HEAD = re.compile(
    rb'\{"timestamp":"[^"\\]*",(?:"ordinal":\d+,)?"type":"(?:'
    + b"|".join(sorted(name.encode() for name in SILENT))
    + rb'|event_msg","payload":\{"type":"(?:'
    + b"|".join(sorted(name.encode() for name in SILENT_EVENTS))
    + rb'))"'
)
"""How a line begins that says nothing: about half of all, and not worth a parser's time."""

_decode = decoder(Line)
_bare = decoder(Payload)


class CodexThread:
    """Folds the lines of one rollout.

    A message's id is made of its turn and its text, so that a copy in a fork has the original's.
    """

    def __init__(self, path: str) -> None:
        """Take the thread's id from the file's name until a record says it."""
        named = THREAD.search(path)
        self.at = Standing(named[1] if named else None)
        self.version: str | None = None
        self.unknown: Counter[str] = Counter()
        self.entries = CodexEntries()
        self.is_known = False
        self._since: str | int | float | None = None
        """When the session began, where the items themselves have no time."""
        self._turns: list[list[str]] = []
        self._begin_turn()
        self._begin(Payload(), None)

    @property
    def session(self) -> str | None:
        """The thread's id."""
        return self.at.session

    def _begin(self, meta: Payload, began: float | None) -> None:
        self.at.begin(meta, began)
        self.entries.begin()
        self._ancestors = {id_ for id_ in (meta.forked_from, meta.parent_thread) if id_}
        self.follows_meta = True
        self._has_items = False
        """Prompts come as items, as they do in whole rollouts: events repeat them."""

    def _begin_turn(self) -> None:
        self.at.ids = []
        self._turns.append(self.at.ids)

    def feed(self, record: bytes) -> Iterable[Seen]:
        """Given a line, return what it brings."""
        if record[-1:] == b"}" and _SILENT_HEAD.match(record):
            self.follows_meta = False
            return ()
        return self.read(record)

    def read(self, record: bytes) -> Iterable[Seen]:
        """The same of a line that its head tells nothing about."""
        line = _decode(record)
        if line is None:
            if not is_blank(record):
                self.unknown["undecodable"] += 1
            return ()
        payload = line.payload or self._old(line, record)
        if payload is None:
            return ()
        line.timestamp = line.timestamp or payload.timestamp or self._since
        return self._take(line, payload)

    def _take(self, line: Line, payload: Payload) -> Iterable[Seen]:
        if self.at.waiting and acts(line, payload):
            return [*self.settle(), *self._take(line, payload)]
        follows_meta, self.follows_meta = self.follows_meta, line.type == "session_meta"
        match line.type:
            case "event_msg":
                return self._event(line, payload)
            case "session_meta":
                return self._meta(line, payload, follows_meta=follows_meta)
            case "turn_context":
                self.at.enter(payload.turn_id)
                self.at.cwd = payload.cwd or self.at.cwd
            case "compacted":
                return self.entries.compacted(self.at, line, payload)
            case "response_item":
                return self._item(line, payload)
            case _:
                if line.type not in SILENT:
                    self.unknown[(line.type or "untyped")[:64]] += 1
        return ()

    def settle(self) -> Iterable[Seen]:
        """A prompt that an event told, and no item, is one nevertheless."""
        waiting, self.at.waiting = self.at.waiting, ()
        return [seen for each in waiting for seen in self._prompt(*each)]

    def _old(self, line: Line, record: bytes) -> Payload | None:
        """A line without a payload: a bare item, or the first line, of an old version."""
        bare = _bare(record) or Payload()
        if line.type in ITEMS or (bare.role and line.type is None):
            line.type = "response_item"
            return bare
        if line.type is None and bare.id and bare.timestamp:
            line.type = "session_meta"
            return bare
        if line.type not in SILENT_ITEMS and b'"record_type"' not in record:
            self.unknown[(line.type or "untyped")[:64]] += 1
        return None

    def _meta(self, line: Line, meta: Payload, *, follows_meta: bool) -> Iterable[Seen]:
        thread = meta.id or meta.session_id or self.session or ""
        self._since = meta.timestamp or line.timestamp
        began = instant(line.timestamp)
        if self.is_known and thread != self.session:
            is_ancestor = thread in self._ancestors or follows_meta or self.at.is_copying
            if is_ancestor and meta.forked_from != self.session:
                self.at.is_copying = True
                self.at.scope = thread
                return ()
        is_again = self.is_known and thread == self.session
        if not is_again:
            self._turns = []
            self._begin_turn()
        self.is_known = True
        self.at.session = thread
        self.version = meta.version or self.version
        if not is_again or not self.at.is_copying:
            self._begin(meta, began.timestamp() if began else None)
        base = meta.history_base
        if base is None or base.end is None or base.thread_id not in (None, thread):
            return ()
        return [Voided(session=thread, from_ordinal=base.end)]

    def _event(self, line: Line, event: Payload) -> Iterable[Seen]:
        if event.type in STARTS:
            self.at.enter(event.turn_id)
        elif event.type == "user_message":
            self.at.waiting = () if self._has_items else (*self.at.waiting, (line, event))
        elif event.type in ENDS:
            return self.entries.emitted.ended()
        elif event.type in TOOL_ENDS and event.call_id:
            did = event.success
            if did is None and event.exit_code is not None:
                did = event.exit_code == 0
            if did is not None:
                self.entries.succeeded[event.call_id] = did
        elif event.type == "thread_rolled_back":
            return self._rolled_back(event.num_turns or 0)
        elif event.type not in SILENT_EVENTS:
            self.unknown[f"event_msg/{event.type}"[:64]] += 1
        return ()

    def _rolled_back(self, turns: int) -> Iterable[Seen]:
        """The last turns, counted by their prompts, are gone; what stood before the first stays."""
        kept = max(1, len(self._turns) - turns)
        dead = tuple(id_ for turn in self._turns[kept:] for id_ in turn)
        del self._turns[kept:]
        self.at.ids = self._turns[-1]
        return [Voided(session=self.session or "", ids=dead)] if dead else []

    def _item(self, line: Line, item: Payload) -> Iterable[Seen]:
        if item.provenance is not None:
            self.at.enter(item.provenance.turn_id)
        if item.type in CALLS:
            return self.entries.called(self.at, line, item)
        if item.type in OUTPUTS:
            return self.entries.answered(self.at, line, item)
        if item.type == "message" or (item.type is None and item.role):
            return self._message(line, item)
        if item.type not in SILENT_ITEMS:
            self.unknown[f"response_item/{item.type}"[:64]] += 1
        return ()

    def _message(self, line: Line, item: Payload) -> Iterable[Seen]:
        match item.role:
            case "assistant":
                content = item.content if item.content is not None else item.message
                return self.entries.spoken(self.at, line, Role.ASSISTANT, Origin.SYNTHETIC, plain(content))
            case "user":
                return self._prompt(line, item)
            case _:
                return ()

    def _prompt(self, line: Line, item: Payload) -> Iterable[Seen]:
        at = self.at
        written, rest = prose(item)
        at.cwd = at.cwd or place_in(rest)
        origin = Origin.RECALLED if is_summary(rest) else Origin.SYNTHETIC
        seen = list(self.entries.spoken(at, line, Role.CONTEXT, origin, rest))
        if written:
            if line.type == "response_item":
                self._has_items, at.waiting = True, ()
            self._begin_turn()
            at.turn_is_prompted = True
            is_given = at.origin is Origin.HUMAN and is_template(written)
            origin = Origin.HEADLESS if is_given else at.origin
            seen += self.entries.spoken(at, line, Role.USER, origin, written)
        return seen
