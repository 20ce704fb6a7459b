"""Small files of this user's own: read without a link, written whole or not at all."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from extractord.durable import sync_at, write_new
from extractord.errors import ConfigError, StoreError


@contextmanager
def in_words(place: Path, fault: type[ConfigError | StoreError]) -> Iterator[None]:
    """Say what the system says about a place as a fault that tells what to do."""
    try:
        yield
    except OSError as error:
        raise fault(f"{place} cannot be used ({error.strerror}): {_remedy(error)}") from error


def _remedy(error: OSError) -> str:
    match error.errno:
        case errno.ENOSPC | errno.EDQUOT:
            return "make room on its disk"
        case errno.EROFS:
            return "its disk is read-only; make it writable, or set another place"
        case _:
            return "see that this user may write there, and that nothing else has its name"


def read(path: Path, fault: type[ConfigError | StoreError]) -> bytes:
    """Return the beginning of a regular file of this user's own; never through a link.

    Raise `fault` where it is anything else.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
            raise fault(f"{path} is not a file of this user: move it aside")
        return file.read(4096)


def write_once(path: Path, content: bytes) -> None:
    """Write a file that is not there yet: whole or not at all, and the first of two stays."""
    if os.path.lexists(path):
        return
    with beside(path, content) as made:
        try:
            os.link(made, path)
        except FileExistsError:
            return  # another process was first


@contextmanager
def beside(path: Path, content: bytes) -> Iterator[Path]:
    """A durable file of mode 0600 beside `path`, to be linked or moved there; gone afterwards."""
    made = path.with_name(f"{path.name}.new-{secrets.token_hex(4)}")
    try:
        write_new(made, content)
        yield made
    finally:
        made.unlink(missing_ok=True)
    sync_at(path.parent)
