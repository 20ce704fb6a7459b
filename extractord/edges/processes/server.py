"""A small process without threads that starts the others: it forks children, and programs it runs."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
from collections.abc import Callable, Sequence

import msgspec

FORK = b"fork"
EXEC = b"exec"
KILL = b"kill "
MESSAGE_BYTES = 256 * 1024
"""An environment with its keys is not larger."""
_FDS = 4

Child = Callable[[int, int, Sequence[int]], None]
"""What a forked process does with the descriptors of its two pipes and its roots."""

Tie = Callable[[int], None]
"""Called in each new process with the pid of this one, whose end is to be its own."""

_LOADER = re.compile(r"LD_\w+|DYLD_\w+|GLIBC_\w+|PYTHON\w+")
"""Variables by which a program is made to run something else."""
_HARMLESS = {"PYTHONSAFEPATH"}


def serve(control_fd: int, child: Child, may_run: Callable[[Sequence[str]], bool], tie: Tie) -> None:
    """Start what the other end of the control socket asks for until that is closed.

    Programs only that `may_run` knows: whoever owns the daemon has no other process for that. A
    request is `fork N` or `exec N …`, its answer `N PID`, or `N 0` where it is refused.
    """
    control = socket.socket(fileno=control_fd)
    living: set[int] = set()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # the daemon decides when what is here ends
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        message, fds, _flags, _address = socket.recv_fds(control, MESSAGE_BYTES, _FDS)
        _reap(living)
        if not message:
            break
        if message.startswith(KILL):
            pid = int(message.removeprefix(KILL))
            if pid in living:
                _kill(pid)
            continue
        verb, number, rest = message.split(b" ", 2)
        pid = _fork(child, fds, control, tie) if verb == FORK else _run(rest, fds, tie, may_run)
        if pid:
            living.add(pid)
        for fd in fds:
            os.close(fd)
        try:
            control.send(number + b" " + str(pid).encode())
        except BrokenPipeError:  # who asked was ended meanwhile: what is here ends too
            break
    for pid in living:
        _kill(pid)


def _fork(child: Child, fds: Sequence[int], control: socket.socket, tie: Tie) -> int:
    server, pid = os.getpid(), os.fork()
    if pid == 0:
        status = 1
        try:
            control.close()
            _begin(tie, server)
            child(fds[0], fds[1], fds[2:])
            status = 0
        finally:
            os._exit(status)
    return pid


def _run(wanted: bytes, fds: Sequence[int], tie: Tie, may_run: Callable[[Sequence[str]], bool]) -> int:
    """A program in a session of its own, with the environment that was asked for; 0 where refused."""
    command, environ = msgspec.msgpack.decode(wanted, type=tuple[list[str], dict[str, str]])
    if not may_run(command) or any(_LOADER.fullmatch(name) and name not in _HARMLESS for name in environ):
        return 0
    server = os.getpid()
    process = subprocess.Popen(  # noqa: S603 - the one program that may run
        command,
        env=environ,
        stdin=fds[0],
        stdout=fds[1],
        preexec_fn=lambda: _begin(tie, server),  # noqa: PLW1509 - no threads
    )
    process.returncode = 0  # reaped here, by pid
    return process.pid


def _begin(tie: Tie, server: int) -> None:
    """In a process just forked: it ends with the server, has a group of its own and usual signals."""
    tie(server)
    os.setsid()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _reap(living: set[int]) -> None:
    for pid in list(living):
        if os.waitpid(pid, os.WNOHANG)[0] == pid:
            living.discard(pid)


def _kill(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:  # it ended meanwhile, or has no group of its own yet
        os.kill(pid, signal.SIGKILL)
