"""The one lock on a memory directory: whoever writes there holds it."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from extractord.errors import ConflictError, StoreError

NAME = ".lock"
DEADLINE_S = 2.0
_PAUSE_S = 0.02


@contextmanager
def locked(memory: Path, deadline_s: float = DEADLINE_S) -> Iterator[None]:
    """Hold the lock on a memory directory. Raise ConflictError where it is not had in time."""
    try:
        descriptor = os.open(memory / NAME, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise StoreError(f"{memory}: cannot be locked: {error.strerror}") from error
    try:
        _take(descriptor, memory, time.monotonic() + deadline_s)
        yield
    finally:
        os.close(descriptor)


def _take(descriptor: int, memory: Path, until: float) -> None:
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= until:
                raise ConflictError(f"{memory} is being written by another process: busy") from None
            time.sleep(_PAUSE_S)
        else:
            return
