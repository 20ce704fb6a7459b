"""A session of Gemini CLI: an op log or one document, whose messages are replaced under their ids."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import msgspec

from extractord.core.records import Entry, Origin, Role, Seen, ToolCall, Voided
from extractord.core.transcripts.gemini_records import (
    CANCELLED,
    DECODER,
    DERIVED_ID,
    OUTCOMES,
    SNAPSHOT,
    SYNTHETIC,
    WORKSPACE,
    Call,
    Op,
    Prompted,
    steered,
    words_of,
)
from extractord.core.transcripts.genai import (
    TEMPLATE,
    TOOLS,
    WRAPPERS,
    answered_in,
    asked_in,
    exited_badly,
    output_of,
    text_of,
)
from extractord.core.transcripts.recorded import instant, shortened, text_key
from extractord.core.transcripts.source import Opened
from extractord.core.transcripts.telling import Told, decoded, pieces, result_origin
from extractord.core.transcripts.toolcalls import tool_call

AGENT = "gemini-cli"


class GeminiReader:
    """Folds one file; ids are the messages' own, so that a document and its op log have the same."""

    def __init__(self, opened: Opened, agent: str = AGENT) -> None:
        """Take the cwd from the file that the agent keeps beside, where there is one."""
        self.session: str | None = None
        self._name = opened.path.rsplit("/", 1)[-1].partition(".")[0]
        self.version: str | None = None
        self.unknown: Counter[str] = Counter()
        self._agent = agent
        self._subagent = "/chats/" in opened.path and "/" in opened.path.rpartition("/chats/")[2]
        roots = (text.decode("utf-8", "replace").strip() for _, text in sorted(opened.beside.items()))
        self._cwd: str | None = next((root for root in roots if root), None)
        self._told = Told()
        self._brought: dict[str, tuple[str, ...]] = {}
        self._live: dict[str, None] = {}
        self._by_words: dict[int, str] = {}
        self._answer: Entry | None = None
        self._nameless: Counter[str] = Counter()
        self._prompted = Prompted()

    def feed(self, record: bytes) -> Iterator[Seen]:
        """Given a line, or a whole document, yield what it brings."""
        op = decoded(record, DECODER, self.unknown)
        if op is None:
            return
        if op.rewind is not None:
            yield from self._rewound(op.rewind)
        elif op.change is not None:
            self.session = op.change.sessionId or self.session
            self._place(op.change)
            yield from self._replaced(op.change.messages)
        elif op.id is not None or (op.type is not None and op.messages is None):
            self._identify([op], self._nameless)
            yield from self._message(op)
        elif op.sessionId is not None:
            yield from self._opened(op)
        else:
            self.unknown["no id"] += 1

    def _identify(self, messages: list[Op], nameless: Counter[str]) -> None:
        """Given messages, and how often the same came before, key those without an id by their words."""
        for message in messages:
            words = f"{message.type}\n{text_of(message.content)}"
            if not message.id and message.type and words.strip() != message.type:
                message.id = f"{self.session or self._name}/{text_key(words, nameless[words])}"
                nameless[words] += 1

    def settle(self) -> Iterator[Seen]:
        """At rest: an answer that no tool call followed was the last."""
        yield from self._answered()

    def _opened(self, op: Op) -> Iterator[Seen]:
        """A session's first line, again after each resume; or a document."""
        if op.sessionId != self.session:
            self.session, self._answer = op.sessionId, None
            self._brought, self._live, self._by_words = {}, {}, {}
        self._prompted = Prompted()
        self._subagent = self._subagent or op.kind == "subagent"
        self._place(op)
        if op.messages is None:
            return
        self._identify(op.messages, Counter())
        there = {message.id for message in op.messages}
        if gone := [ident for ident in self._live if ident not in there]:
            yield from self._voided(gone)
        for message in op.messages:
            yield from self._message(message)

    def _place(self, op: Op) -> None:
        self._cwd = self._cwd or next(iter(op.directories or ()), None)

    def _replaced(self, messages: list[Op] | None) -> Iterator[Seen]:
        """The whole list anew, after a resume, a rewind or a compression, which gives new ids.

        What is known, by id or by words, is not said again; what is missing was not unsaid.
        """
        if messages is None:
            return
        self._identify(messages, Counter())
        yield from self._answered()
        earlier, self._live = frozenset(self._brought), {}
        for message in messages:
            ident, words = message.id or "", words_of(message)
            twin = ident if ident in earlier else self._by_words.get(words)
            if twin is None:
                yield from self._message(message)
            else:
                self._brought.setdefault(ident, self._brought[twin])
                self._by_words[words] = ident
                self._live[ident] = None
        self._answer = None

    def _rewound(self, ident: str) -> Iterator[Seen]:
        """Drop the message and all after it; all where the id is unknown."""
        self._answer = None
        live = list(self._live)
        yield from self._voided(live[live.index(ident) :] if ident in self._live else live)

    def _voided(self, idents: list[str]) -> Iterator[Seen]:
        for ident in idents:
            del self._live[ident]
        dead = tuple(dict.fromkeys(entry for ident in idents for entry in self._brought.get(ident, ())))
        if dead:
            yield Voided(session=self.session or self._name, ids=dead)

    def _message(self, op: Op) -> Iterator[Seen]:
        if not op.id:
            self.unknown["no id"] += 1
            return
        match op.type:
            case "user":
                yield from self._before(op)
                entries = tuple(self._user(op))
            case "gemini" | "qwen" | "model":
                entries = (self._said(op),)
                self._answer = entries[0] if entries[0].text and not entries[0].calls else None
            case "info" | "error" | "warning":
                entries = tuple(self._notice(op))
            case other:
                self.unknown[str(other)[:64]] += 1
                return
        results = tuple(self._results(op))
        self._live[op.id] = None
        self._by_words[words_of(op)] = op.id
        ids = (entry.id for entry in (*entries, *results))
        self._brought[op.id] = tuple(dict.fromkeys((*self._brought.get(op.id, ()), *ids)))
        for entry in (*entries, *(result for result in results if result.id not in self._told)):
            yield from self._told.tell(entry)

    def _before(self, op: Op) -> Iterator[Seen]:
        """What a user message says of the answer before it: a tool's result follows a call, else it ended."""
        if not answered_in(op.content):
            yield from self._answered()
        self._answer = None

    def _answered(self) -> Iterator[Seen]:
        """The answer before this was the last of its exchange."""
        if self._answer is not None:
            yield from self._told.tell(msgspec.structs.replace(self._answer, turn_end=True))
        self._answer = None

    def _user(self, op: Op) -> Iterator[Entry]:
        text = text_of(op.content)
        if not text.strip() and answered_in(op.content):
            return
        if match := WORKSPACE.search(text):
            self._cwd = self._cwd or match[1].strip()
        if SNAPSHOT.match(text):
            yield self._entry(op, Role.CONTEXT, Origin.RECALLED, text)
        elif DERIVED_ID.fullmatch(op.id or "") or SYNTHETIC.match(text):
            yield from pieces(self._entry(op, Role.CONTEXT, Origin.SYNTHETIC, text))
        elif (hint := steered(text)) is not None:
            said = self._entry(op, Role.USER, Origin.HUMAN, hint)
            yield said if hint else self._entry(op, Role.CONTEXT, Origin.SYNTHETIC, text)
        else:
            typed = text_of(op.displayContent) or None
            if self._prompted.again(op, text, typed):
                yield self._entry(op, Role.CONTEXT, Origin.SYNTHETIC, text)
                return
            origin = Origin.HEADLESS if TEMPLATE.match(typed or text) else Origin.HUMAN
            yield from pieces(self._entry(op, Role.USER, origin, text), WRAPPERS, typed)

    def _said(self, op: Op) -> Entry:
        content = op.content if op.content is not None else op.parts
        entry = self._entry(op, Role.ASSISTANT, Origin.SYNTHETIC, text_of(content))
        calls = tuple(self._call(op, nth, call) for nth, call in enumerate(op.toolCalls or ()))
        if not calls:
            calls = tuple(
                tool_call(ask.id or f"{op.id}/{nth}", ask.name or "", ask.args, self._cwd, TOOLS)
                for nth, ask in enumerate(asked_in(content))
            )
        return msgspec.structs.replace(entry, calls=calls)

    def _call(self, op: Op, nth: int, call: Call) -> ToolCall:
        made = tool_call(call.id or f"{op.id}/{nth}", call.name or "", call.args, self._cwd, TOOLS)
        ok = OUTCOMES.get(call.status or "")
        if ok and exited_badly(call.name, output_of(call.result)):
            ok = False
        return msgspec.structs.replace(made, ok=ok)

    def _results(self, op: Op) -> Iterator[Entry]:
        """Tool results, which stand with their calls, in a message of their own, or in both."""
        answers = [
            (call.id or f"{op.id}/{nth}", call.name, call.result)
            for nth, call in enumerate(op.toolCalls or ())
        ]
        answers += [(each.id or op.id or "", each.name, each.response) for each in answered_in(op.content)]
        for call, name, result in answers:
            text = output_of(result)
            if text:
                origin = result_origin(name or "", text, Origin.SYNTHETIC)
                entry = self._entry(op, Role.TOOL, origin, shortened(text))
                yield msgspec.structs.replace(entry, id=f"{call}/result")

    def _notice(self, op: Op) -> Iterator[Entry]:
        """What the interface told the person; an error or a cancelled request ends the turn."""
        text = text_of(op.content)
        ended = op.type == "error" or text.strip() == CANCELLED
        if text:
            entry = self._entry(op, Role.CONTEXT, Origin.SYNTHETIC, text)
            yield msgspec.structs.replace(entry, turn_end=ended)

    def _entry(self, op: Op, role: Role, origin: Origin, text: str) -> Entry:
        if self._subagent and origin is not Origin.RECALLED:
            origin = Origin.SUBAGENT
        ident = op.id or ""
        return Entry(
            id=f"{self.session or self._name}/{ident}" if DERIVED_ID.fullmatch(ident) else ident,
            agent=self._agent,
            session=self.session or self._name,
            role=role,
            origin=origin,
            text=text,
            time=instant(op.timestamp),
            cwd=self._cwd,
        )
