"""Compare and swap on a disk that people write to meanwhile: looked at once it is out of their reach."""

from __future__ import annotations

import os
from contextlib import suppress

from extractord.edges.folder.renaming import exchange, rename_new


def replaced(here: int, temporary: str, name: str, over: bytes | None) -> bool:
    """Given a written file, put it in the place of `over`, None for no file; False where that is not there.

    What stood there has the temporary name then; where it is not `over`, everything is as it was.
    """
    try:
        if over is None:
            if not rename_new(here, temporary, name):
                os.link(temporary, name, src_dir_fd=here, dst_dir_fd=here, follow_symlinks=False)
            return True
        if not exchange(here, temporary, name):
            return _replaced_in_sight(here, temporary, name, over)
    except (FileExistsError, FileNotFoundError):
        return False
    if _bytes(here, temporary) == over:
        return True
    exchange(here, temporary, name)
    return False


def taken(here: int, name: str, temporary: str, over: bytes) -> bool:
    """Given a file, move it to the temporary name; False where it is not `over`, and stays then."""
    try:
        os.rename(name, temporary, src_dir_fd=here, dst_dir_fd=here)
    except FileNotFoundError:
        return False
    if _bytes(here, temporary) == over:
        return True
    with suppress(FileExistsError):  # somebody wrote it anew: that is newer
        if not rename_new(here, temporary, name):
            os.rename(temporary, name, src_dir_fd=here, dst_dir_fd=here)
    return False


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
