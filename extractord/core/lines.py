"""Cuts a stream of bytes into lines at 0x0A only, in bounded memory."""

from __future__ import annotations

LINE_BYTES = 16 * 1024 * 1024
"""A longer line is skipped to its newline (DESIGN §6)."""
_BOM = b"\xef\xbb\xbf"

Block = tuple[bytes, int]
"""Bytes, and where lines with newlines begin in them; an unfinished one may stand behind the last."""


def lines_of(block: Block) -> list[bytes]:
    """Given a block, return its lines without their newlines."""
    content, start = block
    return content[start : content.rfind(b"\n")].split(b"\n")


class Lines:
    """Folds chunks into lines; what follows the last newline waits for the next chunk.

    `offset` is where the last finished line ended, `size` how far was read, both in bytes of the
    stream; `skipped` lines with `skipped_bytes` in all, newlines included, were longer than allowed.
    """

    def __init__(self, offset: int = 0, size: int = 0, *, line_bytes: int = LINE_BYTES) -> None:
        """Begin at `offset`, or where the line that begins there is known to be too long, at `size`."""
        self.offset = offset
        self._line_bytes = line_bytes
        self._skipping = size - offset > line_bytes
        self.size = size if self._skipping else offset
        self._held = bytearray()
        self._has_nul = False
        self.skipped = 0
        self.skipped_bytes = 0

    def feed(self, chunk: bytes) -> list[bytes]:
        """Given the next bytes, return the lines that they finish, without newline, NUL runs and BOM."""
        return [line for block in self.cut(chunk) for line in lines_of(block)]

    def cut(self, chunk: bytes) -> tuple[Block, ...]:
        """The same as blocks, so that nobody copies what nobody looks at: most are the chunk itself."""
        at, begin = self.size, self.offset
        self.size += len(chunk)
        self._has_nul = self._has_nul or b"\0" in chunk
        first, last = chunk.find(b"\n") + 1, chunk.rfind(b"\n") + 1
        if not last:
            self._hold(chunk)
            return ()
        self.offset = at + last
        start = 0
        blocks: list[Block] = []
        if self._skipping or len(self._held) + first - 1 > self._line_bytes:
            self.skipped += 1
            self.skipped_bytes += at + first - begin
            start = first
        elif self._held:
            blocks.append((b"".join((self._held, chunk[:first])), 0))
            start = first
        if start < last:
            blocks.append((chunk, start))
        self._skipping = False
        self._held = bytearray()
        self._hold(chunk[last:])
        if begin == 0 and blocks and blocks[0][0].startswith(_BOM, blocks[0][1]):
            blocks[0] = blocks[0][0], blocks[0][1] + len(_BOM)
        if self._has_nul:
            blocks = [(_without_nul(block), 0) for block in blocks]
        return tuple(blocks)

    def take_rest(self) -> bytes:
        """Nobody writes any more: return the last line, which has no newline."""
        rest = bytes(self._held).strip(b"\0")
        if self.offset == 0:
            rest = rest.removeprefix(_BOM)
        self._held.clear()
        self.offset = self.size
        return rest

    @property
    def rest(self) -> bytes:
        """What follows the last newline, as far as it is not too long."""
        return bytes(self._held)

    def _hold(self, rest: bytes) -> None:
        if not self._skipping:
            self._held += rest
            self._skipping = len(self._held) > self._line_bytes
        if self._skipping:
            self._held.clear()


def _without_nul(block: Block) -> bytes:
    return b"".join(line.strip(b"\0") + b"\n" for line in lines_of(block))
