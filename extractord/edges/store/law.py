"""Which law, to the letter, a file was judged by: another one judges it anew."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path

import extractord
from extractord.errors import StoreError

_WHAT_JUDGES = ("policy", "core")


@lru_cache(maxsize=1)
def law_version() -> str:
    """Return a hash of every module that reads and judges a memory.

    Raise StoreError where they cannot be read.
    """
    top = Path(extractord.__file__).parent
    sealed = hashlib.sha256()
    try:
        for place in sorted(place for room in _WHAT_JUDGES for place in (top / room).glob("*.py")):
            sealed.update(place.name.encode() + b"\0" + place.read_bytes() + b"\0")
    except OSError as error:
        raise StoreError(
            f"{error.filename}, of extractord itself, cannot be read: {error.strerror}"
        ) from error
    return sealed.hexdigest()[:32]
