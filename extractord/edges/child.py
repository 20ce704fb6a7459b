"""A run's conversation in a process of its own, and the clock that ends it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from extractord.core.ports import Complete, Spawner
from extractord.core.records import Conversation, Ending, Message, Refusal, Reply, Tool
from extractord.core.wire import (
    Answer,
    Ask,
    Done,
    Frames,
    Refused,
    Said,
    Start,
    Unanswered,
    WireError,
    frame,
)
from extractord.errors import ModelError

CHUNK_BYTES = 256 * 1024
AUDITED = 200
"""Refusals of a run that become rows; the rest is counted."""


@dataclass(slots=True)
class _Heard:
    """What the daemon itself saw pass over the pipe; the child's own account is not asked."""

    refusals: list[Refusal]
    denied: int = 0
    asked: int = 0


class ForkedChild:
    """Starts a child for a run and talks to it until it is done, silent, lying or out of time."""

    def __init__(self, server: Spawner, run_s: float) -> None:
        self._server = server
        self._run_s = run_s

    async def converse(self, start: Start, roots: Sequence[int], complete: Complete) -> Conversation:
        """Given what the run starts with and its roots' descriptors, return the conversation.

        `complete` answers the child's requests; its ModelError passes through. A child that
        dies, hangs or does not keep to the protocol is Ending.FAILED with the reason.
        """
        heard = _Heard(refusals=[])
        async with self._spawned(roots) as (reader, writer):
            try:
                async with asyncio.timeout(self._run_s):
                    conversation = await _talk(start, reader, writer, complete, heard)
            except TimeoutError:
                conversation = _failed("timeout")
            except (WireError, ConnectionError) as error:
                conversation = _failed(f"child: {error}")
        return Conversation(
            ending=conversation.ending,
            changes=conversation.changes,
            turns=conversation.turns,
            reason=conversation.reason,
            refusals=tuple(heard.refusals),
            denied=heard.denied,
        )

    @asynccontextmanager
    async def _spawned(
        self, roots: Sequence[int]
    ) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
        child_in, to_child = os.pipe()
        from_child, child_out = os.pipe()
        try:
            pid = await asyncio.to_thread(self._server.spawn, child_in, child_out, roots)
        finally:
            os.close(child_in)
            os.close(child_out)
        reader = asyncio.StreamReader(limit=CHUNK_BYTES)
        loop = asyncio.get_running_loop()
        incoming, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(from_child, "rb", 0)
        )
        transport, protocol = await loop.connect_write_pipe(
            asyncio.streams.FlowControlMixin, os.fdopen(to_child, "wb", 0)
        )
        writer = asyncio.StreamWriter(transport, protocol, reader, loop)
        try:
            yield reader, writer
        finally:
            self._server.kill(pid)
            incoming.close()
            if not transport.is_closing():  # a child that is gone closed it already
                transport.abort()


async def _talk(
    start: Start,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    complete: Complete,
    heard: _Heard,
) -> Conversation:
    frames = Frames()
    await _say(writer, start)
    while chunk := await reader.read(CHUNK_BYTES):
        for said in frames.feed(chunk):
            match said:
                case Ask():
                    heard.asked += 1
                    if heard.asked > start.turns:
                        raise WireError(f"it asked for more than {start.turns} turns")
                    await _say(writer, await _answered(said, complete))
                case Refused():
                    heard.denied += 1
                    if len(heard.refusals) < AUDITED:
                        heard.refusals.append(said.refusal)
                case Done():
                    return said.conversation
                case _:
                    raise WireError(f"it sent a {type(said).__name__}")
    raise WireError("it ended without an answer")


async def _answered(ask: Ask, complete: Complete) -> Said:
    """A provider's fault ends the run; it does not go back to the child."""
    return Answer(id=ask.id, reply=await complete(ask.messages, ask.tools))


async def _say(writer: asyncio.StreamWriter, said: Said) -> None:
    writer.write(frame(said))
    await writer.drain()


def _failed(reason: str) -> Conversation:
    return Conversation(ending=Ending.FAILED, reason=reason)


class Pipes:
    """The child's side: blocking, one message at a time, no threads."""

    def __init__(self, incoming: int, outgoing: int) -> None:
        self._incoming = incoming
        self._outgoing = outgoing
        self._frames = Frames()
        self._waiting: list[Said] = []

    def hear(self) -> Said:
        """The next message. Raise WireError where the daemon is gone."""
        while not self._waiting:
            chunk = os.read(self._incoming, CHUNK_BYTES)
            if not chunk:
                raise WireError("the daemon is gone")
            self._waiting.extend(self._frames.feed(chunk))
        return self._waiting.pop(0)

    def say(self, said: Said) -> None:
        """Send a message whole."""
        rest = memoryview(frame(said))
        while rest:
            rest = rest[os.write(self._outgoing, rest) :]


class PipedModel:
    """The model as the child has it: the daemon, asked over the pipe."""

    def __init__(self, pipes: Pipes) -> None:
        self._pipes = pipes
        self._asked = 0

    async def complete(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Reply:
        """Ask the daemon and wait. Raise ModelError where it has no reply."""
        self._asked += 1
        self._pipes.say(Ask(id=self._asked, messages=tuple(messages), tools=tuple(tools)))
        match self._pipes.hear():
            case Answer(reply=reply):
                return reply
            case Unanswered(message=message):
                raise ModelError(message, fault="refused")
            case said:
                raise WireError(f"the daemon sent a {type(said).__name__}")
