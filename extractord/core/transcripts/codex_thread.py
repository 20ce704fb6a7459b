"""A thread of Codex: its rollout's lines folded into entries, copies in forks told apart."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from msgspec import Struct

from extractord.core.records import Entry, Origin, Role, Seen, ToolCall, Voided
from extractord.core.transcripts.codex_calls import calls, output
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
    is_summary,
    is_template,
    place_in,
    plain,
    prose,
)
from extractord.core.transcripts.decoding import decoder, is_blank
from extractord.core.transcripts.emitted import Emitted
from extractord.core.transcripts.recorded import instant, is_injected, parts, shortened, text_key

AGENT = "codex"

THREAD = re.compile(r"rollout-[\dT-]{19}-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})")
_ORDERED = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7")
_COPY_S = 1.0
"""A fork writes what it copies at once: within this of its own first line, in seconds."""
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


class Standing(Struct, frozen=True, gc=False):
    """What the thread had come to when a record came: what its entries are made of besides."""

    session: str | None
    origin: Origin
    scope: str
    cwd: str | None
    branch: str | None
    turn: str | None
    turn_is_prompted: bool
    is_copying: bool
    ids: list[str]
    waiting: tuple[Line, Payload] | None


class CodexThread:
    """Folds the lines of one rollout.

    A message's id is made of its turn and its text, so that a copy in a fork has the original's.
    """

    def __init__(self, path: str) -> None:
        """Take the thread's id from the file's name until a record says it."""
        named = THREAD.search(path)
        self.session: str | None = named[1] if named else None
        self.version: str | None = None
        self.unknown: Counter[str] = Counter()
        self.emitted = Emitted()
        self.succeeded: dict[str, bool] = {}
        self.is_known = False
        self._since: str | int | float | None = None
        """When the session began, where the items themselves have no time."""
        self._turns: list[list[str]] = [[]]
        self.ids = self._turns[-1]
        """Of what this turn brought."""
        self._begin(Payload(), None)

    def _begin(self, meta: Payload, at: float | None) -> None:
        """A session begins; one file may hold several, one after the other."""
        self._origin = Origin.HUMAN
        if meta.is_subagent():
            self._origin = Origin.SUBAGENT
        elif meta.is_headless():
            self._origin = Origin.HEADLESS
        self._began = at
        self._ancestors = {id_ for id_ in (meta.forked_from, meta.parent_thread) if id_}
        self._scope = self.session or ""
        self.is_copying = False
        self._cwd = meta.cwd
        self._branch = meta.git.branch if meta.git else None
        self.turn: str | None = None
        self.turn_is_prompted = False
        self.follows_meta = True
        self._has_items = False
        """Prompts come as items, as they do in whole rollouts: events repeat them."""
        self._waiting: tuple[Line, Payload] | None = None
        self._texts: Counter[str] = Counter()

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

    def standing(self) -> Standing:
        """Where the thread stands."""
        return Standing(
            self.session,
            self._origin,
            self._scope,
            self._cwd,
            self._branch,
            self.turn,
            self.turn_is_prompted,
            self.is_copying,
            self.ids,
            self._waiting,
        )

    def stand(self, standing: Standing) -> None:
        """Stand where it stood: what comes next is made as if it came then."""
        self.session, self._origin, self._scope = standing.session, standing.origin, standing.scope
        self._cwd, self._branch = standing.cwd, standing.branch
        self.turn, self.turn_is_prompted = standing.turn, standing.turn_is_prompted
        self.is_copying, self.ids = standing.is_copying, standing.ids
        self._waiting = standing.waiting

    def _take(self, line: Line, payload: Payload) -> Iterable[Seen]:
        if self._waiting is not None and _acts(line, payload):
            return [*self.settle(), *self._take(line, payload)]
        follows_meta, self.follows_meta = self.follows_meta, line.type == "session_meta"
        match line.type:
            case "event_msg":
                return self._event(line, payload)
            case "session_meta":
                return self._meta(line, payload, follows_meta=follows_meta)
            case "turn_context":
                self.enter(payload.turn_id)
                self._cwd = payload.cwd or self._cwd
            case "compacted":
                return self._compacted(line, payload)
            case "response_item":
                return self._item(line, payload)
            case _:
                if line.type not in SILENT:
                    self.unknown[(line.type or "untyped")[:64]] += 1
        return ()

    @property
    def is_waiting(self) -> bool:
        """True while a prompt that an event told may still come as an item."""
        return self._waiting is not None

    def settle(self) -> Iterable[Seen]:
        """A prompt that an event told, and no item, is one nevertheless."""
        waiting, self._waiting = self._waiting, None
        return self._prompt(*waiting) if waiting else ()

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
        at = instant(line.timestamp)
        if self.is_known and thread != self.session:
            is_ancestor = thread in self._ancestors or follows_meta or self.is_copying
            if is_ancestor and meta.forked_from != self.session:
                self.is_copying = True
                self._scope = thread
                return ()
        is_again = self.is_known and thread == self.session
        if not is_again:
            self._turns = [[]]
            self.ids = self._turns[-1]
        self.is_known = True
        self.session = thread
        self.version = meta.version or self.version
        if not is_again or not self.is_copying:
            self._begin(meta, at.timestamp() if at else None)
        base = meta.history_base
        if base is None or base.end is None or base.thread_id not in (None, thread):
            return ()
        return [Voided(session=thread, from_ordinal=base.end)]

    def enter(self, turn: str | None) -> None:
        """What comes now is of this turn, where it is said."""
        if turn and turn != self.turn:
            self.turn = turn
            self.turn_is_prompted = False

    def _event(self, line: Line, event: Payload) -> Iterable[Seen]:
        if event.type in STARTS:
            self.enter(event.turn_id)
        elif event.type == "user_message":
            self._waiting = None if self._has_items else (line, event)
        elif event.type in ENDS:
            return self.emitted.ended()
        elif event.type in TOOL_ENDS and event.call_id:
            did = event.success
            if did is None and event.exit_code is not None:
                did = event.exit_code == 0
            if did is not None:
                self.succeeded[event.call_id] = did
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
        self.ids = self._turns[-1]
        return [Voided(session=self.session or "", ids=dead)] if dead else []

    def _compacted(self, line: Line, payload: Payload) -> Iterable[Seen]:
        summary = plain(payload.message)
        last = self.emitted.last
        seen: list[Seen] = []
        if last is not None and last.role is Role.ASSISTANT:
            is_summary = not self.turn_is_prompted or (last.text != "" and last.text in summary)
            seen += self.emitted.recalled() if is_summary else []
        return [*seen, *self._entry(line, Role.CONTEXT, Origin.RECALLED, summary)] if summary else seen

    def _item(self, line: Line, item: Payload) -> Iterable[Seen]:
        if item.provenance is not None:
            self.enter(item.provenance.turn_id)
        if item.type in CALLS:
            return self._entry(line, Role.ASSISTANT, Origin.SYNTHETIC, "", made=calls(item, self._cwd))
        if item.type in OUTPUTS:
            return self._result(line, item)
        if item.type == "message" or (item.type is None and item.role):
            return self._message(line, item)
        if item.type not in SILENT_ITEMS:
            self.unknown[f"response_item/{item.type}"[:64]] += 1
        return ()

    def _message(self, line: Line, item: Payload) -> Iterable[Seen]:
        match item.role:
            case "assistant":
                content = item.content if item.content is not None else item.message
                return self._spoken(line, Role.ASSISTANT, Origin.SYNTHETIC, plain(content))
            case "user":
                return self._prompt(line, item)
            case _:
                return ()

    def _prompt(self, line: Line, item: Payload) -> Iterable[Seen]:
        written, rest = prose(item)
        self._cwd = self._cwd or place_in(rest)
        origin = Origin.RECALLED if is_summary(rest) else Origin.SYNTHETIC
        seen = list(self._spoken(line, Role.CONTEXT, origin, rest))
        if written:
            if line.type == "response_item":
                self._has_items, self._waiting = True, None
            self.ids = []
            self._turns.append(self.ids)
            self.turn_is_prompted = True
            is_given = self._origin is Origin.HUMAN and is_template(written)
            origin = Origin.HEADLESS if is_given else self._origin
            seen += self._spoken(line, Role.USER, origin, written)
        return seen

    def _result(self, line: Line, item: Payload) -> Iterable[Seen]:
        call = item.call_id or ""
        text, did = output(item.output)
        did = self.succeeded.pop(call, did) if did is not None else None
        is_ours = "extractord" in self.emitted.calling(call) or is_injected(text)
        seen: list[Seen] = [] if did is None else [*self.emitted.answered(call, ok=did)]
        origin = Origin.RECALLED if is_ours else Origin.SYNTHETIC
        return [*seen, *self._entry(line, Role.TOOL, origin, shortened(text), about=call)]

    def _spoken(self, line: Line, role: Role, origin: Origin, text: str) -> Iterable[Seen]:
        """Entries for a text: memory that was injected apart from what stands around it."""
        stretches = list(parts(text)) if text else []
        rest = "\n\n".join(stretch for stretch, is_memory in stretches if not is_memory)
        memory = (stretch for stretch, is_memory in stretches if is_memory)
        seen = [entry for each in memory for entry in self._entry(line, Role.CONTEXT, Origin.RECALLED, each)]
        return [*seen, *self._entry(line, role, origin, rest)] if rest else seen

    def _entry(
        self,
        line: Line,
        role: Role,
        origin: Origin,
        text: str,
        *,
        made: tuple[ToolCall, ...] = (),
        about: str = "",
    ) -> Iterable[Entry]:
        is_copy = self._copied(line)
        said = f"{self.turn or self._scope}\n{role}\n{made[0].id if made else about or text}"
        key = text_key(said, 0)
        self._texts[key] += 1
        if self._texts[key] > 1:
            key = text_key(said, self._texts[key] - 1)
        if is_copy:
            origin = Origin.COPIED
        elif origin is Origin.SYNTHETIC and self._origin is Origin.SUBAGENT:
            origin = Origin.SUBAGENT
        entry = Entry(
            id=key,
            agent=AGENT,
            session=self.session or "",
            role=role,
            origin=origin,
            text=text,
            calls=made,
            time=instant(line.timestamp),
            cwd=(self._cwd or "").removeprefix("file://") or None,
            branch=self._branch,
            ordinal=line.ordinal,
        )
        self.ids.append(key)
        return self.emitted.fresh(entry)

    def _copied(self, line: Line) -> bool:
        """True if the fork took it from its parent: its turn began before the fork did.

        Ids of turns and threads are UUIDs of version 7, which sort by time. Where there are none,
        what was written at once with the fork's first line is a copy.
        """
        if not self.is_copying:
            return False
        if self.turn and _ORDERED.match(self.turn) and _ORDERED.match(self.session or ""):
            self.is_copying = self.turn < (self.session or "")
        else:
            at = instant(line.timestamp)
            self.is_copying = at is None or self._began is None or at.timestamp() - self._began < _COPY_S
        if not self.is_copying:
            self._scope = self.session or ""
        return self.is_copying


def _acts(line: Line, payload: Payload) -> bool:
    """True for what comes after a prompt: what the agent does, the turn's end, the next prompt's event."""
    if line.type == "event_msg":
        return payload.type in ENDS or payload.type == "user_message"
    is_agents = payload.type in CALLS or payload.type in OUTPUTS or payload.role == "assistant"
    return line.type == "compacted" or (line.type == "response_item" and is_agents)
