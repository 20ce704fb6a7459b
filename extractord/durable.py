"""Bytes that are on the disk when the call returns, and a folder held against others."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_FULLSYNC: int | None = getattr(fcntl, "F_FULLFSYNC", None)


def write_new(place: str | Path, content: bytes, here: int | None = None) -> None:
    """Given a path, or a name and a directory's descriptor, make a file (0600) there, and sync it.

    Raise FileExistsError where something stands there.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(place, flags, 0o600, dir_fd=here), "wb") as file:
        file.write(content)
        file.flush()
        sync(file.fileno())


def sync(descriptor: int) -> None:
    """Bring a file or a directory to the disk; on macOS past the drive's own cache."""
    if _FULLSYNC is not None:
        fcntl.fcntl(descriptor, _FULLSYNC)
    else:
        os.fsync(descriptor)


def sync_at(place: Path) -> None:
    """Bring a file to the disk, or what was made, renamed and removed in a folder."""
    descriptor = os.open(place, os.O_RDONLY | os.O_CLOEXEC)
    try:
        sync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Hold a folder against all others who hold it so, for as long as it takes."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
