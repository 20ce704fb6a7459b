"""Messages as OpenAI's chat API shapes them, which many agents record."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from extractord.core.records import Entry, Origin, Role
from extractord.core.transcripts.commontools import has_failed, parsed
from extractord.core.transcripts.speech import Speech

ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
_TEXTS = frozenset({"text", "input_text", "output_text"})
_AS_JSON = re.compile(r"\A\0?json:(?=[\[{])")


class Function(Struct):
    """What is called, its arguments as an object or as JSON text."""

    name: str | None = None
    arguments: Any = None


class Call(Struct):
    """A tool call; its name stands in `function`, else beside."""

    id: str | None = None
    function: Function | None = None
    name: str | None = None
    arguments: Any = None


class Part(Struct):
    """One part of a content."""

    type: str = ""
    text: str | None = None


Content = str | list[Part] | None


class ChatMessage(Struct):
    """A message in the API's form, with what agents add to it."""

    role: str = ""
    content: Content = None
    tool_calls: list[Call] | str | None = None
    tool_call_id: str | None = None
    name: str | None = None
    tool_name: str | None = None
    function_call: Function | None = None
    timestamp: Any = None
    created_at: Any = None


def text_of(content: Content) -> str:
    """Given a content, return its text, without images and thoughts."""
    if isinstance(content, str):
        found = parsed(content[content.index(":") + 1 :]) if _AS_JSON.match(content) else None
        if not isinstance(found, list):
            return content
        texts = (each.get("text") for each in found if isinstance(each, dict) and each.get("type") in _TEXTS)
        return "\n".join(text for text in texts if isinstance(text, str))
    return "\n".join(part.text for part in content or () if part.type in _TEXTS and part.text)


def calls_of(message: ChatMessage) -> list[Call]:
    """Given a message, return its tool calls, which may stand in it as JSON text."""
    match message.tool_calls:
        case list() as calls:
            return calls
        case str() as text if isinstance(found := parsed(text), list):
            return [_call(each) for each in found if isinstance(each, dict)]
        case _ if message.function_call is not None:
            return [Call(function=message.function_call)]
        case _:
            return []


def _call(found: dict[str, Any]) -> Call:
    function = found.get("function")
    named = function if isinstance(function, dict) else found
    ident, name = found.get("id"), named.get("name")
    return Call(
        id=ident if isinstance(ident, str) else None,
        name=name if isinstance(name, str) else None,
        arguments=named.get("arguments"),
    )


def told(speech: Speech, message: ChatMessage, entry: Entry, *, ended: bool = False) -> Iterator[Entry]:
    """Given a message that is no person's, and an entry for it, yield what the agent or a tool says."""
    if message.role == "assistant":
        calls = tuple(
            speech.call(call.id or f"{entry.id}/{nth}", name or "", arguments)
            for nth, call in enumerate(calls_of(message))
            for name, arguments in [_named(call)]
        )
        yield from speech.answered(entry, calls, ended=ended and bool(entry.text.strip()) and not calls)
    elif message.role in ("tool", "function"):
        name = message.tool_name or message.name or ""
        call = message.tool_call_id or entry.id
        ok = not has_failed(entry.text)
        yield from speech.result(call, entry.text, ok=ok, time=entry.time, name=name)
    else:
        yield from speech.aside(replace(entry, role=Role.CONTEXT))


def _named(call: Call) -> tuple[str | None, Any]:
    if call.function is not None:
        return call.function.name, call.function.arguments
    return call.name, call.arguments


def opening(speech: Speech, message: ChatMessage, ident: str | None = None, time: object = None) -> Entry:
    """An entry for a message: a person's where it is a user's, else the agent's; a result gets no key."""
    text = text_of(message.content)
    match message.role:
        case "user":
            return speech.entry(Role.USER, Origin.HUMAN, text, ident, time)
        case "assistant":
            asked = " ".join(call.id for call in calls_of(message) if call.id)
            return speech.entry(Role.ASSISTANT, Origin.SYNTHETIC, text, ident, time, asked)
        case _:
            return speech.entry(Role.TOOL, Origin.SYNTHETIC, text, ident, time)
