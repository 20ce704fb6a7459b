"""OpenAI's chat messages as JSONL, a message or a conversation a line, whoever wrote them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from hashlib import sha256

from msgspec import Struct
from msgspec.structs import replace

from extractord.core.records import Seen
from extractord.core.transcripts.chains import Chains
from extractord.core.transcripts.chat import ROLES, ChatMessage, calls_of, opening, text_of, told
from extractord.core.transcripts.commontools import parsed
from extractord.core.transcripts.decoding import decoder
from extractord.core.transcripts.source import Container, Opened, Source
from extractord.core.transcripts.speech import Speech
from extractord.core.transcripts.telling import decoded


class _Metadata(Struct):
    session_id: str | None = None
    conversation_id: str | None = None
    cwd: str | None = None


class _Conversation(Struct):
    messages: list[ChatMessage] | None = None
    id: str | None = None
    session_id: str | None = None
    conversation_id: str | None = None
    thread_id: str | None = None
    metadata: _Metadata | None = None


_CONVERSATION = decoder(_Conversation)
_MESSAGE = decoder(ChatMessage)


class ChatReader:
    """Folds a file's lines; a line that is a conversation is a session of its own."""

    def __init__(self, opened: Opened) -> None:
        """Name the session after the file, since two folders may hold files of one name."""
        self.session: str | None = None
        self.version: str | None = None
        self.unknown: Counter[str] = Counter()
        stem = opened.path.rsplit("/", 1)[-1].partition(".")[0]
        self._name = f"{stem}-{sha256(opened.path.encode('utf-8', 'replace')).hexdigest()[:8]}"
        self._speech = Speech("openai-chat", self._name)
        self._conversations = 0
        self._chains = Chains()
        self._called: str | None = None

    def feed(self, record: bytes) -> Iterator[Seen]:
        """Given a line, yield what it brings."""
        line = decoded(record, _CONVERSATION, self.unknown)
        if line is None:
            return
        if line.messages is None:
            self.session = self.session or self._name
            yield from self._message(_MESSAGE(record) or ChatMessage())
            return
        self._conversations += 1
        metadata = line.metadata or _Metadata()
        inner = metadata.session_id or metadata.conversation_id
        named = inner or line.session_id or line.conversation_id or line.thread_id or line.id
        self.session = named or self._gone_on_with(line.messages)
        self._speech.begin(self.session)
        self._speech.cwd = metadata.cwd
        for message in line.messages:
            yield from self._message(message)

    def settle(self) -> Iterator[Seen]:
        """Nothing waits: a message is told as it stands."""
        return iter(())

    def _gone_on_with(self, messages: list[ChatMessage]) -> str:
        """The session of the line before whose every word a line repeats, else a new one."""
        said = [{"role": each.role, "parts": [*_parts(each)]} for each in messages]
        return self._chains.of(said, f"{self._name}/{self._conversations}", unanswered=True)

    def _message(self, message: ChatMessage) -> Iterator[Seen]:
        if message.role not in ROLES:
            self.unknown[(message.role or "no role")[:64]] += 1
            return
        if message.role == "function" and message.tool_call_id is None:
            message = replace(message, tool_call_id=self._called)
        entry = opening(self._speech, message, time=message.timestamp or message.created_at)
        if message.function_call is not None:
            self._called = f"{entry.id}/0"
        if message.role != "user":
            yield from told(self._speech, message, entry, ended=True)
        elif entry.text.strip():
            yield from self._speech.prompted(entry)


def _parts(message: ChatMessage) -> Iterator[dict[str, str | None]]:
    yield {"type": "text", "content": text_of(message.content)}
    for call in calls_of(message):
        yield {"type": "tool_call", "id": call.id}


_HEAD = re.compile(
    rb'\s*\{"(?:role":\s*"(?:system|developer|user|assistant)",\s*"content":|messages":\s*\[\s*\{"role":)'
)
_PLAIN = frozenset(
    {"role", "content", "name", "tool_calls", "tool_call_id", "refusal", "audio", "function_call", "weight"}
)


def _claims(path: str, head: bytes) -> bool:
    """True if the first line is a conversation, or a message with the API's own keys and no other.

    Agents that add keys of their own are read too, where a person says that they are to be.
    """
    if not path.endswith(".jsonl") or _HEAD.match(head) is None:
        return False
    first = parsed(head.partition(b"\n")[0].decode("utf-8", "replace"))
    return not isinstance(first, dict) or "messages" in first or _PLAIN.issuperset(first)


SOURCE = Source(
    agent="openai-chat",
    roots=lambda _around: (),
    belongs=lambda path: path.endswith(".jsonl"),
    container=lambda _path: Container.LINES,
    claims=_claims,
    reader=ChatReader,
    gaps="who gave a prompt is not recorded: set `headless` where a program does",
    seen="no agent of its own",
)
