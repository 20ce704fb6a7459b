"""What each process gives up before it reads a word of a stranger's."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import socket
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from extractord.edges.confine import landlock, seccomp
from extractord.edges.confine.landlock import Files

_SET_PDEATHSIG = 1
_SET_DUMPABLE = 4
_CHILD_MEMORY_BYTES = 1024 * 1024 * 1024
_CHILD_CPU_S = 60
_CHILD_FILES = 64


def end_with_parent(parent: int) -> None:
    """This process is killed when `parent`, which started it, ends.

    On Linux; elsewhere the pipe's end tells. It lasts over an exec. An orphan's new parent need
    not be 1: each system and each container may have its own that takes orphans in.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)


def hide_memory() -> None:
    """No other process of this user can trace this one or read its memory and environment (Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_DUMPABLE, 0, 0, 0, 0)


def confine_child(roots: Sequence[int], keep: Sequence[int], limit: int | None = None) -> str:
    """Leave the sub-agent its pipes and a read-only view of its roots; return the level reached.

    Every descriptor but the standard ones, `keep` and `roots` is closed. `limit` works as a
    kernel with that Landlock ABI would. What the kernel cannot do is left out of the level.
    """
    _close_all_but({0, 1, 2, *keep, *roots})
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (_CHILD_CPU_S, _CHILD_CPU_S))
    resource.setrlimit(resource.RLIMIT_NOFILE, (_CHILD_FILES, _CHILD_FILES))
    if sys.platform == "linux":
        resource.setrlimit(resource.RLIMIT_AS, (_CHILD_MEMORY_BYTES, _CHILD_MEMORY_BYTES))
        resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
    return _apply(
        limit,
        lambda version: landlock.restrict(
            landlock.ALL,
            [(root, landlock.READ) for root in roots],
            network=True,
            scoped=True,
            version=version,
        ),
        lambda: seccomp.allow_only(seccomp.CHILD),
    )


def confine_server(limit: int | None = None) -> str:
    """Leave the process that starts the others nothing to write: so no other has it, whatever it is.

    Given to it before it is asked for anything. Return the level reached.
    """
    with _opened([Path("/dev/null")]) as null:
        allowed = [(fd, Files.WRITE_FILE) for fd in null]
        return _apply(
            limit,
            lambda version: landlock.restrict(
                landlock.WRITE, allowed, network=False, scoped=False, version=version
            ),
            lambda: seccomp.refuse(
                seccomp.DAEMON, families=(socket.AF_INET, socket.AF_INET6), threads_only=False
            ),
        )


def confine_host(readable: Iterable[Path], limit: int | None = None) -> str:
    """Leave the model host the network and the files that its library reads; return the level reached."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with _opened(readable) as fds:
        return _apply(
            limit,
            lambda version: landlock.restrict(
                landlock.ALL, [(fd, landlock.READ) for fd in fds], network=False, scoped=True, version=version
            ),
            lambda: seccomp.refuse(
                seccomp.HOST, families=(socket.AF_INET, socket.AF_INET6), threads_only=True
            ),
        )


def confine_daemon(
    writable: Iterable[Path], *, broker_port: int | None = None, limit: int | None = None
) -> str:
    """Leave the daemon to write below these folders alone; return the level reached.

    It still reads everything, starts its two processes and, with `broker_port`, reaches a broker:
    by IP, and by TCP on that port alone where the kernel can tell ports (Landlock's ABI 4).
    """
    ports = () if broker_port is None else (broker_port,)
    families = (socket.AF_UNIX, *((socket.AF_INET, socket.AF_INET6) if ports else ()))
    with _opened(writable) as fds, _opened([Path("/dev/null")]) as null:
        allowed = [*((fd, landlock.KEEP) for fd in fds), *((fd, Files.WRITE_FILE) for fd in null)]
        return _apply(
            limit,
            lambda version: landlock.restrict(
                landlock.WRITE, allowed, network=True, scoped=False, version=version, ports=ports
            ),
            lambda: seccomp.refuse(seccomp.DAEMON, families=families, threads_only=False),
        )


def _apply(limit: int | None, files: Callable[[int], None], calls: Callable[[], None]) -> str:
    """Do both as far as the kernel can; the level names what was done."""
    level = []
    version = landlock.usable(limit) if sys.platform == "linux" else 0
    if version:
        files(version)
        level.append(f"landlock{version}")
    if sys.platform == "linux" and seccomp.supported():
        landlock.no_new_privileges()
        calls()
        level.append("seccomp")
    return "+".join(level) or "none"


def _close_all_but(kept: set[int]) -> None:
    low = 0
    for fd in sorted(kept):
        if low < fd:  # the kernel takes the end of an empty range for "to the last one"
            os.closerange(low, fd)
        low = fd + 1
    os.closerange(low, os.sysconf("SC_OPEN_MAX"))


@contextmanager
def _opened(paths: Iterable[Path]) -> Iterator[list[int]]:
    """Descriptors that name the paths and give no access; those that are not there are left out."""
    with ExitStack() as stack:
        fds = []
        for path in paths:
            if path.exists():
                fds.append(os.open(path, os.O_PATH | os.O_CLOEXEC))
                stack.callback(os.close, fds[-1])
        yield fds
