"""A run's conversation in a process of its own, and the clock that ends it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from extractord.core.handed import checked, fault, tidy
from extractord.core.ports import Complete, Link, Processes
from extractord.core.records import Conversation, Ending, Message, Refusal, Reply, Tool
from extractord.core.wire import (
    CHUNK_BYTES,
    Answer,
    Ask,
    Done,
    Failed,
    Frames,
    Incoming,
    Probe,
    Probed,
    Refused,
    Said,
    Start,
    WireError,
    frame,
)

AUDITED = 200
"""Refusals of a run that become rows; the rest is counted."""
PROBE_S = 20.0


@dataclass(slots=True)
class _Heard:
    """What the daemon itself saw pass over the pipe; the child's own account is not asked."""

    refusals: list[Refusal] = field(default_factory=list)
    denied: int = 0
    asked: int = 0


class ForkedChild:
    """Starts a child for a run and talks to it until it is done, silent, lying or out of time."""

    def __init__(self, processes: Processes, run_s: float, tools: Sequence[Tool] = ()) -> None:
        """`tools` is what the model is offered, whatever a child asks for."""
        self._processes = processes
        self._run_s = run_s
        self._tools = tuple(tools)

    async def converse(self, start: Start, roots: Sequence[int], complete: Complete) -> Conversation:
        """Given what the run starts with and its roots' descriptors, return the conversation.

        `complete` answers the child's requests; what it raises passes through and ends the child.
        A child that dies, hangs or does not keep to the protocol is Ending.FAILED with the reason.
        """
        heard = _Heard()
        try:
            async with asyncio.timeout(self._run_s), self._processes.forked(roots) as link:
                conversation = await self._talk(start, link, complete, heard)
        except TimeoutError:
            conversation = _failed("timeout")
        except (WireError, ConnectionError) as error:
            conversation = _failed(f"child: {error}")
        return replace(conversation, refusals=tuple(heard.refusals), denied=heard.denied)

    async def _talk(self, start: Start, link: Link, complete: Complete, heard: _Heard) -> Conversation:
        await link.write(frame(start))
        async for said in Incoming(link.read):
            match said:
                case Ask():
                    heard.asked += 1
                    if heard.asked > start.turns:
                        raise WireError(f"it asked for more than {start.turns} turns")
                    reply = await complete(said.messages, self._tools)
                    await link.write(frame(Answer(id=said.id, reply=reply)))
                case Refused():
                    heard.denied += 1
                    if len(heard.refusals) < AUDITED:
                        heard.refusals.append(tidy(said.refusal))
                case Done():
                    return checked(said.conversation, start.turns)
                case Failed():
                    raise WireError(fault(said))
                case _:
                    raise WireError(f"it sent a {type(said).__name__}")
        raise WireError("it ended without an answer")

    async def probe(self, probe: Probe, roots: Sequence[int]) -> Probed:
        """Let a child try what it must not be able to do. Raise WireError where it does not answer."""
        async with self._processes.forked(roots) as link:
            await link.write(frame(probe))
            async with asyncio.timeout(PROBE_S):
                async for said in Incoming(link.read):
                    if isinstance(said, Probed):
                        return said
        raise WireError("the child ended before it was tried; its error is on standard error")


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
        """Ask the daemon and wait; where it has no reply it ends this process."""
        self._asked += 1
        self._pipes.say(Ask(id=self._asked, messages=tuple(messages), tools=tuple(tools)))
        said = self._pipes.hear()
        if not isinstance(said, Answer):
            raise WireError(f"the daemon sent a {type(said).__name__}")
        return said.reply
