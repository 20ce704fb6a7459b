"""What answers for a model in the benchmark: a provider, the embedded model, a script, or a record."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
from msgspec import Struct

from extractord.agent.heuristic import Heuristic
from extractord.core.cases import Case
from extractord.core.ports import Host
from extractord.core.records import Message, Reply, Tool
from extractord.errors import ConfigError, ModelError


async def _nothing() -> None:
    """There is nothing to stop."""


@dataclass(frozen=True, slots=True)
class Voice:
    """A model by its name; `host` gives what answers a case, `embedded` lets the child answer itself."""

    name: str
    host: Callable[[Case], Host]
    embedded: bool = False
    stop: Callable[[], Awaitable[None]] = _nothing


class Silent:
    """In the place of a host where the child itself answers."""

    async def complete(  # the port's
        self,
        messages: Sequence[Message],  # noqa: ARG002
        tools: Sequence[Tool],  # noqa: ARG002
        most: int = 0,  # noqa: ARG002
    ) -> tuple[Reply, int]:
        """Nobody asks."""
        raise ModelError("the embedded model answers in the child, and asked its host", fault="refused")


class Asked:
    """The embedded model in the place of a provider: its requests are made, and can be counted."""

    async def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[Tool],
        most: int = 0,  # noqa: ARG002 - the port's
    ) -> tuple[Reply, int]:
        """Answer as it does in the child."""
        return await Heuristic().complete(messages, tools), 1


class Counted:
    """Passes requests on, and counts them."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self.requests = 0
        self.bytes = 0

    @property
    def other_brief(self) -> int:
        """Replies that were recorded for another brief."""
        return self._host.other_brief if isinstance(self._host, Replaying) else 0

    async def complete(
        self, messages: Sequence[Message], tools: Sequence[Tool], most: int = 0
    ) -> tuple[Reply, int]:
        """Ask once; what was tried again counts each time."""
        size = request_bytes(messages, tools)
        try:
            reply, tries = await self._host.complete(messages, tools, most)
        except ModelError as error:
            self._count(error.tries, size)
            raise
        self._count(tries, size)
        return reply, tries

    def _count(self, tries: int, size: int) -> None:
        self.requests += tries
        self.bytes += tries * size


def request_bytes(messages: Sequence[Message], tools: Sequence[Tool]) -> int:
    """Given a request, return how many bytes it is as JSON: all messages and all tools."""
    return len(msgspec.json.encode(messages)) + len(msgspec.json.encode(tools))


class _Recorded(Struct, frozen=True):
    """A reply, and what it answered."""

    asked: str
    reply: Reply


class _Record(Struct):
    """The replies of one model to one case, in order."""

    model: str
    case: str
    replies: list[_Recorded]


class Recording:
    """Passes requests on, and keeps each reply below a folder."""

    def __init__(self, host: Host, folder: Path, model: str, case: Case) -> None:
        self._host = host
        self._path = _path(folder, model, case)
        self._record = _Record(model, case.id, [])

    async def complete(
        self, messages: Sequence[Message], tools: Sequence[Tool], most: int = 0
    ) -> tuple[Reply, int]:
        """Ask once, and write the replies down as they are so far."""
        reply, tries = await self._host.complete(messages, tools, most)
        self._record.replies.append(_Recorded(_asked(messages), reply))
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._path.write_bytes(msgspec.json.format(msgspec.json.encode(self._record)) + b"\n")
        return reply, tries


class Replaying:
    """Answers with what was recorded, one reply after another."""

    def __init__(self, folder: Path, model: str, case: Case) -> None:
        """Raise ConfigError where the record cannot be read."""
        path = _path(folder, model, case)
        self._where = path
        self._replies: list[_Recorded] = []
        self.other_brief = 0
        if path.exists():
            try:
                self._replies = msgspec.json.decode(path.read_bytes(), type=_Record).replies
            except msgspec.MsgspecError as error:
                raise ConfigError(f"{path} is not a record of replies: {error}") from None

    async def complete(  # the port's
        self,
        messages: Sequence[Message],
        tools: Sequence[Tool],  # noqa: ARG002
        most: int = 0,  # noqa: ARG002
    ) -> tuple[Reply, int]:
        """Give the next reply. Raise ModelError where there was none."""
        if not self._replies:
            raise ModelError(f"{self._where} holds no further reply: record again", fault="refused")
        recorded = self._replies.pop(0)
        self.other_brief += recorded.asked != _asked(messages)
        return recorded.reply, 1


def _asked(messages: Sequence[Message]) -> str:
    return hashlib.sha256(msgspec.json.encode(messages)).hexdigest()[:16]


def _path(folder: Path, model: str, case: Case) -> Path:
    return folder / _spelt(model) / f"{_spelt(case.id)}.json"


def _spelt(name: str) -> str:
    """A name as that of a file."""
    return re.sub(r"[^\w.+-]+", "-", name).strip(".-") or "model"
