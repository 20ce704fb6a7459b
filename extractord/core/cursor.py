"""How far a transcript was read, and what may have become of it since."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec
from msgspec import Struct


class Cursor(Struct, frozen=True, kw_only=True, array_like=True):
    """How far a transcript has been read for good."""

    device: int
    inode: int
    head: bytes
    """Fingerprint of the first bytes, at most 512, none of them after `offset`."""
    before: bytes
    """Fingerprint of the 512 bytes before `offset`."""
    offset: int
    """After the last newline that was processed."""
    size: int
    """How far the file was searched for a newline; more than `offset` where a line is torn."""
    last_entry: str | None = None

    def encode(self) -> bytes:
        """The bytes that the ledger keeps."""
        return msgspec.msgpack.encode(self)


def decode_cursor(raw: bytes | None) -> Cursor | None:
    """Given what `Cursor.encode` returned, return the cursor; None for anything else."""
    if raw is None:
        return None
    try:
        return msgspec.msgpack.decode(raw, type=Cursor)
    except msgspec.DecodeError:
        return None


@dataclass(frozen=True, slots=True)
class Same:
    """Nothing was added."""


@dataclass(frozen=True, slots=True)
class Grown:
    """Bytes were added; what was read still stands."""


@dataclass(frozen=True, slots=True)
class Anew:
    """What was read stands no longer: read from the start, entries known by their ids."""

    reason: str
    """compressed, replaced, shrunk, rewritten or regrown."""


def at_update(newest_ms: int) -> Cursor:
    """Given the newest update that was read of a database, in ms, return the cursor that says so."""
    return Cursor(device=0, inode=0, head=b"", before=b"", offset=newest_ms, size=newest_ms)
