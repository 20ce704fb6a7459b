"""The daemon's side of the process that starts every other one: children by fork, programs by exec."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, closing

import msgspec

from extractord.edges.processes.server import EXEC, FORK, KILL, MESSAGE_BYTES
from extractord.errors import ExtractordError


class Link:
    """Both ends of the pipes to a process; implements the port."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def read(self, limit: int) -> bytes:
        """Return what it said next, at most `limit` bytes; nothing once it has ended."""
        return await self._reader.read(limit)

    async def write(self, data: bytes) -> None:
        """Say something to it. Raise ConnectionError where it has ended."""
        self._writer.write(data)
        await self._writer.drain()


class Processes:
    """Starts the server, asks it for processes, has them killed; implements the port.

    The server has no thread, holds nothing and reaps: a pid that it knows cannot have become
    somebody else's.
    """

    def __init__(self, command: Sequence[str]) -> None:
        """`command` starts the server; ` --control N` is appended, N a socket's descriptor."""
        self._command = tuple(command)
        self._control: socket.socket | None = None
        self._server: subprocess.Popen[bytes] | None = None
        self._turn = asyncio.Lock()
        self._asked = 0

    def start(self) -> None:
        """Start the server with an empty environment."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with closing(theirs):
            self._server = subprocess.Popen(  # noqa: S603 - our own command
                [*self._command, "--control", str(theirs.fileno())],
                env={"PYTHONSAFEPATH": "1"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
        ours.setblocking(False)  # noqa: FBT003 - the standard library's own signature
        self._control = ours

    @asynccontextmanager
    async def forked(self, roots: Sequence[int]) -> AsyncIterator[Link]:
        """Give a child that has its two pipes and its roots; it is killed at the end of the block."""
        async with self._linked(FORK, b"", roots) as link:
            yield link

    @asynccontextmanager
    async def started(self, command: Sequence[str], environ: Mapping[str, str]) -> AsyncIterator[Link]:
        """Give a program with this environment and no other; it is killed at the end of the block."""
        wanted = msgspec.msgpack.encode((list(command), dict(environ)))
        async with self._linked(EXEC, wanted, ()) as link:
            yield link

    def stop(self) -> None:
        """Let the server go; all that it started ends with it."""
        if self._control is not None:
            self._control.close()
            self._control = None
        if self._server is not None:
            self._server.wait()
            self._server = None

    @asynccontextmanager
    async def _linked(self, verb: bytes, wanted: bytes, fds: Sequence[int]) -> AsyncIterator[Link]:
        loop, reader = asyncio.get_running_loop(), asyncio.StreamReader()
        theirs_in, ours_out = os.pipe()
        ours_in, theirs_out = os.pipe()
        with ExitStack() as stack:  # whoever asks may be cancelled anywhere in between
            incoming = stack.enter_context(os.fdopen(ours_in, "rb", 0))
            outgoing = stack.enter_context(os.fdopen(ours_out, "wb", 0))
            try:
                pid = await self._ask(verb, wanted, (theirs_in, theirs_out, *fds))
            finally:
                os.close(theirs_in)
                os.close(theirs_out)
            stack.callback(self._kill, pid)
            heard, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), incoming)
            stack.callback(heard.close)
            told, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, outgoing)
            stack.callback(_abort, told)
            yield Link(reader, asyncio.StreamWriter(told, protocol, reader, loop))

    async def _ask(self, verb: bytes, wanted: bytes, fds: Sequence[int]) -> int:
        """Send a request with descriptors, which stay ours to close; return the pid."""
        async with self._turn:
            if self._server is None or self._server.poll() is not None:
                self.start()
            assert self._control is not None  # noqa: S101 - start() made it
            self._asked += 1
            number = str(self._asked).encode()
            try:
                socket.send_fds(self._control, [b" ".join((verb, number, wanted))], list(fds))
                pid = await self._answer(self._control, number)
            except ConnectionError:
                pid = None
        if pid is None:
            raise ExtractordError(
                "the process that starts the others has ended; its error is on standard error"
            )
        if not pid:
            raise ExtractordError("the process that starts the others may not run this program")
        return pid

    async def _answer(self, control: socket.socket, number: bytes) -> int | None:
        """The pid; None where the server has ended. One that nobody waits for any more is killed."""
        while answer := await asyncio.get_running_loop().sock_recv(control, MESSAGE_BYTES):
            of, pid = answer.split()
            if of == number:
                return int(pid)
            self._kill(int(pid))
        return None

    def _kill(self, pid: int) -> None:
        if self._control is None:
            return
        try:
            self._control.send(KILL + str(pid).encode())
        except OSError:  # the server is gone, and all that it started with it
            return


def _abort(told: asyncio.WriteTransport) -> None:
    if not told.is_closing():  # a process that is gone closed it already
        told.abort()
