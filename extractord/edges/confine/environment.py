"""Taking variables out of this process's environment, the block that the kernel shows included."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterable


def forget(names: Iterable[str]) -> None:
    """Given variables, wipe their values where they stand and drop them.

    `/proc/<pid>/environ` is the memory that the process began with: unsetting alone leaves it.
    """
    gone = frozenset(names)
    if sys.platform == "linux":
        _wipe({os.fsencode(name) for name in gone})
    for name in gone:
        os.environ.pop(name, None)


def _wipe(names: set[bytes]) -> None:
    block = ctypes.POINTER(ctypes.c_void_p).in_dll(ctypes.CDLL(None), "environ")
    at = 0
    while block and (address := block[at]):
        name, _, value = ctypes.string_at(address).partition(b"=")
        if name in names:
            ctypes.memset(address + len(name) + 1, 0, len(value))
        at += 1
