"""A stand-in for a model's provider: real HTTP on loopback, answering by what the prompt asks for."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

from aiohttp import web

Script = Callable[[Mapping[str, Any], int], Any]
"""Given a request's body and how many came before it, what to answer: a dict, or a web.Response."""


def openai_reply(text: str | None = None, calls: tuple[tuple[str, str], ...] = ()) -> dict[str, Any]:
    """A reply of the chat completions API; `calls` are names and argument texts."""
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = [
            {"id": f"call_{n}", "type": "function", "function": {"name": name, "arguments": arguments}}
            for n, (name, arguments) in enumerate(calls)
        ]
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "stand-in",
        "choices": [
            {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"},
        ],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
    }


def anthropic_reply(
    text: str | None = None, calls: tuple[tuple[str, dict[str, Any]], ...] = ()
) -> dict[str, Any]:
    """A reply of the messages API; `calls` are names and inputs."""
    content: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
    content += [
        {"type": "tool_use", "id": f"toolu_{n}", "name": name, "input": given}
        for n, (name, given) in enumerate(calls)
    ]
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-stand-in",
        "content": content,
        "stop_reason": "tool_use" if calls else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 100, "output_tokens": 20},
    }


class StandIn:
    """Counts what it was asked, by path, and keeps the bodies."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.asked: Counter[str] = Counter()
        self.bodies: list[dict[str, Any]] = []
        self.url = ""

    async def answer(self, request: web.Request) -> web.StreamResponse:
        body = json.loads(await request.read() or b"{}")
        before = self.asked[self.case(body)]
        self.asked[self.case(body)] += 1
        self.bodies.append(body)
        said = self.script(body, before)
        if said == "cut":
            assert request.transport is not None
            response = web.StreamResponse(headers={"Content-Length": "5000"})
            await response.prepare(request)
            await response.write(b'{"id": "chatc')
            request.transport.abort()
            return response
        if said == "never":
            await asyncio.sleep(3600)
        if isinstance(said, web.StreamResponse):
            return said
        return web.json_response(said)

    @staticmethod
    def case(body: Mapping[str, Any]) -> str:
        """The last user message's text: what tells one test's requests from another's."""
        content = body.get("messages", [{}])[-1].get("content", "")
        if isinstance(content, list):
            content = "".join(part.get("text", "") for part in content)
        return str(content)


@contextlib.asynccontextmanager
async def serving(script: Script) -> AsyncIterator[StandIn]:
    """Serve on a free port of 127.0.0.1 until the block ends."""
    standin = StandIn(script)
    application = web.Application()
    application.router.add_post("/{path:.*}", standin.answer)
    runner = web.AppRunner(application, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    address = runner.addresses[0]
    standin.url = f"http://127.0.0.1:{address[1]}"
    try:
        yield standin
    finally:
        await runner.cleanup()
