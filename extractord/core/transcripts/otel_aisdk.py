"""What the AI SDK of Vercel puts into its spans, as messages of today's convention."""

from __future__ import annotations

from typing import Any

from extractord.core.transcripts.blocks import shown_in
from extractord.core.transcripts.otel_values import mapping, objects, text

_FAILED = frozenset({"error-text", "error-json", "execution-denied"})


def messages_in(found: dict[str, Any]) -> list[dict[str, Any]]:
    """Given a call's attributes, return what it was given and what it answered."""
    given = objects(found.get("ai.prompt.messages"))
    if not given:
        return []
    messages = [_message(text(each.get("role")) or "", each.get("content")) for each in given]
    said = text(found.get("ai.response.text")) or text(found.get("ai.result.text"))
    calls = objects(found.get("ai.response.toolCalls")) or objects(found.get("ai.result.toolCalls"))
    answer = [{"type": "text", "text": said}] if said else []
    answer += [{**call, "type": "tool-call"} for call in calls]
    return [each for each in (*messages, _message("assistant", answer)) if each["parts"]]


def _message(role: str, content: object) -> dict[str, Any]:
    if isinstance(content, str):
        return {"role": role, "parts": [{"type": "text", "content": content}] if content else []}
    return {"role": role, "parts": [part for each in objects(content) if (part := _part(each))]}


def _part(part: dict[str, Any]) -> dict[str, Any] | None:
    named = {"id": part.get("toolCallId"), "name": part.get("toolName")}
    match part.get("type"):
        case "text":
            return {"type": "text", "content": part.get("text")}
        case "tool-call":
            return {"type": "tool_call", **named, "arguments": part.get("input", part.get("args"))}
        case "tool-result":
            output = mapping(part.get("output"))
            shown = shown_in(output.get("value", part.get("result", part.get("output"))))
            failed = output.get("type") in _FAILED or part.get("isError") is True
            return {"type": "tool_call_response", **named, "response": f"Error: {shown}" if failed else shown}
        case _:
            return None
