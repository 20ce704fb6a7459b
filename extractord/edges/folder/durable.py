"""Bytes that are on the disk when the call returns."""

from __future__ import annotations

import fcntl
import os

_FULLSYNC: int | None = getattr(fcntl, "F_FULLFSYNC", None)


def write_new(here: int, name: str, content: bytes) -> None:
    """Given a directory's descriptor, make a file (0600) that was not there, and sync it."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(name, flags, 0o600, dir_fd=here), "wb") as file:
        file.write(content)
        file.flush()
        sync(file.fileno())


def sync(descriptor: int) -> None:
    """Bring a file or a directory to the disk; on macOS past the drive's own cache."""
    if _FULLSYNC is not None:
        fcntl.fcntl(descriptor, _FULLSYNC)
    else:
        os.fsync(descriptor)
