"""OpenTelemetry's GenAI spans and events as JSONL: whoever exports them can be read."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from extractord.core.records import Origin, Role, Seen
from extractord.core.transcripts.blocks import shown_in
from extractord.core.transcripts.commontools import has_failed, parsed
from extractord.core.transcripts.decoding import decoder
from extractord.core.transcripts.recorded import text_key
from extractord.core.transcripts.source import Container, Opened, Source
from extractord.core.transcripts.speech import Speech
from extractord.core.transcripts.telling import decoded

_DEPTH = 8
_OBJECT = decoder(dict[str, Any])
_MESSAGES = ("gen_ai.input.messages", "gen_ai.output.messages")
_VALUES = ("stringValue", "intValue", "doubleValue", "boolValue")


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

    def feed(self, record: bytes) -> Iterator[Seen]:
        """Given a line (an export request, a span or an event), yield what it brings."""
        line = decoded(record, _OBJECT, self.unknown)
        if line is None:
            return
        spans = tuple(_spans(line))
        if not spans:
            self.unknown["no span"] += 1
        for resource, span in spans:
            self.version = _text(resource.get("service.version")) or self.version
            yield from self._span(span)

    def settle(self) -> Iterator[Seen]:
        """Nothing waits: a span is written when it has ended."""
        return iter(())

    def _span(self, span: dict[str, Any]) -> Iterator[Seen]:
        attributes = _plain(span.get("attributes"))
        found = attributes if isinstance(attributes, dict) else {}
        named = _text(found.get("gen_ai.conversation.id")) or _text(span.get("traceId"))
        self.session = named or self._name
        self._speech.session = self.session
        time = _nanoseconds(span.get("endTimeUnixNano") or span.get("timeUnixNano"))
        if any(key in found for key in _MESSAGES):
            yield from self._messages([each for key in _MESSAGES for each in _list(found.get(key))], time)
        elif _text(found.get("gen_ai.operation.name")) == "execute_tool":
            yield from self._tool(found, time)

    def _messages(self, messages: list[dict[str, Any]], time: object) -> Iterator[Seen]:
        """A call's whole history and its answer; what was told before is not told again."""
        speech, told = self._speech, Counter[str]()
        for message in messages:
            role = _text(message.get("role")) or ""
            parts = [part for part in _list(message.get("parts")) if isinstance(part, dict)]
            text = "\n".join(filter(None, (_said(part) for part in parts)))
            calls = [
                speech.call(_text(part.get("id")) or "", _text(part.get("name")) or "", part.get("arguments"))
                for part in parts
                if part.get("type") == "tool_call"
            ]
            words = f"{role}\n{text}\n{' '.join(call.id for call in calls)}"
            ident = f"{speech.session}/{text_key(words, told[words])}"
            told[words] += 1
            first = self._times.setdefault(ident, time)
            for part in parts:
                if part.get("type") == "tool_call_response":
                    shown = shown_in(part.get("response", part.get("result")))
                    call = _text(part.get("id")) or ""
                    at = self._times.setdefault(call, time)
                    yield from speech.result(call, shown, ok=not has_failed(shown), time=at)
            match role:
                case "user" if text.strip():
                    yield from speech.prompted(speech.entry(Role.USER, Origin.HUMAN, text, ident, first))
                case "assistant":
                    yield from speech.answered(
                        speech.entry(Role.ASSISTANT, Origin.SYNTHETIC, text, ident, first), calls
                    )
                case "user" | "tool" | "system" | "developer":
                    continue
                case other:
                    self.unknown[f"message/{other[:64]}"] += 1

    def _tool(self, found: dict[str, Any], time: object) -> Iterator[Seen]:
        call, name = _text(found.get("gen_ai.tool.call.id")), _text(found.get("gen_ai.tool.name")) or ""
        if call is None:
            return
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
        yield _dict(_plain(_dict(line.get("resource")).get("attributes"))), line
    for outer, middle, inner in (
        ("resourceSpans", "scopeSpans", "spans"),
        ("resourceLogs", "scopeLogs", "logRecords"),
    ):
        for sender in _list(line.get(outer)):
            resource = _dict(_plain(_dict(_dict(sender).get("resource")).get("attributes")))
            for scope in _list(_dict(sender).get(middle)):
                for span in _list(_dict(scope).get(inner)):
                    yield resource, _dict(span)


def _plain(value: object, depth: int = _DEPTH) -> Any:
    """Given attributes or a value in OTLP's form, or plain already, return them plain."""
    if depth == 0:
        return None
    match value:
        case [{"key": str()}, *_]:
            pairs = ((each.get("key"), each.get("value")) for each in value if isinstance(each, dict))
            return {key: _plain(inner, depth - 1) for key, inner in pairs if isinstance(key, str)}
        case {"arrayValue": {"values": list() as values}}:
            return [_plain(each, depth - 1) for each in values]
        case {"kvlistValue": {"values": list() as values}}:
            return _plain(values, depth - 1) if values else {}
        case dict() if len(value) == 1 and next(iter(value)) in _VALUES:
            return next(iter(value.values()))
        case _:
            return value


def _said(part: dict[str, Any]) -> str | None:
    return _text(part.get("content")) if part.get("type") == "text" else None


def _list(value: object) -> list[Any]:
    """A list, or JSON text of one, else nothing."""
    found = parsed(value) if isinstance(value, str) else value
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _nanoseconds(value: object) -> object:
    number = int(value) if isinstance(value, str) and re.fullmatch(r"\d{1,19}", value, re.ASCII) else value
    return number // 1_000_000 if isinstance(number, int) and number > 0 else None


_HEAD = re.compile(rb'\s*\{"resource(?:Spans|Logs)":|\s*\{[^\n]*?"gen_ai\.[a-z_.]+":')


SOURCE = Source(
    agent="otel-genai",
    roots=lambda _around: (),
    belongs=lambda path: path.endswith(".jsonl"),
    container=lambda _path: Container.LINES,
    claims=lambda path, head: path.endswith(".jsonl") and _HEAD.match(head[:16384]) is not None,
    reader=OtelReader,
    writes_turn_end=False,
    gaps=(
        "exporters leave contents out unless told to record them; events of conventions up to 1.36 "
        "are not read"
    ),
    seen="Visual Studio Copilot 18.6",
)
