"""A small process without threads that starts the others: it forks children, and programs it runs."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence

import msgspec

FORK = b"fork"
EXEC = b"exec "
KILL = b"kill "
MESSAGE_BYTES = 256 * 1024
"""An environment with its keys is not larger."""
_FDS = 4

Child = Callable[[int, int, Sequence[int]], None]
"""What a forked process does with the descriptors of its two pipes and its roots."""


def serve(control_fd: int, child: Child) -> None:
    """Start what the other end of the control socket asks for until that is closed."""
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
        pid = _fork(child, fds, control) if message == FORK else _run(message.removeprefix(EXEC), fds)
        living.add(pid)
        for fd in fds:
            os.close(fd)
        control.send(str(pid).encode())
    for pid in living:
        _kill(pid)


def _fork(child: Child, fds: Sequence[int], control: socket.socket) -> int:
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            control.close()
            _forget_signals()
            child(fds[0], fds[1], fds[2:])
            status = 0
        finally:
            sys.stderr.flush()
            os._exit(status)
    return pid


def _run(wanted: bytes, fds: Sequence[int]) -> int:
    """A program in a session of its own, with the environment that was asked for and no other."""
    command, environ = msgspec.msgpack.decode(wanted, type=tuple[list[str], dict[str, str]])
    process = subprocess.Popen(  # noqa: S603 - what the daemon asks for
        command,
        env=environ,
        stdin=fds[0],
        stdout=fds[1],
        preexec_fn=_forget_signals,  # noqa: PLW1509 - no threads
    )
    process.returncode = 0  # reaped here, by pid
    return process.pid


def _forget_signals() -> None:
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
