"""Reads a transcript's bytes from where it was left, and knows when that place is gone."""

from __future__ import annotations

import asyncio
import io
import os
import stat
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from hashlib import blake2b

import msgspec
import zstandard
from aiofiles.threadpool import wrap

from extractord.core.cursor import Anew, Cursor, Grown, Same
from extractord.core.lines import LINE_BYTES, Block, Lines
from extractord.errors import TranscriptError

CHUNK_BYTES = 1024 * 1024
"""So much is read at once: each read is a thread's work, and waits for it."""
_SLICE_BYTES = 64 * 1024
"""So much is cut into lines at once: what a processor keeps near."""
DOCUMENT_BYTES = 256 * 1024 * 1024
"""A transcript that is one document is not read where it is larger."""
_PRINT_BYTES = 512
_COMPRESSED = ".zst"
_SETTLE_S = 0.05
_LOOKS = 4


def check(cursor: Cursor, path: str) -> Same | Grown | Anew:
    """Given a cursor and where its transcript is now, maybe moved, return what became of it.

    Raise TranscriptError where there is no such file or it cannot be opened.
    """
    with _descriptor(path) as (file, compressed):
        found = os.fstat(file)
        if compressed:
            stands = (found.st_dev, found.st_ino, found.st_size) == (cursor.device, cursor.inode, cursor.size)
            return Same() if stands else Anew("compressed")
        if (found.st_dev, found.st_ino) != (cursor.device, cursor.inode):
            return Anew("replaced")
        if found.st_size < cursor.offset:
            return Anew("shrunk")
        head, before = _prints(file, cursor.offset)
        if head != cursor.head:
            return Anew("rewritten")
        if before != cursor.before:
            return Anew("regrown")
        return Same() if found.st_size == cursor.offset else Grown()


def mark(path: str, offset: int, size: int = 0, last_entry: str | None = None) -> Cursor:
    """Given a transcript and how far it was read, return its cursor.

    A compressed one is not read on: its cursor keeps the size of the file. Raise TranscriptError
    where there is no such file or it cannot be opened.
    """
    with _descriptor(path) as (file, compressed):
        found = os.fstat(file)
        head, before = _prints(file, offset)
        return Cursor(
            device=found.st_dev,
            inode=found.st_ino,
            head=head,
            before=before,
            offset=offset,
            size=found.st_size if compressed else max(size, offset),
            last_entry=last_entry,
        )


class Tail:
    """One pass over a transcript of lines, opened by its path; offsets are those of the plain bytes.

    `lines` counts as it goes: `offset`, `size`, `skipped`, `skipped_bytes`.
    """

    def __init__(self, path: str, start: Cursor | None = None, *, line_bytes: int = LINE_BYTES) -> None:
        """Begin at a cursor that stands, as `check` says, or at the file's start."""
        self._path = path
        self._chunk_bytes = min(CHUNK_BYTES, line_bytes)
        self.lines = (
            Lines(start.offset, start.size, line_bytes=line_bytes) if start else Lines(line_bytes=line_bytes)
        )

    async def batches(self, pause_at: int = 0) -> AsyncIterator[tuple[list[bytes], int]]:
        """Yield finished lines, many at a time, each time with the offset after them.

        No batch spans the offset `pause_at`. A torn last line waits. Raise TranscriptError where the
        file cannot be read.
        """
        async for chunk in self._chunks(pause_at):
            for start in range(0, len(chunk), _SLICE_BYTES):
                if batch := self.lines.feed(chunk[start : start + _SLICE_BYTES]):
                    yield batch, self.lines.offset

    async def blocks(self, pause_at: int = 0) -> AsyncIterator[tuple[tuple[Block, ...], int]]:
        """The same, each batch as blocks of lines."""
        async for chunk in self._chunks(pause_at):
            if blocks := self.lines.cut(chunk):
                yield blocks, self.lines.offset

    async def _chunks(self, pause_at: int) -> AsyncIterator[bytes]:
        async with _opened(self._path, self.lines.size) as read:
            while True:
                left = pause_at - self.lines.size
                wanted = min(left, self._chunk_bytes) if left > 0 else self._chunk_bytes
                chunk = await read(wanted)
                yield chunk
                if len(chunk) < wanted:
                    return

    def last_line(self) -> bytes | None:
        """Nobody writes any more: return the line without newline at the end, if it is whole JSON."""
        try:
            msgspec.json.decode(self.lines.rest.strip(b"\0"))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None
        return self.lines.take_rest()


async def beginning(path: str, size: int) -> bytes:
    """Given a transcript, return its first bytes, at most `size`. Raise TranscriptError."""
    async with _opened(path, 0) as read:
        return await read(size)


async def document(path: str) -> bytes:
    """Given a transcript that is one document, return its bytes once its writer has let go of it.

    Raise TranscriptError where it cannot be read, does not come to rest, or is over 256 MiB.
    """
    for _ in range(_LOOKS):
        before = _stamp(path)
        if before[1] > DOCUMENT_BYTES:
            raise TranscriptError(
                f"{path}: {before[1]} bytes are too many for one document; split or move it"
            )
        async with _opened(path, 0) as read:
            whole = await read(DOCUMENT_BYTES)
        if _stamp(path) == before:
            return whole
        await asyncio.sleep(_SETTLE_S)
    raise TranscriptError(f"{path}: still being written; it is read when it comes to rest")


async def ends(path: str, head_bytes: int, tail_bytes: int) -> tuple[list[bytes], list[bytes], int]:
    """Given a transcript of lines, return its first and last lines, and the offset after the last.

    The last lines reach back over at least `tail_bytes`, further where they hold no whole line, and
    never into the first ones. A compressed transcript is read whole. Raise TranscriptError.
    """
    with _descriptor(path) as (file, compressed):
        if not compressed:
            return _ends(file, head_bytes, tail_bytes)
    tail = Tail(path)
    every = [line async for batch, _ in tail.batches() for line in batch]
    return [], every, tail.lines.offset


def _ends(file: int, head_bytes: int, tail_bytes: int) -> tuple[list[bytes], list[bytes], int]:
    size = os.fstat(file).st_size
    head = os.pread(file, head_bytes, 0)
    begin = head.rfind(b"\n") + 1
    reach = tail_bytes
    while True:
        start = max(begin, size - reach)
        block = os.pread(file, size - start, start)
        first = 0 if start == begin else block.find(b"\n") + 1
        last = block.rfind(b"\n") + 1
        if last > first or start == begin or reach > 2 * LINE_BYTES:
            return head[:begin].split(b"\n")[:-1], block[first:last].split(b"\n")[:-1], start + last
        reach *= 4


@asynccontextmanager
async def _opened(path: str, offset: int) -> AsyncIterator[Callable[[int], Awaitable[bytes]]]:
    """A way to read on from an offset of the plain bytes; foreign errors become ours here."""
    with _descriptor(path) as (descriptor, compressed):
        try:
            if not compressed:
                os.lseek(descriptor, offset, os.SEEK_SET)
                with io.FileIO(descriptor, closefd=False) as file:
                    yield wrap(file, loop=asyncio.get_running_loop(), executor=None).read
                return
            with (
                os.fdopen(descriptor, "rb", closefd=False) as packed,
                zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=True) as plain,
            ):

                async def read(size: int) -> bytes:
                    return await asyncio.to_thread(plain.read, size)

                plain.seek(offset)
                yield read
        except OSError as error:
            raise TranscriptError(f"{path}: {error.strerror}; make it readable, the others go on") from error
        except zstandard.ZstdError as error:
            raise TranscriptError(f"{path}: not readable as zstd ({error}); restore or remove it") from error


@contextmanager
def _descriptor(path: str) -> Iterator[tuple[int, bool]]:
    """The transcript, or its plain or compressed twin where only that is there; True if compressed."""
    file, compressed = _open(path)
    try:
        yield file, compressed
    finally:
        os.close(file)


def _open(path: str) -> tuple[int, bool]:
    twin = path.removesuffix(_COMPRESSED) if path.endswith(_COMPRESSED) else path + _COMPRESSED
    for candidate in (path, twin, path):
        try:
            file = os.open(candidate, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise TranscriptError(f"{path}: {error.strerror}; make it readable, the others go on") from error
        if stat.S_ISREG(os.fstat(file).st_mode):
            return file, candidate.endswith(_COMPRESSED)
        os.close(file)
        raise TranscriptError(f"{path}: not a regular file; give a transcript or a folder of them")
    raise TranscriptError(f"{path}: there is no transcript here; give the path that it has now")


def _stamp(path: str) -> tuple[int, int, int]:
    with _descriptor(path) as (file, _):
        found = os.fstat(file)
        return found.st_ino, found.st_size, found.st_mtime_ns


def _prints(file: int, offset: int) -> tuple[bytes, bytes]:
    start = max(0, offset - _PRINT_BYTES)
    return _print(os.pread(file, min(_PRINT_BYTES, offset), 0)), _print(os.pread(file, offset - start, start))


def _print(block: bytes) -> bytes:
    return blake2b(block, digest_size=16).digest()
