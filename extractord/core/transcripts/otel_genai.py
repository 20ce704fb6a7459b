"""OpenTelemetry's GenAI spans and events as JSONL: whoever exports them can be read."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from extractord.core.records import Origin, Role, Seen
from extractord.core.transcripts.blocks import shown_in
from extractord.core.transcripts.chains import Chains, named_in
from extractord.core.transcripts.commontools import has_failed
from extractord.core.transcripts.decoding import decoder
from extractord.core.transcripts.otel_older import messages_in
from extractord.core.transcripts.otel_values import mapping, milliseconds, objects, plain, text
from extractord.core.transcripts.recorded import text_key
from extractord.core.transcripts.source import Container, Opened, Source
from extractord.core.transcripts.speech import Speech
from extractord.core.transcripts.telling import decoded

_OBJECT = decoder(dict[str, Any])
_ENDS = ("endTimeUnixNano", "timeUnixNano", "observedTimeUnixNano", "end_time", "timestamp")
_MESSAGES = ("gen_ai.input.messages", "gen_ai.output.messages")


class OtelReader:
    """Folds spans and log records; each call repeats the history, so a message is known by its words."""

    def __init__(self, opened: Opened) -> None:
        """Take the file's name for the conversation's where a record names none."""
        self.session: str | None = None
        self.version: str | None = None
        self.unknown: Counter[str] = Counter()
        self._name = opened.path.rsplit("/", 1)[-1].partition(".")[0]
        self._speech = Speech("otel-genai", self._name)
        self._times: dict[str, object] = {}
        self._chains = Chains()
        self._calls: set[str] = set()
        self._of: str | None = None
        self._told = Counter[str]()

    def feed(self, record: bytes) -> Iterator[Seen]:
        """Given a line (an export request, a span or an event), yield what it brings."""
        line = decoded(record, _OBJECT, self.unknown)
        if line is None:
            return
        spans = tuple(_spans(line))
        if not spans:
            self.unknown["no span"] += 1
        for resource, span in spans:
            self.version = text(resource.get("service.version")) or self.version
            yield from self._span(span)

    def settle(self) -> Iterator[Seen]:
        """Nothing waits: a span is written when it has ended."""
        return iter(())

    def _span(self, span: dict[str, Any]) -> Iterator[Seen]:
        attributes = plain(span.get("attributes"))
        found = attributes if isinstance(attributes, dict) else {}
        trace = text(span.get("traceId")) or text(mapping(span.get("context")).get("trace_id"))
        named = named_in(found)
        self._is_in(named or trace or self._name)
        time = milliseconds(next(filter(None, (span.get(key) for key in _ENDS)), None))
        if any(key in found for key in _MESSAGES):
            whole = [each for key in _MESSAGES for each in objects(found.get(key))]
            self._is_in(named or self._chains.of(whole, self._speech.session))
            yield from self._messages(whole, time, Counter())
        elif older := messages_in(span, found):
            self._is_in(named or self._chains.of(older, self._speech.session))
            yield from self._messages(older, time, self._counted(span))
        elif text(found.get("gen_ai.operation.name")) == "execute_tool":
            yield from self._tool(found, time)

    def _is_in(self, session: str) -> None:
        self.session = self._speech.session = session

    def _counted(self, span: dict[str, Any]) -> Counter[str]:
        """What was told of the same span before: its messages may come an event each."""
        of = text(span.get("spanId")) or text(span.get("span_id"))
        if of is None or of != self._of or "startTimeUnixNano" in span:
            self._of, self._told = of, Counter()
        return self._told

    def _messages(self, messages: list[dict[str, Any]], time: object, told: Counter[str]) -> Iterator[Seen]:
        """A call's whole history and its answer; what was told before is not told again."""
        speech = self._speech
        for message in messages:
            role = text(message.get("role")) or ""
            parts = [part for part in objects(message.get("parts")) if isinstance(part, dict)]
            said = "\n".join(filter(None, (_said(part) for part in parts)))
            calls = [
                speech.call(text(part.get("id")) or "", text(part.get("name")) or "", part.get("arguments"))
                for part in parts
                if part.get("type") == "tool_call"
            ]
            self._calls.update(call.id for call in calls)
            words = f"{role}\n{said}\n{' '.join(call.id for call in calls)}"
            ident = f"{speech.session}/{text_key(words, told[words])}"
            told[words] += 1
            first = self._times.setdefault(ident, time)
            for part in parts:
                if part.get("type") == "tool_call_response":
                    shown = shown_in(part.get("response", part.get("result")))
                    call = text(part.get("id")) or ""
                    at = self._times.setdefault(call, time)
                    yield from speech.result(call, shown, ok=not has_failed(shown), time=at)
            match role:
                case "user" if said.strip():
                    yield from speech.prompted(speech.entry(Role.USER, Origin.HUMAN, said, ident, first))
                case "assistant":
                    yield from speech.answered(
                        speech.entry(Role.ASSISTANT, Origin.SYNTHETIC, said, ident, first), calls
                    )
                case "user" | "tool" | "system" | "developer":
                    continue
                case other:
                    self.unknown[f"message/{other[:64]}"] += 1

    def _tool(self, found: dict[str, Any], time: object) -> Iterator[Seen]:
        call, name = text(found.get("gen_ai.tool.call.id")), text(found.get("gen_ai.tool.name")) or ""
        if call is None:
            return
        if call not in self._calls:
            asked = self._speech.call(call, name, found.get("gen_ai.tool.call.arguments"))
            entry = self._speech.entry(Role.ASSISTANT, Origin.SYNTHETIC, "", f"{self.session}/{call}", time)
            yield from self._speech.answered(entry, [asked])
        shown = shown_in(found.get("gen_ai.tool.call.result"))
        failed = "error.type" in found or has_failed(shown)
        at = self._times.setdefault(call, time)
        yield from self._speech.result(call, shown, ok=not failed, time=at, name=name)


def _spans(line: dict[str, Any]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Every span and log record in a line, with the attributes of what sent it."""
    if "attributes" in line:
        yield mapping(plain(mapping(line.get("resource")).get("attributes"))), line
    for outer, middle, inner in (
        ("resourceSpans", "scopeSpans", "spans"),
        ("resourceLogs", "scopeLogs", "logRecords"),
    ):
        for sender in objects(line.get(outer)):
            resource = mapping(plain(mapping(mapping(sender).get("resource")).get("attributes")))
            for scope in objects(mapping(sender).get(middle)):
                for span in objects(mapping(scope).get(inner)):
                    yield resource, mapping(span)


def _said(part: dict[str, Any]) -> str | None:
    return text(part.get("content")) if part.get("type") == "text" else None


_HEAD = re.compile(
    rb'\s*\{"resource(?:Spans|Logs)":|\s*\{[^\n]*?"(?:gen_ai\.[a-z0-9_.]+":|event.?[nN]ame":\s*"gen_ai\.)'
)


SOURCE = Source(
    agent="otel-genai",
    roots=lambda _around: (),
    belongs=lambda path: path.endswith(".jsonl"),
    container=lambda _path: Container.LINES,
    claims=lambda path, head: path.endswith(".jsonl") and _HEAD.match(head[:16384]) is not None,
    reader=OtelReader,
    writes_turn_end=False,
    gaps=(
        "exporters leave contents out unless told to record them; without a conversation's id a trace that "
        "repeats no other is a session of its own"
    ),
    seen="Visual Studio Copilot 18.6; OpenLLMetry, OpenInference, Logfire, Pydantic AI of November 2026",
)
