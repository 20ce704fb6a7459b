"""Opening below a descriptor without following a link or crossing into another device."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from functools import lru_cache
from typing import ClassVar

_SYS_OPENAT2 = 437
"""The same number on x86-64, aarch64 and every other architecture of Linux but Alpha."""

_RESOLVE = 0x01 | 0x02 | 0x04 | 0x08
"""NO_XDEV, NO_MAGICLINKS, NO_SYMLINKS, BENEATH (openat2(2))."""

_AGAIN = 8
"""Tries where a rename elsewhere made the kernel unsure."""

DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW
_ABSENT = frozenset({errno.ENOSYS, errno.EPERM})


class _How(ctypes.Structure):
    """struct open_how."""

    _fields_: ClassVar = [("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64)]


@lru_cache(maxsize=1)
def _libc() -> ctypes.CDLL | None:
    """The C library where it is Linux's; looked up once."""
    return ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def open_below(root: int, path: str, flags: int) -> int:
    """Given a directory's descriptor and a path below it, return a descriptor of what is there.

    By openat2 with BENEATH, NO_SYMLINKS, NO_MAGICLINKS and NO_XDEV; where the kernel or a filter
    does not allow it, by a walk. Raise OSError, ELOOP or ENOTDIR for a link, EXDEV for a mount.
    """
    libc = _libc()
    if libc is None:
        return walk_below(root, path, flags)
    how = _How(flags | os.O_CLOEXEC | os.O_NOFOLLOW, 0, _RESOLVE)
    for _ in range(_AGAIN):
        found: int = libc.syscall(
            _SYS_OPENAT2, root, os.fsencode(path), ctypes.byref(how), ctypes.c_size_t(ctypes.sizeof(how))
        )
        if found >= 0:
            return found
        fault = ctypes.get_errno()
        if fault in _ABSENT:
            return walk_below(root, path, flags)
        if fault not in {errno.EAGAIN, errno.EINTR}:
            raise OSError(fault, os.strerror(fault), path)
    raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN), path)


def walk_below(root: int, path: str, flags: int) -> int:
    """Given the same as `open_below`, go there one component at a time, following no link."""
    device = os.fstat(root).st_dev
    *folders, last = path.split("/")
    here = os.dup(root)
    try:
        for folder in folders:
            here = _step(here, folder, DIRECTORY, device)
        return _step(here, last, flags | os.O_CLOEXEC | os.O_NOFOLLOW, device)
    except OSError:
        os.close(here)
        raise


def _step(here: int, name: str, flags: int, device: int) -> int:
    """Given a directory's descriptor, trade it for that of an entry; keep it where that fails."""
    if name in {"", ".", ".."}:
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), name)
    there = os.open(name, flags, dir_fd=here)
    if os.fstat(there).st_dev != device:
        os.close(there)
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), name)
    os.close(here)
    return there
