"""Commands forked off a process that has begun already: an interpreter takes a third of a second to begin.

Each is a process of its own, with its own environment, directory and exit, as if it had been started anew.
"""

from __future__ import annotations

import atexit
import fcntl
import gc
import json
import os
import socket
import subprocess
import sys
import tempfile
import termios
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path

_LOOK_S = 5.0


def typed(
    arguments: Iterable[object], environ: Mapping[str, str], cwd: Path | None = None, told: bytes = b""
) -> subprocess.CompletedProcess[str]:
    """Given a command's arguments and its input, run it without a terminal; return how it ended."""
    words = [str(each) for each in arguments]
    with (
        tempfile.TemporaryFile() as given,
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
    ):
        given.write(told)
        given.seek(0)
        with _begun(words, environ, cwd or Path.cwd(), [given.fileno(), out.fileno(), err.fileno()]) as line:
            code = int(line.recv(16))
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(
            ["extractord", *words], code, out.read().decode(), err.read().decode()
        )


def seated(arguments: Sequence[str], environ: Mapping[str, str], cwd: Path) -> tuple[int, Callable[[], int]]:
    """Given a command's arguments, begin it at a terminal; return that, and what waits for its exit code."""
    terminal, screen = os.openpty()
    line = _begun(arguments, environ, cwd, [screen, screen, screen], has_terminal=True)
    os.close(screen)

    def ended() -> int:
        with line:
            return int(line.recv(16))

    return terminal, ended


def _begun(
    arguments: Sequence[str],
    environ: Mapping[str, str],
    cwd: Path,
    descriptors: Sequence[int],
    *,
    has_terminal: bool = False,
) -> socket.socket:
    asked = {
        "arguments": arguments,
        "environ": dict(environ),
        "cwd": str(cwd),
        "has_terminal": has_terminal,
    }
    line = socket.socket(socket.AF_UNIX)
    line.connect(_place())
    socket.send_fds(line, [json.dumps(asked).encode()], descriptors)
    line.shutdown(socket.SHUT_WR)
    return line


@cache
def _place() -> str:
    """Where the process listens that has begun: one for each that tests."""
    folder = tempfile.TemporaryDirectory(prefix="warm-")  # it is there until this process ends
    place = f"{folder.name}/line"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(place)
        listening.listen(64)
        begun = subprocess.Popen(
            [sys.executable, "-P", __file__, str(listening.fileno())],
            env={"PATH": os.environ["PATH"]},
            pass_fds=[listening.fileno()],
            stdin=subprocess.DEVNULL,
        )

    def end() -> None:
        begun.terminate()
        begun.wait()
        folder.cleanup()

    atexit.register(end)
    return place


def _asked(listening: socket.socket) -> None:
    """Return in the process of each command that is asked for; never in the one that listens."""
    tester = os.getppid()
    listening.settimeout(_LOOK_S)
    while os.getppid() == tester:
        try:
            line, _ = listening.accept()
        except TimeoutError:
            continue
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass  # who kept a command that has ended
        if os.fork() == 0:
            listening.close()
            return _kept(line)
        line.close()
    os._exit(0)  # nobody is left to ask


def _kept(line: socket.socket) -> None:
    """Return in the command's own process; the one that keeps it tells how it ended."""
    raw, descriptors, _, _ = socket.recv_fds(line, 1 << 16, 3)
    while more := line.recv(1 << 16):
        raw += more
    command = os.fork()
    if command == 0:
        line.close()
        return _become(json.loads(raw), descriptors)
    _, status = os.waitpid(command, 0)
    line.sendall(str(os.waitstatus_to_exitcode(status)).encode())
    os._exit(0)


def _become(asked: Mapping[str, object], descriptors: Sequence[int]) -> None:
    environ, arguments = asked["environ"], asked["arguments"]
    assert isinstance(environ, dict)
    assert isinstance(arguments, list)
    os.chdir(str(asked["cwd"]))
    os.environ.clear()
    os.environ.update(environ)
    time.tzset()
    tempfile.tempdir = None
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
        os.close(descriptor)
    if asked["has_terminal"]:
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    sys.stdin = open(0, encoding="utf-8", errors="surrogateescape")  # noqa: SIM115 - as long as the process
    sys.stdout = open(1, "w", encoding="utf-8", errors="surrogateescape")  # noqa: SIM115
    sys.stderr = open(2, "w", 1, encoding="utf-8", errors="backslashreplace")  # noqa: SIM115
    sys.argv[1:] = arguments


if __name__ == "__main__":
    from extractord.__main__ import main
    from extractord.cli import COMMANDS

    for module, _purpose in COMMANDS.values():
        import_module(f"extractord.cli.{module.partition(':')[0]}")
    gc.freeze()
    _asked(socket.socket(fileno=int(sys.argv[1])))
    try:
        main()
        ended: object = 0
    except SystemExit as exit_:
        ended = exit_.code
    # An end in order, but for taking all modules down, which costs what was to be spared.
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(ended if isinstance(ended, int) else 1)
