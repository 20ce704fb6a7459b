"""The process that has the key and the network: the daemon's side, and the frames of its own."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack

from extractord.core.ports import Link, Processes
from extractord.core.records import Message, Reply, Tool
from extractord.core.wire import CHUNK_BYTES, Answer, Ask, Incoming, Said, Unanswered, WireError, frame
from extractord.errors import ModelError, ModelFault

_FAULTS: Mapping[str, ModelFault] = {
    "transient": "transient",
    "rate_limit": "rate_limit",
    "quota": "quota",
    "auth": "auth",
    "too_long": "too_long",
    "refused": "refused",
}


class ModelHost:
    """Starts the host when it is first asked, and lets it go when it was long not needed."""

    def __init__(
        self, processes: Processes, command: Sequence[str], environ: Mapping[str, str], idle_s: float
    ) -> None:
        """`command` starts the host; `environ` is all that it gets."""
        self._processes = processes
        self._command = tuple(command)
        self._environ = dict(environ)
        self._idle_s = idle_s
        self._link: Link | None = None
        self._open = AsyncExitStack()
        self._listener: asyncio.Task[None] | None = None
        self._idle: asyncio.TimerHandle | None = None
        self._pending: dict[int, asyncio.Future[Answer | Unanswered]] = {}
        self._asked = 0
        self._turn = asyncio.Lock()

    async def complete(
        self, messages: Sequence[Message], tools: Sequence[Tool], most: int = 0
    ) -> tuple[Reply, int]:
        """Ask once and return the reply with the number of requests that it took.

        `most` is how many it may take at most, 0 for as many as are configured.
        Raise ModelError, its `tries` set, where there is no reply.
        """
        link = await self._running()
        self._asked += 1
        ask = Ask(id=self._asked, messages=tuple(messages), tools=tuple(tools), most=most)
        answer: asyncio.Future[Answer | Unanswered] = asyncio.get_running_loop().create_future()
        self._pending[ask.id] = answer
        try:
            await link.write(frame(ask))
            said = await answer
        except ConnectionError as error:
            raise ModelError(f"the model host is gone: {error}", fault="transient") from None
        finally:
            self._pending.pop(ask.id, None)
            self._rest()
        match said:
            case Answer(reply=reply, tries=tries):
                return reply, tries
            case Unanswered():
                raise ModelError(
                    said.message,
                    fault=_FAULTS.get(said.fault, "transient"),
                    retry_after_s=said.retry_after_s,
                    tries=said.tries,
                )

    async def stop(self) -> None:
        """Let the host go; what it was asked and did not answer fails as transient."""
        async with self._turn:
            await self._let_go()

    async def _let_go(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
        self._link = None
        await self._open.aclose()
        if self._listener is not None:
            await self._listener
            self._listener = None

    async def _running(self) -> Link:
        async with self._turn:
            if self._idle is not None:
                self._idle.cancel()
            if self._link is not None and self._listener is not None and self._listener.done():
                await self._let_go()
            if self._link is None:
                started = self._processes.started(self._command, self._environ)
                self._link = await self._open.enter_async_context(started)
                self._listener = asyncio.create_task(self._listen(self._link))
            return self._link

    def _rest(self) -> None:
        if not self._pending and self._link is not None:
            loop = asyncio.get_running_loop()
            self._idle = loop.call_later(self._idle_s, lambda: loop.create_task(self.stop()))

    async def _listen(self, link: Link) -> None:
        reason = "the model host ended before it answered; its error is on standard error"
        try:
            async for said in Incoming(link.read):
                if isinstance(said, Answer | Unanswered):
                    asked = self._pending.pop(said.id, None)  # once: a second answer is to nobody
                    if asked is not None and not asked.done():
                        asked.set_result(said)
        except WireError as error:
            reason = f"the model host: {error}"
        for asked in self._pending.values():
            if not asked.done():
                asked.set_exception(ModelError(reason, fault="transient"))


def serve(answer: Callable[[Ask], Awaitable[Said]]) -> None:
    """In the host: answer each Ask on standard input, many at once, until it is closed."""
    asyncio.run(_serve(answer))


async def _serve(answer: Callable[[Ask], Awaitable[Said]]) -> None:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=CHUNK_BYTES)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)

    async def one(ask: Ask) -> None:
        _put(frame(await answer(ask)))

    async with asyncio.TaskGroup() as at_work:  # an error that nobody foresaw ends the host: no ask hangs
        async for said in Incoming(reader.read):
            if isinstance(said, Ask):
                at_work.create_task(one(said))


def _put(data: bytes) -> None:
    """Whole and in one go: a frame is never mixed with another."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(sys.stdout.fileno(), rest) :]
