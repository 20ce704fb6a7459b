"""Continue: a session as one JSON document, of its editor extensions and its CLI alike."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from extractord.core.records import Entry, Origin, Role, Seen, ToolCall
from extractord.core.transcripts.blocks import Content, shown_in, text_of
from extractord.core.transcripts.commontools import has_failed
from extractord.core.transcripts.decoding import decoder
from extractord.core.transcripts.recorded import absolute
from extractord.core.transcripts.source import Container, Opened, Source, Surroundings
from extractord.core.transcripts.speech import Speech
from extractord.core.transcripts.telling import decoded

_DEPTH = 8
_ENDED = frozenset({"errored", "canceled", "cancelled"})
_SAYS = frozenset({"user", "assistant", "tool"})
_SILENT = frozenset({"system", "thinking"})
_ITS_OWN = re.compile(
    r"\s*(?:Please analyze this repository and create a comprehensive AGENTS\.md file\b"
    r"|Load the skill using the \*\*Skills\*\* tool and )"
)
"""What its own commands ask."""
_MARKS = {"mention": "@", "slashcommand": "/", "prompt-block": "/"}
_GOES_ON = "continue"
"""What it says to itself after a summary."""


class _Function(Struct):
    name: str | None = None
    arguments: Any = None


class _Call(Struct):
    id: str | None = None
    function: _Function = field(default_factory=_Function)


class _Message(Struct):
    role: str = ""
    content: Content = None
    toolCalls: list[_Call] = field(default_factory=list)  # noqa: N815 - the record's own name
    toolCallId: str | None = None  # noqa: N815


class _State(Struct):
    """How a call ended, and what it gave."""

    toolCallId: str | None = None  # noqa: N815
    status: str | None = None
    output: Any = None


class _Item(Struct):
    message: _Message = field(default_factory=_Message)
    editorState: Any = None  # noqa: N815
    toolCallStates: list[_State] = field(default_factory=list)  # noqa: N815
    toolCallState: _State | None = None  # noqa: N815
    conversationSummary: str | None = None  # noqa: N815


class _Session(Struct):
    sessionId: str | None = None  # noqa: N815
    workspaceDirectory: str | None = None  # noqa: N815
    history: list[_Item] | None = None


_DECODER = decoder(_Session)


class ContinueReader:
    """Folds a session's document."""

    def __init__(self, opened: Opened) -> None:
        """Take the file's name for the session's until the document says it."""
        self.session: str | None = None
        self.version: str | None = None
        self.unknown: Counter[str] = Counter()
        self._speech = Speech("continue", opened.path.rsplit("/", 1)[-1].removesuffix(".json"))
        self._shown: set[str] = set()

    def feed(self, record: bytes) -> Iterator[Seen]:
        """Given the whole document, yield what it brings."""
        found = decoded(record, _DECODER, self.unknown)
        if found is None:
            return
        if found.history is None:
            self.unknown["no history"] += 1
            return
        self.session = found.sessionId or self._speech.session
        self._speech.begin(self.session)
        self._speech.cwd = absolute(found.workspaceDirectory, None) if found.workspaceDirectory else None
        self._shown.clear()
        summed_up = False
        for item in found.history:
            yield from self._item(item, summed_up=summed_up)
            summed_up = item.conversationSummary is not None

    def settle(self) -> Iterator[Seen]:
        """Nothing waits: a document is whole."""
        return iter(())

    def _item(self, item: _Item, *, summed_up: bool) -> Iterator[Seen]:
        speech, message = self._speech, item.message
        if message.role not in _SAYS:
            if message.role not in _SILENT:
                self.unknown[f"message/{message.role[:64]}"] += 1
            return
        text = text_of(message.content)
        if message.role == "user":
            said = _typed(item.editorState) or text
            if said.strip():
                entry = speech.entry(Role.USER, Origin.HUMAN, said)
                own = _ITS_OWN.match(text) or (summed_up and said.strip() == _GOES_ON)
                yield from self._no_persons(entry) if own else speech.prompted(entry)
        elif message.role == "tool":
            if message.toolCallId and message.toolCallId not in self._shown:
                yield from speech.result(message.toolCallId, text, ok=None)
        else:
            asked = " ".join(call.id for call in message.toolCalls if call.id)
            is_summary = item.conversationSummary is not None and item.conversationSummary == text
            if not is_summary:
                entry = speech.entry(Role.ASSISTANT, Origin.SYNTHETIC, text, about=asked)
                yield from speech.answered(entry, self._calls(entry.id, message.toolCalls))
        if item.conversationSummary:
            yield from speech.aside(speech.entry(Role.CONTEXT, Origin.RECALLED, item.conversationSummary))
        for state in (*item.toolCallStates, *filter(None, (item.toolCallState,))):
            yield from self._ended(state)

    def _calls(self, entry: str, calls: list[_Call]) -> list[ToolCall]:
        return [
            self._speech.call(call.id or f"{entry}/{nth}", call.function.name or "", call.function.arguments)
            for nth, call in enumerate(calls)
        ]

    def _ended(self, state: _State) -> Iterator[Seen]:
        """A call's outcome; while it runs, there is none."""
        if not state.toolCallId:
            return
        shown = shown_in(state.output)
        if state.status == "done" or state.status in _ENDED:
            ok = state.status == "done" and not has_failed(shown)
            if shown:
                self._shown.add(state.toolCallId)
            yield from self._speech.result(state.toolCallId, shown, ok=ok)

    def _no_persons(self, entry: Entry) -> Iterator[Seen]:
        return self._speech.aside(replace(entry, role=Role.CONTEXT, origin=Origin.SYNTHETIC))


def _typed(state: object) -> str:
    """Given what an editor kept of a prompt, return what was typed, without the code beside it."""
    if isinstance(state, str):
        return state
    content = state.get("content") if isinstance(state, dict) else None
    lines = (_in_node(node, _DEPTH) for node in content) if isinstance(content, list) else ()
    return "\n".join(lines).strip()


def _in_node(node: object, depth: int) -> str:
    if not isinstance(node, dict) or depth == 0:
        return ""
    kind, words, inner, attributes = (node.get(key) for key in ("type", "text", "content", "attrs"))
    label = attributes.get("label") if isinstance(attributes, dict) else None
    if kind == "paragraph" and isinstance(inner, list):
        return "".join(_in_node(each, depth - 1) for each in inner)
    if isinstance(label, str) and kind in _MARKS:
        return f"{_MARKS[kind]}{label}"
    if kind == "text" and isinstance(words, str):
        return words
    return "\n" if kind == "hardBreak" else ""


def _roots(around: Surroundings) -> tuple[str, ...]:
    """`sessions` in its own folder."""
    return (f"{around.env.get('CONTINUE_GLOBAL_DIR') or f'{around.home}/.continue'}/sessions",)


_INDEX = "sessions.json"
_HEAD = (b'"sessionId"', b'"workspaceDirectory"', b'"history"')


def _belongs(path: str) -> bool:
    return path.endswith(".json") and "/" not in path and path != _INDEX


SOURCE = Source(
    agent="continue",
    roots=_roots,
    belongs=_belongs,
    container=lambda _path: Container.DOCUMENT,
    claims=lambda path, head: path.endswith(".json") and all(each in head for each in _HEAD),
    reader=ContinueReader,
    writes_turn_end=False,
    gaps="no times; messages that an edit took back stay known; a command's own prompt is its person's",
    seen="CLI 1.5.47",
)
