"""What a confined process can do all the same: tried by it before it serves."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from extractord.edges.confine.seccomp import exec_of_nothing

_PROBE = ".tmp-probe"
_FOREIGN = "/etc/passwd"


def what_succeeds(roots: Sequence[int], forbidden: str) -> tuple[str, ...]:
    """Given the child's roots and a file that is not its own, return the attempts that succeeded."""
    attempts: Mapping[str, Callable[[], object]] = {
        "foreign read": lambda: Path(forbidden).read_bytes(),
        "write": lambda: _create(Path(forbidden).with_name(_PROBE)),
        "write below a root": lambda: _create(Path(_PROBE), roots[0]),
        "socket": lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM).close(),
        "local socket": lambda: socket.socket(socket.AF_UNIX, socket.SOCK_STREAM).close(),
        "process": _fork,
        "exec": exec_of_nothing,
    }
    return tuple(name for name, attempt in attempts.items() if _succeeds(attempt))


def what_host_can() -> tuple[str, ...]:
    """In the model host: return which of what it has no use for it can do; it has the network."""
    attempts: Mapping[str, Callable[[], object]] = {
        "foreign read": lambda: Path(_FOREIGN).read_bytes(),
        "write": lambda: _create(Path("/tmp", _PROBE)),  # noqa: S108 - it shall not succeed
        "local socket": lambda: socket.socket(socket.AF_UNIX, socket.SOCK_STREAM).close(),
        "process": _fork,
        "exec": exec_of_nothing,
    }
    return tuple(name for name, attempt in attempts.items() if _succeeds(attempt))


def what_daemon_can(writable: Path, beside: Path) -> tuple[str, ...]:
    """In the daemon: given a folder of its own and one beside, return what is not as it should be.

    `beside` is one that the person may write in: else nothing is shown by a refusal.
    """
    wrong = []
    if _succeeds(lambda: _create(beside / _PROBE)):
        wrong.append("write beside its folders")
    if not _succeeds(lambda: _create(writable / _PROBE)):
        wrong.append("not write in its own")
    return tuple(wrong)


def is_enough(level: str, succeeded: Sequence[str]) -> bool:
    """True where it was confined, and nothing succeeded that it has no use for."""
    return level != "none" and not succeeded


def not_enough(who: str, level: str, succeeded: Sequence[str]) -> str:
    """Given a process that is not confined enough, return a sentence that says so, and what to do."""
    could = ", ".join(succeeded) or "everything"
    return (
        f"{who} cannot be confined here (reached: {level}; it could: {could}): "
        'set confinement = "best-effort" to run all the same'
    )


def _succeeds(attempt: Callable[[], object]) -> bool:
    try:
        attempt()
    except PermissionError:
        return False
    except OSError:  # it failed for another reason than that it may not
        return True
    return True


def _create(path: Path, root: int | None = None) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600, dir_fd=root)
    os.close(fd)
    os.unlink(path, dir_fd=root)


def _fork() -> None:
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
