"""Secrets looked for in a process of its own, so that no pattern ever holds up the daemon."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from typing import cast

import msgspec

from extractord.core.redact import marks_for, replace
from extractord.errors import ExtractordError
from extractord.policy.secret import Hit, find_secrets

WORKER = (sys.executable, "-I", "-c", "from extractord.edges.redaction import serve; serve()")
SEARCH_S = 30.0
"""A search that takes longer is given up, and its worker with it."""
_LENGTH_BYTES = 4
_MESSAGE_BYTES = 64 * 1024 * 1024


class Redaction:
    """Searches texts in a worker that is started when first needed, and again when it died."""

    def __init__(self, command: Sequence[str] = WORKER, search_s: float = SEARCH_S) -> None:
        self._command = command
        self._search_s = search_s
        self._worker: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()

    async def start(self) -> None:
        """Start the worker ahead of the first search: before the daemon may no longer."""
        async with self._turn:
            await self._running()

    async def find(self, texts: Sequence[str]) -> tuple[tuple[Hit, ...], ...]:
        """Given texts, return the secrets in each.

        Raise ExtractordError where no worker answers in time: then nothing may leave the machine.
        """
        if not any(texts):
            return ((),) * len(texts)
        raw = msgspec.msgpack.encode([text.encode("utf-8", "surrogatepass") for text in texts])
        if len(raw) > _MESSAGE_BYTES:
            raise ExtractordError(f"{len(raw)} bytes are too much to redact at once")
        async with self._turn:
            found = await self._try(raw) or await self._try(raw)
        if found is None:
            raise ExtractordError("secrets cannot be looked for: the worker dies or does not answer")
        return found

    async def redact(self, texts: Sequence[str]) -> tuple[str, ...]:
        """Given texts, return each without its secrets. Raises as `find` does."""
        found = await self.find(texts)
        return tuple(replace(text, marks_for(hits))[0] for text, hits in zip(texts, found, strict=True))

    async def close(self) -> None:
        """Let the worker go."""
        async with self._turn:
            await self._kill()

    async def _running(self) -> asyncio.subprocess.Process:
        if self._worker is None or self._worker.returncode is not None:
            self._worker = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                env={},
                process_group=0,  # a terminal's interrupt is for us: runs that drain still need it
            )
        return self._worker

    async def _try(self, raw: bytes) -> tuple[tuple[Hit, ...], ...] | None:
        """Ask once; None where the worker had to be given up."""
        try:
            async with asyncio.timeout(self._search_s):
                return await _ask(await self._running(), raw)
        except (TimeoutError, asyncio.IncompleteReadError, OSError):
            await self._kill()
            return None
        except asyncio.CancelledError:
            await self._kill()  # its answer would be taken for that to the next request
            raise

    async def _kill(self) -> None:
        worker, self._worker = self._worker, None
        if worker is not None:
            if worker.returncode is None:
                worker.kill()
            await worker.communicate()


async def _ask(worker: asyncio.subprocess.Process, raw: bytes) -> tuple[tuple[Hit, ...], ...]:
    to_worker = cast("asyncio.StreamWriter", worker.stdin)
    from_worker = cast("asyncio.StreamReader", worker.stdout)
    to_worker.write(len(raw).to_bytes(_LENGTH_BYTES, "big") + raw)
    await to_worker.drain()
    length = int.from_bytes(await from_worker.readexactly(_LENGTH_BYTES), "big")
    return msgspec.msgpack.decode(await from_worker.readexactly(length), type=tuple[tuple[Hit, ...], ...])


def serve() -> None:
    """The worker: answer each request from standard input on standard output until it ends."""
    incoming, outgoing = sys.stdin.buffer, sys.stdout.buffer
    while len(head := incoming.read(_LENGTH_BYTES)) == _LENGTH_BYTES:
        texts = msgspec.msgpack.decode(incoming.read(int.from_bytes(head, "big")), type=list[bytes])
        hits = [find_secrets(text.decode("utf-8", "surrogatepass")) for text in texts]
        answer = msgspec.msgpack.encode(hits)
        outgoing.write(len(answer).to_bytes(_LENGTH_BYTES, "big") + answer)
        outgoing.flush()
