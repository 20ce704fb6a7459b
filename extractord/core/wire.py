"""What the three processes say to one another, and how it is framed on a pipe."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from typing import Annotated, Self

import msgspec
from msgspec import Meta, Struct

from extractord.core.records import Brief, Conversation, Known, Message, Refusal, Reply, Tool, Usage
from extractord.errors import ExtractordError

FRAME_BYTES = 16 * 1024 * 1024
"""The largest frame that is taken from a process that may have been turned."""
CHUNK_BYTES = 256 * 1024
"""So much is read of a pipe at once."""
_LENGTH_BYTES = 4


class WireError(ExtractordError):
    """The other side of a pipe does not keep to the protocol."""


class Price(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Dollars a million tokens; `cached` tokens of a prompt cost as much as others where nothing is said."""

    input: Annotated[float, Meta(ge=0)]
    output: Annotated[float, Meta(ge=0)]
    cached: Annotated[float, Meta(ge=0)] | None = None

    def dollars(self, usage: Usage) -> float:
        """Given what a request used, return what it cost."""
        cached = min(usage.cached_tokens, usage.prompt_tokens)
        of_cached = self.input if self.cached is None else self.cached
        fresh = usage.prompt_tokens - cached
        return (fresh * self.input + cached * of_cached + usage.completion_tokens * self.output) / 1_000_000


class Provider(Struct, frozen=True, kw_only=True):
    """What the host is told on its command line; the key is not in it."""

    model: str
    key_file: str = ""
    base_url: str = ""
    timeout_s: float = 60.0
    retries: int = 4
    output_tokens: int = 4096
    price: Price | None = None
    """Where a person's list has one, instead of litellm's."""


class Start(Struct, frozen=True, kw_only=True, tag="start"):
    """daemon → child: the run that it is for."""

    brief: Brief
    known: tuple[Known, ...]
    turns: int
    has_project: bool
    embedded: bool
    """The child answers itself, with the embedded model."""


class Probe(Struct, frozen=True, kw_only=True, tag="probe"):
    """daemon → child: try what you must not be able to do; `forbidden` is a file that is not yours."""

    forbidden: str


class Probed(Struct, frozen=True, kw_only=True, tag="probed"):
    """child, model host → daemon: how far it is confined, and what it could do all the same."""

    level: str
    succeeded: tuple[str, ...]


class Ask(Struct, frozen=True, kw_only=True, tag="ask"):
    """child → daemon → model host: complete this, in at most so many requests (0: as configured)."""

    id: int
    messages: tuple[Message, ...]
    tools: tuple[Tool, ...]
    most: int = 0


class Answer(Struct, frozen=True, kw_only=True, tag="answer"):
    """The reply to an Ask; `tries` is how many requests it took."""

    id: int
    reply: Reply
    tries: int = 1


class Unanswered(Struct, frozen=True, kw_only=True, tag="unanswered"):
    """There is no reply; `fault` is a ModelFault, `tries` how many requests were spent on it."""

    id: int
    fault: str
    message: str
    retry_after_s: float | None = None
    tries: int = 1


class Refused(Struct, frozen=True, kw_only=True, tag="refused"):
    """child → daemon: a request was not granted; sent as it happens."""

    refusal: Refusal


class Done(Struct, frozen=True, kw_only=True, tag="done"):
    """child → daemon: the conversation is over."""

    conversation: Conversation


class Failed(Struct, frozen=True, kw_only=True, tag="failed"):
    """child → daemon: it cannot go on; which error, raised where. Its words are not told."""

    kind: str
    module: str
    line: int


Said = Start | Probe | Probed | Ask | Answer | Unanswered | Refused | Done | Failed

_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Said)


def frame(said: Said) -> bytes:
    """Given a message, return its frame: four bytes of length, big-endian, then msgpack."""
    body = _encoder.encode(said)
    return len(body).to_bytes(_LENGTH_BYTES, "big") + body


class Frames:
    """Takes bytes as they come from a pipe and gives the messages that are whole."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def feed(self, chunk: bytes) -> Iterator[Said]:
        """Given the next bytes, yield each message that they complete.

        Raise WireError for a frame over the limit or one that does not decode.
        """
        self._bytes += chunk
        while len(self._bytes) >= _LENGTH_BYTES:
            length = int.from_bytes(self._bytes[:_LENGTH_BYTES], "big")
            if length > FRAME_BYTES:
                raise WireError(f"a frame of {length} bytes is over the limit of {FRAME_BYTES}")
            end = _LENGTH_BYTES + length
            if len(self._bytes) < end:
                return
            body = bytes(self._bytes[_LENGTH_BYTES:end])
            del self._bytes[:end]
            try:
                yield _decoder.decode(body)
            except msgspec.ValidationError as error:
                where = str(error).rpartition(" - at ")[2] if " - at " in str(error) else "its kind"
                raise WireError(f"a frame is not what it ought to be: {where}") from None  # none of its words
            except msgspec.DecodeError as error:
                raise WireError(f"a frame does not decode: {error}") from None
            except (UnicodeError, RecursionError) as error:
                raise WireError(f"a frame does not decode: {type(error).__name__}") from None


class Incoming:
    """The messages that come over a pipe, one after the other, until its other end is closed.

    `read` returns the next bytes, at most so many, and none at the end. Raises WireError as Frames does.
    """

    def __init__(self, read: Callable[[int], Awaitable[bytes]]) -> None:
        self._read = read
        self._frames = Frames()
        self._whole: Iterator[Said] = iter(())

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Said:
        while True:
            for said in self._whole:
                return said
            chunk = await self._read(CHUNK_BYTES)
            if not chunk:
                raise StopAsyncIteration
            self._whole = self._frames.feed(chunk)
