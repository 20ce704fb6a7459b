"""What is asked of a model, and of the processes in which runs take place."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from extractord.core.records import Conversation, Message, Reply, Tool
from extractord.core.wire import Start


class Model(Protocol):
    """A language model, or what stands for one."""

    async def complete(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Reply:
        """Ask once. Raise ModelError where there is no reply."""
        ...


class Host(Protocol):
    """What reaches the provider; gives the number of requests that a reply took."""

    async def complete(
        self, messages: Sequence[Message], tools: Sequence[Tool], most: int = 0
    ) -> tuple[Reply, int]:
        """Ask once, in at most so many requests (0: as configured). Raise ModelError for no reply."""
        ...


class Redactor(Protocol):
    """Takes secrets out of texts, off the event loop."""

    async def redact(self, texts: Sequence[str]) -> Sequence[str]:
        """Given texts, return each without its secrets. Raise ExtractordError where it cannot."""
        ...


Complete = Callable[[Sequence[Message], Sequence[Tool]], Awaitable[Reply]]


class Link(Protocol):
    """The pipes to a process."""

    async def read(self, limit: int) -> bytes:
        """Return what it said next, at most `limit` bytes; nothing once it has ended."""
        ...

    async def write(self, data: bytes) -> None:
        """Say something to it. Raise ConnectionError where it has ended."""
        ...


class Processes(Protocol):
    """Starts processes; each is killed with its group at the end of its block."""

    def forked(self, roots: Sequence[int]) -> AbstractAsyncContextManager[Link]:
        """Give a child that has its two pipes and the descriptors of its roots."""
        ...

    def started(
        self, command: Sequence[str], environ: Mapping[str, str]
    ) -> AbstractAsyncContextManager[Link]:
        """Give a program with this environment and no other."""
        ...


class Child(Protocol):
    """Where a run's conversation takes place."""

    async def converse(self, start: Start, roots: Sequence[int], complete: Complete) -> Conversation:
        """Given what the run starts with and its roots' descriptors, return the conversation.

        Never raises for what the child does: one that hangs, dies or lies is Ending.FAILED.
        `complete` answers its requests; what that raises passes through.
        """
        ...
