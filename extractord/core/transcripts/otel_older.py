"""GenAI messages as conventions up to 1.36 have them: an event each, or numbered attributes."""

from __future__ import annotations

import re
from typing import Any

from extractord.core.transcripts import otel_aisdk
from extractord.core.transcripts.commontools import parsed
from extractord.core.transcripts.otel_values import mapping, objects, plain, text

_EVENT = re.compile(
    r"gen_ai\.(?:(system|user|assistant|tool)\.message|(choice)|content\.(prompt|completion))"
)
_NUMBERED = re.compile(
    r"(?:gen_ai\.(?P<which>prompt|completion)|llm\.(?P<way>input|output)_messages)\.(?P<nth>\d{1,6})\."
    r"(?:message\.)?(?:(?P<key>role|content|tool_call_id|name)"
    r"|contents\.(?P<piece>\d{1,6})\.message_content\.(?P<of>type|text)"
    r"|tool_calls\.(?P<call>\d{1,6})\.(?:tool_call\.)?(?:function\.)?(?P<part>id|name|arguments))"
)
_WHOLE = (("gen_ai.prompt", "user"), ("gen_ai.completion", "assistant"))
_TEXTS = frozenset({"text", "input_text", "output_text"})


def messages_in(record: dict[str, Any], found: dict[str, Any]) -> list[dict[str, Any]]:
    """Given a span or log record and its attributes, plain, return the messages in it, as of today.

    Each has a `role` and `parts`; those of an event stand in it, those of a span in its events or
    attributes.
    """
    named = (record.get("eventName"), record.get("event_name"), found.get("event.name"))
    name = next(filter(None, map(text, named)), "")
    if event := _EVENT.fullmatch(name):
        return _of_event(event, found, record.get("body"))
    messages: list[dict[str, Any]] = []
    for each in objects(record.get("events")):
        if event := _EVENT.fullmatch(text(each.get("name")) or ""):
            messages += _of_event(event, mapping(plain(each.get("attributes"))), None)
    return messages or _numbered(found) or _whole(found) or otel_aisdk.messages_in(found)


def _of_event(event: re.Match[str], found: dict[str, Any], body: object) -> list[dict[str, Any]]:
    if event[3]:
        key, role = _WHOLE[event[3] == "completion"]
        return _whole({key: found.get(key)}) if key in found else _message(found, role)
    said = plain(body)
    said = parsed(said) if isinstance(said, str) and said.lstrip()[:1] == "{" else said
    written = found.get("gen_ai.event.content")
    if not isinstance(said, dict):
        given = parsed(written) if isinstance(written, str) else plain(written)
        said = given if isinstance(given, dict) else {**found, **({"content": said} if said else {})}
    if event[2]:
        inner = said.get("message")
        inner = parsed(inner) if isinstance(inner, str) and inner.lstrip()[:1] == "{" else inner
        said = inner if isinstance(inner, dict) else {**said, **({"content": inner} if inner else {})}
    return _message(said, event[1] or "assistant")


def _whole(found: dict[str, Any]) -> list[dict[str, Any]]:
    """Messages that are all one attribute: JSON of a list, or the words alone."""
    messages: list[dict[str, Any]] = []
    for key, role in _WHOLE:
        value = found.get(key)
        several = objects(value)
        for each in several:
            messages += _message(each, role)
        if not several and (words := text(value)) and words.lstrip()[:1] not in ("[", "{"):
            messages += _message({"content": words}, role)
    return messages


def _numbered(found: dict[str, Any]) -> list[dict[str, Any]]:
    """Messages whose every field is an attribute of its own."""
    said: dict[tuple[bool, int], dict[str, Any]] = {}
    for key, value in found.items():
        if (match := _NUMBERED.fullmatch(key)) is None:
            continue
        comes_back = match["which"] == "completion" or match["way"] == "output"
        message = said.setdefault((comes_back, int(match["nth"])), {"calls": {}, "pieces": {}})
        if match["key"]:
            message[match["key"]] = value
        elif match["of"]:
            message["pieces"].setdefault(int(match["piece"]), {})[match["of"]] = value
        else:
            message["calls"].setdefault(int(match["call"]), {})[match["part"]] = value
    messages: list[dict[str, Any]] = []
    for (comes_back, _), message in sorted(said.items(), key=lambda each: each[0]):
        calls = [call for _, call in sorted(message.pop("calls").items())]
        if pieces := [piece for _, piece in sorted(message.pop("pieces").items())]:
            message.setdefault("content", pieces)
        messages += _message({**message, "tool_calls": calls}, "assistant" if comes_back else "")
    return messages


def _message(said: dict[str, Any], role: str) -> list[dict[str, Any]]:
    """A message in the chat API's form, as one of today; nothing where it says nothing."""
    role = text(said.get("role")) or role
    content = said.get("content")
    given = parsed(content) if isinstance(content, str) and content.startswith('[{"') else content
    words = _words(given) if isinstance(given, list) else text(content)
    if role in ("tool", "function"):
        response = words if words is not None else plain(content)
        answered = text(said.get("tool_call_id")) or text(said.get("id")) or ""
        part = {"type": "tool_call_response", "id": answered, "response": response}
        return [{"role": "tool", "parts": [part]}]
    parts: list[dict[str, Any]] = [{"type": "text", "content": words}] if words else []
    for call in objects(plain(said.get("tool_calls"))):
        named = mapping(plain(call.get("function"))) or call
        asked = {"name": named.get("name"), "arguments": named.get("arguments")}
        parts.append({"type": "tool_call", "id": call.get("id"), **asked})
    return [{"role": role, "parts": parts}] if parts else []


def _words(content: list[Any]) -> str:
    parts = (mapping(plain(part)) for part in content)
    return "\n".join(filter(None, (text(part.get("text")) for part in parts if part.get("type") in _TEXTS)))
