"""The file of tombstones, which outlives the ledger."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import msgspec

from extractord.core.versions import Tombstone
from extractord.durable import sync
from extractord.errors import StoreError


class Register:
    """`<state>/tombstones.jsonl`, only ever added to: a lost ledger brings nothing back."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def add(self, stones: Iterable[Tombstone]) -> None:
        """Append tombstones, durably and on lines of their own, whatever a crash left at the end."""
        lines = b"".join(msgspec.json.encode(stone) + b"\n" for stone in stones)
        if not lines:
            return
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            descriptor = os.open(self._path, flags, 0o600)
            try:
                _mend(descriptor)
                _write(descriptor, lines)
                sync(descriptor)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise StoreError(f"{self._path}: tombstones cannot be kept: {error.strerror}") from error

    def all(self) -> tuple[Tombstone, ...]:
        """Every tombstone of the file; half a last line is passed over, any other is an error."""
        *lines, last = self._raw().split(b"\n")
        lines += [last] if _is_whole(last) else []
        try:
            return tuple(msgspec.json.decode(line, type=Tombstone) for line in lines if line)
        except (msgspec.MsgspecError, RecursionError) as error:
            raise StoreError(f"{self._path} is damaged ({error}): repair or move the bad line") from error

    def torn(self) -> str:
        """A warning where only half of the last line is there, a sentence; else empty."""
        *_, last = self._raw().split(b"\n")
        if not last or _is_whole(last):
            return ""
        return f"{self._path}: the last line was cut short ({len(last)} bytes); it is passed over"

    def _raw(self) -> bytes:
        try:
            return self._path.read_bytes()
        except FileNotFoundError:
            return b""
        except OSError as error:
            raise StoreError(f"{self._path} cannot be read: {error.strerror}") from error


def _mend(descriptor: int) -> None:
    """End the last line if it is whole, or drop it if it is only half of one."""
    size = os.fstat(descriptor).st_size
    raw = os.pread(descriptor, size, 0)
    begin = raw.rfind(b"\n") + 1
    if begin == len(raw):
        return
    if _is_whole(raw[begin:]):
        _write(descriptor, b"\n")
    else:
        os.ftruncate(descriptor, begin)


def _write(descriptor: int, lines: bytes) -> None:
    """Write all of it: the system may take a part at a time."""
    while lines:
        lines = lines[os.write(descriptor, lines) :]


def _is_whole(line: bytes) -> bool:
    try:
        msgspec.json.decode(line, type=Tombstone)
    except (msgspec.MsgspecError, RecursionError):
        return False
    return True
