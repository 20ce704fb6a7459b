"""A small process without threads that forks a child for each run."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import closing

from extractord.errors import ExtractordError

CONTROL_FD_ARG = "--control"
_SPAWN = b"spawn"
_KILL = b"kill "
_MESSAGE_BYTES = 64
_FDS = 4


class ForkServer:
    """The daemon's side: starts the server, asks it for children, has them killed.

    The server reaps, so a pid that it knows cannot have become somebody else's.
    """

    def __init__(self, command: Sequence[str]) -> None:
        """`command` starts the server; ` --control N` is appended, N a socket's descriptor."""
        self._command = tuple(command)
        self._control: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._turn = threading.Lock()

    def start(self) -> None:
        """Start the server with an empty environment. Raise ExtractordError where it does not come up."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with closing(theirs):
            self._process = subprocess.Popen(  # noqa: S603 - our own command
                [*self._command, CONTROL_FD_ARG, str(theirs.fileno())],
                env={"PYTHONSAFEPATH": "1"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
        self._control = ours

    def spawn(self, to_child: int, from_child: int, roots: Sequence[int]) -> int:
        """Given the child's ends of its pipes and the descriptors of its roots, return its pid.

        The descriptors stay ours to close.
        """
        with self._turn:
            if self._process is None or self._process.poll() is not None:
                self.start()
            assert self._control is not None  # noqa: S101 - start() made it
            try:
                socket.send_fds(self._control, [_SPAWN], [to_child, from_child, *roots])
                answer = self._control.recv(_MESSAGE_BYTES)
            except ConnectionError:
                answer = b""
        if not answer:
            raise ExtractordError(
                "the process that starts the runs has ended; its error is on standard error"
            )
        return int(answer)

    def kill(self, pid: int) -> None:
        """Kill the child and its process group, if it still lives."""
        if self._control is None:
            return
        try:
            self._control.send(_KILL + str(pid).encode())
        except OSError:  # the server is gone, and every child of it by PDEATHSIG
            return

    def stop(self) -> None:
        """Let the server go; its children die with it."""
        if self._control is not None:
            self._control.close()
            self._control = None
        if self._process is not None:
            self._process.wait()
            self._process = None


def serve(control_fd: int, child: Callable[[int, int, Sequence[int]], None]) -> None:
    """Fork a child for each request on the control socket until its other end is closed.

    `child` runs in the forked process with its two pipes' descriptors and those of its roots.
    """
    control = socket.socket(fileno=control_fd)
    living: set[int] = set()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # the daemon decides when children end
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        message, fds, _flags, _address = socket.recv_fds(control, _MESSAGE_BYTES, _FDS)
        _reap(living)
        if not message:
            break
        if message == _SPAWN:
            pid = os.fork()
            if pid == 0:
                control.close()
                _become(child, fds)
            living.add(pid)
            for fd in fds:
                os.close(fd)
            control.send(str(pid).encode())
        elif message.startswith(_KILL) and (pid := int(message.removeprefix(_KILL))) in living:
            _kill(pid)
    for pid in living:
        _kill(pid)


def _become(child: Callable[[int, int, Sequence[int]], None], fds: Sequence[int]) -> None:
    """In the forked process: a session of its own, then the run, then the end without clean-up."""
    status = 1
    try:
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        child(fds[0], fds[1], fds[2:])
        status = 0
    finally:
        sys.stderr.flush()
        os._exit(status)


def _reap(living: set[int]) -> None:
    for pid in list(living):
        if os.waitpid(pid, os.WNOHANG)[0] == pid:
            living.discard(pid)


def _kill(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:  # it ended meanwhile; still ours to reap
        return
