"""Compare and swap on a disk that people write to meanwhile: looked at once it is out of their reach."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager

from extractord.edges.folder.renaming import exchange, rename_new
from extractord.errors import StoreError

DISPLACED = ".displaced-"
"""In the name of what could not go back: no memory, and never swept."""


def replaced(here: int, temporary: str, name: str, over: bytes | None) -> bool:
    """Given a written file, put it in the place of `over`, None for no file; False where that is not there.

    What stood there has the temporary name then; where it is not `over`, everything is as it was.
    Raise StoreError, with the name of a file that has them, where bytes could not go back.
    """
    ours = b"" if over is None else _bytes(here, temporary)
    try:
        if over is None:
            if not rename_new(here, temporary, name):
                os.link(temporary, name, src_dir_fd=here, dst_dir_fd=here, follow_symlinks=False)
            return True
        if not exchange(here, temporary, name):
            return _replaced_in_sight(here, temporary, name, over)
    except (FileExistsError, FileNotFoundError):
        return False
    try:
        is_expected = _bytes(here, temporary) == over
    except OSError:
        _put_back(here, temporary, name, ours)
        raise
    if not is_expected:
        _put_back(here, temporary, name, ours)
    return is_expected


def taken(here: int, name: str, temporary: str, over: bytes) -> bool:
    """Given a file, move it to the temporary name; False where it is not `over`, and stays then.

    Raise StoreError, with the name of a file that has them, where bytes could not go back.
    """
    try:
        os.rename(name, temporary, src_dir_fd=here, dst_dir_fd=here)
    except FileNotFoundError:
        return False
    try:
        is_expected = _bytes(here, temporary) == over
    except OSError:
        _return(here, temporary, name)
        raise
    if not is_expected:
        _return(here, temporary, name)
    return is_expected


def _put_back(here: int, temporary: str, name: str, ours: bytes) -> None:
    """Let the names trade places once more; what somebody put there meanwhile is newer, and stays."""
    with _kept(here, temporary, name):
        try:
            exchange(here, temporary, name)
        except FileNotFoundError:
            _return(here, temporary, name)
            return
        if _bytes(here, temporary) == ours:
            return
        exchange(here, temporary, name)
        raise FileExistsError(errno.EEXIST, "somebody wrote it anew", name)


def _return(here: int, temporary: str, name: str) -> None:
    """Give a file its name back, where nothing has it by now."""
    with _kept(here, temporary, name):
        if not rename_new(here, temporary, name):
            os.link(temporary, name, src_dir_fd=here, dst_dir_fd=here, follow_symlinks=False)


@contextmanager
def _kept(here: int, temporary: str, name: str) -> Iterator[None]:
    """Where anything fails, what has the temporary name is kept under one that stays."""
    try:
        yield
    except OSError as error:
        kept = f"{name}{DISPLACED}{secrets.token_hex(4)}"
        os.rename(temporary, kept, src_dir_fd=here, dst_dir_fd=here)
        raise StoreError(
            f"{name}: {error.strerror or error}; what stood there meanwhile is kept beside it as {kept}"
        ) from error


def _replaced_in_sight(here: int, temporary: str, name: str, over: bytes) -> bool:
    """Where names cannot trade places: look, then rename; what comes in between is lost."""
    if _bytes(here, name) != over:
        return False
    os.rename(temporary, name, src_dir_fd=here, dst_dir_fd=here)
    return True


def _bytes(here: int, name: str) -> bytes:
    descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=here)
    with os.fdopen(descriptor, "rb") as file:
        return file.read()
