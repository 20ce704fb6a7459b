"""A terminal with nobody at it: an interactive agent is typed to, key by key."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import pty
import signal
import struct
import termios
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

ENTER = "\r"
CLEAR_LINE = "\x15"
_QUIET_S = 0.7
_ANSWERS = {
    b"\x1b[6n": b"\x1b[1;1R",  # where is the cursor?
    b"\x1b[c": b"\x1b[?1;2c",  # what can you do?
    b"\x1b]11;?": b"\x1b]11;rgb:0000/0000/0000\x1b\\",  # how dark is it?
    b"\x1b]10;?": b"\x1b]10;rgb:ffff/ffff/ffff\x1b\\",
}
"""What programs ask a terminal before they begin, and what one says."""
_PATIENCE_S = 20


class Terminal:
    """Keys go in; what is drawn says only when the agent has come to rest."""

    def __init__(self, descriptor: int) -> None:
        """Begin with an agent that has drawn nothing yet."""
        self._descriptor = descriptor
        self._drawn = asyncio.Event()

    def draw(self) -> None:
        """Take what the agent draws, and answer what it asks; its end is an error of the descriptor."""
        try:
            drawn = os.read(self._descriptor, 65536)
        except OSError:
            asyncio.get_running_loop().remove_reader(self._descriptor)
            return
        for question, answer in _ANSWERS.items():
            if question in drawn:
                os.write(self._descriptor, answer)
        self._drawn.set()

    async def rest(self) -> None:
        """Wait until something was drawn, and nothing more for a while."""
        async with asyncio.timeout(_PATIENCE_S):
            await self._drawn.wait()
            while self._drawn.is_set():
                self._drawn.clear()
                await asyncio.sleep(_QUIET_S)

    async def press(self, *keys: str) -> None:
        """Press keys one after another, and wait after each until the agent rests."""
        for key in keys:
            self._drawn.clear()
            os.write(self._descriptor, key.encode())
            await self.rest()


@contextlib.asynccontextmanager
async def opened(program: str, environ: Mapping[str, str], folder: Path) -> AsyncIterator[Terminal]:
    """Start a program in a terminal of its own, end it with the block."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    process = await asyncio.create_subprocess_exec(
        program, cwd=folder, env=environ, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
    )
    os.close(theirs)
    terminal = Terminal(ours)
    loop = asyncio.get_running_loop()
    loop.add_reader(ours, terminal.draw)
    try:
        await terminal.rest()
        yield terminal
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # npm's starters leave the agent itself behind
        await process.wait()
        loop.remove_reader(ours)
        os.close(ours)
