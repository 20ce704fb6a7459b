"""A model that real agents talk to: on loopback, in four languages, by a script that the prompts hold."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator, Iterator, Mapping

from agents.dialects import Anthropic, Asked, Call, ChatCompletions, Dialect, Gemini, Json, Responses, Said
from aiohttp import web

_SHELLS = ("Bash", "bash", "run_shell_command", "exec_command", "shell_command", "shell", "terminal")
_WRITERS = ("Write", "write", "write_file")


def scripted(asked: Asked) -> Said:
    """Given what was asked, answer it.

    `run: COMMAND` calls the agent's shell, `write: PATH :: TEXT` its tool to write, or its shell
    where it has none, `call: TOOL :: JSON` one of its tools by name; anything else, and what a tool
    answered, is noted.
    """
    prompt = asked.prompt.strip('"')
    verb, _, rest = prompt.partition(": ")
    if asked.answered:
        return "Noted: it is done."
    if verb == "call" and rest.partition(" :: ")[0] in asked.tools:
        return Call(rest.partition(" :: ")[0], json.loads(rest.partition(" :: ")[2]))
    if verb not in {"run", "write"}:
        return f"Noted: {prompt}"
    path, _, text = rest.partition(" :: ")
    writer = next((name for name in _WRITERS if name in asked.tools), None)
    if verb == "write" and writer is not None:
        return _call(
            writer, asked.tools, {"file_path": path, "filePath": path, "path": path, "content": text}
        )
    shell = next((name for name in _SHELLS if name in asked.tools), None)
    if shell is None:  # a title or the like is wanted, not the work
        return "Noted."
    command = rest if verb == "run" else f"cat > '{path}' <<'EOF'\n{text}\nEOF"
    return _call(shell, asked.tools, {"command": command, "cmd": command, "description": "As asked"})


def _call(name: str, tools: Mapping[str, Json], given: Mapping[str, str]) -> Call:
    """A call with what of `given` the tool takes; booleans that it requires are false."""
    schema = tools[name]
    arguments: Json = {key: value for key, value in given.items() if key in schema["properties"]}
    for key in schema.get("required", ()):
        arguments.setdefault(key, False)
    return Call(name, arguments)


class Model:
    """What was asked so far, and where."""

    def __init__(self) -> None:
        self.url = ""
        self.asked: list[Asked] = []
        self.bodies: list[str] = []
        """Each request whole, its texts as they are read."""
        self.unknown: list[str] = []

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Answer one request; what is no question to a model gets 404, and is noted."""
        path, body = request.path, json.loads(await request.read() or b"{}")
        if path.endswith("/count_tokens"):
            return web.json_response({"input_tokens": 100})
        if path.endswith(":countTokens"):
            return web.json_response({"totalTokens": 100})
        dialect = _dialect(path)
        if dialect is None:
            self.unknown.append(f"{request.method} {path}")
            return web.json_response({"error": {"message": "not here", "type": "not_found"}}, status=404)
        asked = dialect.asked(body)
        self.asked.append(asked)
        self.bodies.append("\n".join(_words(body)))
        whole = dialect.answer(scripted(asked), body.get("model", "stand-in"))
        if body.get("stream") or path.endswith(":streamGenerateContent"):
            return await _streamed(request, dialect, whole)
        return web.json_response(whole)


def _words(body: object) -> Iterator[str]:
    """Every text in a request, as a model reads it."""
    if isinstance(body, str):
        yield body
    for part in body.values() if isinstance(body, dict) else body if isinstance(body, list) else ():
        yield from _words(part)


def _dialect(path: str) -> Dialect | None:
    if path.endswith("/messages"):
        return Anthropic()
    if path.endswith("/chat/completions"):
        return ChatCompletions()
    if path.endswith("/responses"):
        return Responses()
    if path.endswith((":generateContent", ":streamGenerateContent")):
        return Gemini()
    return None


async def _streamed(request: web.Request, dialect: Dialect, whole: Json) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    for event in dialect.stream(whole):
        name = f"event: {event['type']}\n" if "type" in event else ""
        await response.write(f"{name}data: {json.dumps(event)}\n\n".encode())
    if isinstance(dialect, ChatCompletions):
        await response.write(b"data: [DONE]\n\n")
    await response.write_eof()
    return response


@contextlib.asynccontextmanager
async def serving() -> AsyncIterator[Model]:
    """Serve on a free port of 127.0.0.1 until the block ends."""
    model = Model()
    application = web.Application(client_max_size=64 * 2**20)
    application.router.add_route("*", "/{path:.*}", model.answer)
    runner = web.AppRunner(application, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    model.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield model
    finally:
        await runner.cleanup()
