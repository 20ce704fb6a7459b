"""How much memory a line takes that is far too long."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from extractord.cli.perf.claude import Session, write_session
from extractord.cli.perf.rows import Conditions, Row, at_most
from extractord.cli.perf.timing import own_process
from extractord.errors import ExtractordError

GROUP = "memory"
_MB = 1_000_000
_LINE, _QUICK_LINE = 500 * _MB, 100 * _MB
_SMALL = 100_000
_MOST_MB = 100.0


def measure(conditions: Conditions) -> Sequence[Row]:
    """Read a transcript with such a line, and exchanges before and after it, in a process of its own."""
    size = _QUICK_LINE if conditions.quick else _LINE
    small, large = conditions.folder / "small.jsonl", conditions.folder / "large.jsonl"
    write_session(small, _SMALL)
    _write_long(large, size)
    said = own_process(["-m", "extractord.cli.perf.alone", "peak", str(small), str(large)])
    before, after, found = msgspec.json.decode(said, type=tuple[int, int, int])
    if found != 2:  # noqa: PLR2004 - one before the line and one after it
        raise ExtractordError(f"{found} exchanges of 2 were found around the long line")
    name = f"peak with a line of {size // _MB} MB"
    detail = f"{before / _MB:.0f} MB before, {after / _MB:.0f} MB after"
    return [at_most(GROUP, name, (after - before) / _MB, _MOST_MB, "MB", "the process without it", detail)]


def _write_long(path: Path, size: int) -> None:
    session = Session(3, "/home/dev/shop")
    first, second = (
        [
            msgspec.json.encode(record) + b"\n"
            for record in session.exchange(number, "we deploy on tuesdays only")
        ]
        for number in range(2)
    )
    with path.open("wb") as file:
        file.writelines(first)
        file.write(
            b'{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"'
        )
        for _ in range(size // _MB):
            file.write(b"long " * (_MB // 5))
        file.write(b'"}}\n')
        file.writelines(second)
