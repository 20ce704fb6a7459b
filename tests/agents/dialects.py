"""The four languages in which agents ask a model: what was asked, and how it is answered."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Asked:
    """A request, whatever its language: the newest prompt, and whether a tool answered after it."""

    prompt: str
    answered: bool
    tools: Mapping[str, Json]
    """The JSON schema of each tool's arguments, by its name."""


@dataclass(frozen=True, slots=True)
class Call:
    """The model wants a tool."""

    name: str
    arguments: Json


Said = str | Call

_AROUND = re.compile(r"\A\s*<current_datetime>[^<]*</current_datetime>|<reminder>.*?</reminder>", re.DOTALL)
"""What Copilot CLI puts round a prompt in the same text."""
_numbers = itertools.count(1)


def _texts(content: object) -> list[str]:
    """The texts of a message's content, which is a string or a list of parts."""
    if isinstance(content, str):
        return [content]
    parts = content if isinstance(content, list) else []
    return [part["text"] for part in parts if isinstance(part.get("text"), str)]


def _spoken(texts: Iterable[str]) -> str:
    """What a person said of a message that an agent has wrapped in reminders of its own."""
    said = (_AROUND.sub("", text).strip() for text in reversed(list(texts)))
    return next((text for text in said if text and not text.startswith("<")), "")


class Anthropic:
    """The messages API."""

    def asked(self, body: Json) -> Asked:
        said = [message for message in body["messages"] if message["role"] != "system"]
        content = said[-1]["content"]
        answered = isinstance(content, list) and any(part["type"] == "tool_result" for part in content)
        tools = {tool["name"]: tool.get("input_schema", {}) for tool in body.get("tools", ())}
        return Asked(_spoken(_texts(content)), answered, tools)

    def answer(self, said: Said, model: str) -> Json:
        number = next(_numbers)
        block: Json = {"type": "text", "text": said}
        if isinstance(said, Call):
            block = {
                "type": "tool_use",
                "id": f"toolu_{number:024d}",
                "name": said.name,
                "input": said.arguments,
            }
        return {
            "id": f"msg_{number:024d}",
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": [block],
            "stop_reason": "tool_use" if isinstance(said, Call) else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 100, "output_tokens": 20},
        }

    def stream(self, whole: Json) -> Iterator[Json]:
        [block] = whole["content"]
        is_text = block["type"] == "text"
        empty = {**block, **({"text": ""} if is_text else {"input": {}})}
        delta = (
            {"type": "text_delta", "text": block["text"]}
            if is_text
            else {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        )
        yield {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}}
        yield {"type": "content_block_start", "index": 0, "content_block": empty}
        yield {"type": "content_block_delta", "index": 0, "delta": delta}
        yield {"type": "content_block_stop", "index": 0}
        yield {
            "type": "message_delta",
            "delta": {"stop_reason": whole["stop_reason"], "stop_sequence": None},
            "usage": whole["usage"],
        }
        yield {"type": "message_stop"}


class ChatCompletions:
    """OpenAI's older API, which most others speak."""

    def asked(self, body: Json) -> Asked:
        told = ((_spoken(_texts(each["content"])), each["role"]) for each in reversed(body["messages"]))
        prompt, role = next((each for each in told if each[0] or each[1] != "user"), ("", "user"))
        tools = {tool["function"]["name"]: tool["function"]["parameters"] for tool in body.get("tools", ())}
        return Asked(prompt, role == "tool", tools)

    def answer(self, said: Said, model: str) -> Json:
        number = next(_numbers)
        message: Json = {"role": "assistant", "content": said}
        if isinstance(said, Call):
            function = {"name": said.name, "arguments": json.dumps(said.arguments)}
            call = {"index": 0, "id": f"call_{number}", "type": "function", "function": function}
            message = {"role": "assistant", "content": None, "tool_calls": [call]}
        return {
            "id": f"chatcmpl-{number}",
            "object": "chat.completion",
            "created": 1,
            "model": model,
            "choices": [
                {
                    "index": 0,
                    "message": message,
                    "finish_reason": "tool_calls" if isinstance(said, Call) else "stop",
                }
            ],
            "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
        }

    def stream(self, whole: Json) -> Iterator[Json]:
        [choice] = whole["choices"]
        chunk = {**whole, "object": "chat.completion.chunk", "usage": None}
        yield {**chunk, "choices": [{"index": 0, "delta": choice["message"], "finish_reason": None}]}
        end = {"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}
        yield {**chunk, "choices": [end], "usage": whole["usage"]}


class Responses:
    """OpenAI's newer API."""

    def asked(self, body: Json) -> Asked:
        last = body["input"][-1]
        tools = {tool["name"]: tool["parameters"] for tool in body.get("tools", ()) if "parameters" in tool}
        return Asked(_spoken(_texts(last.get("content"))), last["type"].endswith("_output"), tools)

    def answer(self, said: Said, model: str) -> Json:
        number = next(_numbers)
        item: Json = {
            "type": "message",
            "id": f"msg_{number}",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": said, "annotations": []}],
        }
        if isinstance(said, Call):
            item = {
                "type": "function_call",
                "id": f"fc_{number}",
                "call_id": f"call_{number}",
                "name": said.name,
                "arguments": json.dumps(said.arguments),
                "status": "completed",
            }
        usage = {
            "input_tokens": 100,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 20,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 120,
        }
        return {
            "id": f"resp_{number}",
            "object": "response",
            "created_at": 1,
            "status": "completed",
            "model": model,
            "output": [item],
            "usage": usage,
        }

    def stream(self, whole: Json) -> Iterator[Json]:
        [item] = whole["output"]
        begun = {**whole, "status": "in_progress", "output": [], "usage": None}
        empty = {**item, "status": "in_progress"}
        yield {"type": "response.created", "response": begun}
        yield {
            "type": "response.output_item.added",
            "output_index": 0,
            "item": {**empty, "content": []} if item["type"] == "message" else {**empty, "arguments": ""},
        }
        yield {"type": "response.output_item.done", "output_index": 0, "item": item}
        yield {"type": "response.completed", "response": whole}


class Gemini:
    """Google's API; whether it streams is said by the address."""

    def asked(self, body: Json) -> Asked:
        parts = body["contents"][-1]["parts"]
        tools = {
            tool["name"]: tool.get("parametersJsonSchema") or tool.get("parameters") or {}
            for group in body.get("tools", ())
            for tool in group.get("functionDeclarations", ())
        }
        return Asked(_spoken(_texts(parts)), any("functionResponse" in part for part in parts), tools)

    def answer(self, said: Said, model: str) -> Json:
        part: Json = {"text": said}
        if isinstance(said, Call):
            part = {"functionCall": {"name": said.name, "args": said.arguments}}
        return {
            "candidates": [
                {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
            ],
            "usageMetadata": {"promptTokenCount": 100, "candidatesTokenCount": 20, "totalTokenCount": 120},
            "modelVersion": model,
        }

    def stream(self, whole: Json) -> Iterator[Json]:
        yield whole


Dialect = Anthropic | ChatCompletions | Responses | Gemini
