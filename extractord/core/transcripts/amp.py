"""Amp: a thread as one JSON document, rewritten; newer threads stay on its server."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import takewhile
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from extractord.core.records import Entry, Origin, Role, Seen, Voided
from extractord.core.transcripts.blocks import Content, blocks_of, opening, said_in, text_of
from extractord.core.transcripts.decoding import decoder
from extractord.core.transcripts.recorded import absolute
from extractord.core.transcripts.source import Container, Opened, Source, Surroundings, editors
from extractord.core.transcripts.speech import Speech
from extractord.core.transcripts.telling import decoded


class _At(Struct):
    sentAt: Any = None  # noqa: N815 - the record's own name
    timestamp: Any = None
    fromAggman: Any = None  # noqa: N815
    aggman: Any = None
    fromExecutorThreadID: Any = None  # noqa: N815

    @property
    def is_sent(self) -> bool:
        """True if another agent sent it: one that leads several threads, or one of those."""
        return bool(self.fromAggman or self.aggman or self.fromExecutorThreadID)


class _Message(Struct):
    role: str = ""
    messageId: int | str | None = None  # noqa: N815
    parentToolUseId: str | None = None  # noqa: N815
    content: Content = None
    meta: _At = field(default_factory=_At)
    usage: _At | None = None


class _Tree(Struct):
    uri: str | None = None


class _Initial(Struct):
    cwd: str | None = None
    trees: list[_Tree] = field(default_factory=list)


class _Env(Struct):
    initial: _Initial = field(default_factory=_Initial)


class _Thread(Struct):
    id: str | None = None
    mainThreadID: str | None = None  # noqa: N815
    env: _Env = field(default_factory=_Env)
    messages: list[_Message] | None = None


_DECODER = decoder(_Thread)


class AmpReader:
    """Folds a thread's document."""

    def __init__(self, opened: Opened) -> None:
        """Take the file's name for the thread's until the document says it."""
        self.session: str | None = None
        self.version: str | None = None
        self.unknown: Counter[str] = Counter()
        self._speech = Speech("amp", opened.path.rsplit("/", 1)[-1].removesuffix(".json"))
        self._live: dict[str, tuple[str, ...]] = {}
        self._void: dict[str, tuple[str, ...]] = {}

    def feed(self, record: bytes) -> Iterator[Seen]:
        """Given the whole document, yield what it brings."""
        thread = decoded(record, _DECODER, self.unknown)
        if thread is None:
            return
        if thread.messages is None:
            self.unknown["no messages"] += 1
            return
        self.session = thread.id or self._speech.session
        self._speech.begin(self.session)
        initial = thread.env.initial
        uri = initial.cwd or next((tree.uri for tree in initial.trees if tree.uri), None)
        self._speech.cwd = absolute(uri, None) if uri else None
        yield from self._rewound({ident for each in thread.messages if (ident := _ident(each))})
        for message in thread.messages:
            self._speech.is_subagent = bool(thread.mainThreadID or message.parentToolUseId)
            yield from self._message(message)

    def settle(self) -> Iterator[Seen]:
        """Nothing waits: a document is whole."""
        return iter(())

    def _message(self, message: _Message) -> Iterator[Seen]:
        if message.role == "info":
            yield from self._info(message)
            return
        if message.role not in ("user", "assistant"):
            self.unknown[f"message/{message.role[:64]}"] += 1
            return
        at = message.meta.sentAt or (message.usage.timestamp if message.usage else None)
        ident = _ident(message)
        if ident and (again := self._void.pop(ident, ())):
            yield Voided(session=self._speech.session, again=again)
        said = tuple(self._said(message, ident, at))
        if ident:
            self._live[ident] = tuple(
                dict.fromkeys((*self._live.get(ident, ()), *(each.id for each in said)))
            )
        yield from said

    def _said(self, message: _Message, ident: str | None, at: object) -> Iterator[Entry]:
        """What was said, apart from what Amp put into a person's message without showing it to them."""
        is_users = message.role == "user"
        blocks = blocks_of(message.content)
        shown = [each for each in blocks if not (is_users and each.hidden)]
        entry = opening(self._speech, message.role, text_of(shown), ident, at)
        if is_users and message.meta.is_sent:
            entry = replace(entry, role=Role.CONTEXT, origin=_no_persons(entry.origin))
        yield from said_in(self._speech, message.role, shown, entry)
        if hidden := text_of([each for each in blocks if is_users and each.hidden]):
            own = f"{ident}#0" if ident else None
            yield from self._speech.aside(self._speech.entry(Role.CONTEXT, Origin.SYNTHETIC, hidden, own, at))

    def _info(self, message: _Message) -> Iterator[Seen]:
        """What Amp notes itself: a summary of what was said before, or of another thread."""
        for block in blocks_of(message.content):
            said = block.summary.get("summary") if isinstance(block.summary, dict) else block.text
            if isinstance(said, str):
                entry = self._speech.entry(Role.CONTEXT, Origin.RECALLED, said, _ident(message))
                yield from self._speech.aside(entry)

    def _rewound(self, there: set[str]) -> Iterator[Seen]:
        """What stood after the last message that is still there was taken back, as an edit does."""
        gone = list(takewhile(lambda ident: ident not in there, reversed(self._live)))
        dead = [entry for ident in reversed(gone) for entry in self._live[ident]]
        for ident in gone:
            self._void[ident] = self._live.pop(ident)
        if dead:
            yield Voided(session=self._speech.session, ids=tuple(dead))


def _no_persons(origin: Origin) -> Origin:
    return Origin.SYNTHETIC if origin is Origin.HUMAN else origin


def _ident(message: _Message) -> str | None:
    return None if message.messageId is None else str(message.messageId)


def _roots(around: Surroundings) -> tuple[str, ...]:
    """`amp/threads` in the person's data folder, and what its extension kept in each editor."""
    base = around.env.get("XDG_DATA_HOME") or f"{around.home}/.local/share"
    return (f"{base}/amp/threads", *(f"{each}/sourcegraph.amp/threads3" for each in editors(around)))


_NAME = re.compile(r"(?:.*/)?T-[^/]+\.json")


SOURCE = Source(
    agent="amp",
    roots=_roots,
    belongs=lambda path: _NAME.fullmatch(path) is not None,
    container=lambda _path: Container.DOCUMENT,
    claims=lambda path, head: _NAME.fullmatch(path) is not None and b'"messages"' in head,
    reader=AmpReader,
    writes_turn_end=False,
    gaps="newer threads stay on its server",
    seen="none: written from published descriptions",
)
