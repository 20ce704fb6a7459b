"""Renames that overwrite nothing: two names trade places, or the new one was free."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from collections.abc import Callable
from functools import lru_cache
from typing import Any

_NOREPLACE, _EXCHANGE = (1, 2) if sys.platform == "linux" else (4, 2)
"""RENAME_NOREPLACE and RENAME_EXCHANGE of renameat2(2); RENAME_EXCL and RENAME_SWAP of renameatx_np(2)."""
_ABSENT = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM})
"""What a kernel or a file system says that cannot do it."""


@lru_cache(maxsize=1)
def _rename() -> Callable[..., int] | None:
    """The C library's function; looked up once."""
    libc: Any = ctypes.CDLL(None, use_errno=True)
    return getattr(libc, "renameat2", None) or getattr(libc, "renameatx_np", None)


def exchange(here: int, one: str, other: str) -> bool:
    """Given a directory's descriptor, let two names in it trade places; False where that cannot be had."""
    return _asked(here, one, other, _EXCHANGE)


def rename_new(here: int, old: str, new: str) -> bool:
    """Given the same, rename where nothing has the new name; False where that cannot be had.

    Raise FileExistsError where something has.
    """
    return _asked(here, old, new, _NOREPLACE)


def _asked(here: int, old: str, new: str, flag: int) -> bool:
    rename = _rename()
    if rename is None:
        return False
    if rename(here, os.fsencode(old), here, os.fsencode(new), ctypes.c_uint(flag)) == 0:
        return True
    fault = ctypes.get_errno()
    if fault in _ABSENT:
        return False
    raise OSError(fault, os.strerror(fault), new)
