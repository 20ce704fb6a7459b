"""What stands at a path below a root, seen through descriptors and never through a link."""

from __future__ import annotations

import errno
import os
import stat

from extractord.edges.folder.descend import DIRECTORY, open_below
from extractord.policy.characters import likeness
from extractord.policy.requests import Found, PathFacts

_BLOCKS = frozenset({errno.ELOOP, errno.ENOTDIR, errno.EXDEV, errno.EACCES})


def look(root: int, path: str, uid: int) -> PathFacts:
    """Given a root's descriptor and a path below it, return what stands there: no text, no trust.

    Each folder on the way is listed, for another entry that may be taken for the one asked for.
    """
    device = os.fstat(root).st_dev
    *folders, name = path.split("/")
    here, twin = os.dup(root), None
    try:
        for folder in folders:
            twin = twin or _twin(here, folder)
            there = _step(here, folder, uid)
            if isinstance(there, Found):
                return PathFacts(found=there, twin=twin)
            os.close(here)
            here = there
        return _at(here, name, uid, device, twin or _twin(here, name))
    finally:
        os.close(here)


def _step(here: int, folder: str, uid: int) -> int | Found:
    """Given a directory's descriptor, return that of a folder in it, or what stands there instead."""
    try:
        there = open_below(here, folder, DIRECTORY)
    except FileNotFoundError:
        return Found.NOTHING
    except OSError as error:
        if error.errno in _BLOCKS:
            return Found.BLOCKED
        raise
    if os.fstat(there).st_uid == uid:
        return there
    os.close(there)
    return Found.BLOCKED


def _at(here: int, name: str, uid: int, device: int, twin: str | None) -> PathFacts:
    """Given a directory's descriptor, return what stands at a name in it."""
    try:
        there = os.stat(name, dir_fd=here, follow_symlinks=False)
    except FileNotFoundError:
        return PathFacts(twin=twin)
    return PathFacts(
        found=_kind(there.st_mode),
        links=there.st_nlink,
        own=there.st_uid == uid,
        same_device=there.st_dev == device,
        twin=twin,
        size=there.st_size,
    )


def _kind(mode: int) -> Found:
    """Given a file's mode, return what it is."""
    if stat.S_ISREG(mode):
        return Found.FILE
    if stat.S_ISDIR(mode):
        return Found.DIRECTORY
    return Found.SYMLINK if stat.S_ISLNK(mode) else Found.SPECIAL


def _twin(here: int, name: str) -> str | None:
    """Given a directory's descriptor, return another entry that may be taken for `name`."""
    like = likeness(name)
    return next((other for other in os.listdir(here) if other != name and _is_like(other, like)), None)


def _is_like(name: str, like: str) -> bool:
    """True for a name of that likeness; most names are ASCII, and of another length."""
    if name.isascii():
        return len(name) == len(like) and name.lower() == like
    return likeness(name) == like
