"""What a confined child can do all the same: tried before the first run, in a child like any other."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

_PROBE = ".tmp-probe"


def what_succeeds(roots: Sequence[int], forbidden: str) -> tuple[str, ...]:
    """Given the child's roots and a file that is not its own, return the attempts that succeeded."""
    attempts: Mapping[str, Callable[[], object]] = {
        "foreign read": lambda: Path(forbidden).read_bytes(),
        "write": lambda: _create(Path(forbidden).with_name(_PROBE)),
        "write below a root": lambda: _create(Path(_PROBE), roots[0]),
        "socket": lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM).close(),
        "local socket": lambda: socket.socket(socket.AF_UNIX, socket.SOCK_STREAM).close(),
        "process": _fork,
        "exec": lambda: os.execv(os.devnull, [os.devnull]),  # noqa: S606 - nothing that could run
    }
    return tuple(name for name, attempt in attempts.items() if _succeeds(attempt))


def is_enough(level: str, succeeded: Sequence[str]) -> bool:
    """True where the child had no foreign read, no write, no socket and no other program."""
    return level != "none" and not succeeded


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
