"""Whether a directory may be a memory root: asked of its descriptor, once."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from extractord.edges.folder.descend import DIRECTORY
from extractord.errors import StoreError


def open_root(path: Path, home: Path) -> int:
    """Given an absolute path and the person's home, return a descriptor of the memory root there.

    Raise StoreError, which says what to do, for a link, a file, `/`, the home itself, the top of
    a git work tree, and a directory that others own or may write.
    """
    try:
        root = os.open(path, DIRECTORY)
    except OSError as error:
        raise StoreError(f"{path}: {_cause(error, path)}") from error
    try:
        fault = _first_fault(os.fstat(root), root, home)
    except OSError as error:
        os.close(root)
        raise StoreError(f"{path}: {error.strerror}") from error
    if fault is not None:
        os.close(root)
        raise StoreError(f"{path}: {fault}")
    return root


def make_root(path: Path) -> None:
    """Given an absolute path, make the directory (0700) and its missing parents. Raise StoreError."""
    try:
        for folder in (*reversed(path.parents), path):
            if not folder.is_dir():
                folder.mkdir(0o700)
    except OSError as error:
        raise StoreError(f"{path} cannot be made: {error.strerror}") from error


def _cause(error: OSError, path: Path) -> str:
    """Given why a root could not be opened, return what is wrong and what to do."""
    match error.errno:
        case errno.ENOENT:
            return "there is no such directory; make it with mode 0700"
        case errno.ENOTDIR | errno.ELOOP if path.is_symlink():
            return "is a symbolic link; name the directory that it leads to"
        case errno.ENOTDIR:
            return "is not a directory"
        case _:
            return error.strerror or "cannot be opened"


def _first_fault(found: os.stat_result, root: int, home: Path) -> str | None:
    """Given a root's stat, return what forbids it, and what to do."""
    if found.st_uid != os.geteuid():
        return "belongs to somebody else; choose a directory of your own"
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return "others may write in it; run `chmod go-w` on it"
    if _same(found, Path("/")):
        return "is the root of the file system; choose a directory for memories alone"
    if _same(found, home):
        return "is the home directory; choose a directory for memories alone"
    if ".git" in os.listdir(root):
        return "is the top of a git work tree; choose a directory below it, for memories alone"
    return None


def _same(found: os.stat_result, path: Path) -> bool:
    """True if the path leads to what was found."""
    try:
        other = path.stat()
    except OSError:
        return False
    return (found.st_dev, found.st_ino) == (other.st_dev, other.st_ino)
