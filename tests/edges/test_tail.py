from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from extractord.core.cursor import Anew, Cursor, Grown, Same, decode_cursor
from extractord.edges.tail import Tail, check, document, ends, mark
from extractord.errors import TranscriptError

LINES = b"".join(b'{"n":%d}\n' % n for n in range(200))


async def read(path: Path, start: Cursor | None = None, pause_at: int = 0) -> list[bytes]:
    return [line async for batch, _ in Tail(str(path), start).batches(pause_at) for line in batch]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "a.jsonl"
    path.write_bytes(LINES)
    return path


async def test_a_pass_gives_each_line_and_where_it_ended(path: Path) -> None:
    tail = Tail(str(path))
    batches = [(b"\n".join(lines) + b"\n", after) async for lines, after in tail.batches(pause_at=16)]
    assert batches == [(LINES[:16], 16), (LINES[16:], len(LINES))]


async def test_a_pass_goes_on_from_any_newline(path: Path) -> None:
    for offset in range(len(LINES) + 1):
        if offset == 0 or LINES[offset - 1 : offset] == b"\n":
            cursor = mark(str(path), offset)
            assert check(cursor, str(path)) == (Same() if offset == len(LINES) else Grown())
            assert await read(path, cursor) == LINES[offset:].split(b"\n")[:-1]


async def test_a_torn_line_waits_and_is_taken_at_rest_only_if_it_is_json(path: Path) -> None:
    whole = b'{"n":"told"}'
    for torn, taken in ((b'{"n":"to', None), (whole, whole), (b"", None), (b"[" * 100_000, None)):
        path.write_bytes(LINES + torn)
        tail = Tail(str(path))
        assert sum([len(lines) async for lines, _ in tail.batches()]) == 200
        assert (tail.lines.offset, tail.lines.size) == (len(LINES), len(LINES + torn))
        assert tail.last_line() == taken


def test_a_cursor_knows_what_became_of_its_file(path: Path) -> None:
    cursor = mark(str(path), len(LINES))
    found = {"untouched": check(cursor, str(path))}
    with path.open("ab") as file:
        file.write(b"{}\n")
    found["grown"] = check(cursor, str(path))
    os.truncate(path, len(LINES) // 2)
    found["shrunk"] = check(cursor, str(path))
    with path.open("ab") as file:
        file.write(b'{"m":1}\n' * 500)
    found["regrown"] = check(cursor, str(path))
    path.write_bytes(b'{"m":1}\n' + LINES)
    found["rewritten"] = check(cursor, str(path))
    path.write_bytes(LINES)
    moved = path.rename(path.with_name("b.jsonl"))
    found["moved"] = check(cursor, str(moved))
    path.write_bytes(LINES)
    found["replaced"] = check(cursor, str(path))
    assert found == {
        "untouched": Same(),
        "grown": Grown(),
        "shrunk": Anew("shrunk"),
        "regrown": Anew("regrown"),
        "rewritten": Anew("rewritten"),
        "moved": Same(),
        "replaced": Anew("replaced"),
    }


async def test_a_compressed_transcript_is_read_as_a_stream_also_under_its_plain_name(path: Path) -> None:
    cursor = mark(str(path), 16)
    packed = path.with_name("a.jsonl.zst")
    half = len(LINES) // 2
    packed.write_bytes(zstandard.compress(LINES[:half]) + zstandard.compress(LINES[half:]))
    path.unlink()
    assert check(cursor, str(path)) == Anew("compressed")
    assert await read(path) == await read(packed) == LINES.split(b"\n")[:-1]
    assert await read(path, pause_at=16) == LINES.split(b"\n")[:-1]
    packed.rename(path.with_name("gone"))
    path.write_bytes(LINES)
    assert await read(packed) == LINES.split(b"\n")[:-1]


@pytest.mark.parametrize("kind", ["gone", "folder", "fifo", "closed", "rubbish.zst"])
async def test_what_cannot_be_read_says_so_and_names_the_file(tmp_path: Path, kind: str) -> None:
    path = tmp_path / kind
    match kind:
        case "folder":
            path.mkdir()
        case "fifo":
            os.mkfifo(path)
        case "closed":
            path.touch(mode=0)
            if os.access(path, os.R_OK):
                pytest.skip("root reads everything")
        case "rubbish.zst":
            path.write_bytes(b"\1\2\3\4" * 100)
    with pytest.raises(TranscriptError, match=kind):
        await read(path)


async def test_the_ends_of_a_transcript_are_had_without_its_middle(path: Path) -> None:
    assert await ends(str(path), 20, 20) == (
        [b'{"n":0}', b'{"n":1}'],
        [b'{"n":199}'],
        len(LINES),
    )
    path.write_bytes(b"a\n" + b"b" * 5000 + b"\ntorn")
    assert await ends(str(path), 20, 20) == ([b"a"], [b"b" * 5000], 5003)
    path.write_bytes(b"torn only")
    assert await ends(str(path), 20, 20) == ([], [], 0)
    path.write_bytes(b"a\nb\n")
    assert await ends(str(path), 20, 20) == ([b"a", b"b"], [], 4)


async def test_a_document_is_read_as_a_whole_and_may_be_compressed(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b'{"a": 1}')
    assert await document(str(path)) == b'{"a": 1}'
    path.with_name("a.json.zst").write_bytes(zstandard.compress(b'{"a": 2}'))
    path.unlink()
    assert await document(str(path)) == b'{"a": 2}'


def test_a_cursor_survives_its_encoding_and_rubbish_is_none(path: Path) -> None:
    cursor = mark(str(path), 16, 20)
    assert decode_cursor(cursor.encode()) == cursor
    assert decode_cursor(None) is decode_cursor(b"rubbish") is None


def test_half_a_gigabyte_without_a_newline_takes_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    with path.open("wb") as file:
        file.write(b'{"n":1}\nx')
        file.truncate(500_000_000)
        file.seek(0, os.SEEK_END)
        file.write(b'\n{"n":2}\n')
    script = """
import asyncio, resource, sys
from pathlib import Path
from extractord.edges.tail import Tail
async def main():
    tail = Tail(sys.argv[1])
    print([line async for batch, _ in tail.batches() for line in batch], tail.lines.skipped)
    if sys.platform == "linux":  # ru_maxrss begins at the size of the process that started this one
        status = Path("/proc/self/status").read_text()
        print(int(status.partition("VmHWM:")[2].split()[0]) // 1024)
    else:
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024**2)
asyncio.run(main())
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(path)], check=True, capture_output=True, text=True
    )
    said, peak = done.stdout.splitlines()
    assert said == """[b'{"n":1}', b'{"n":2}'] 1"""
    assert int(peak) < 100


@settings(max_examples=40)
@given(st.lists(st.integers(1, 40), min_size=1, max_size=12))
async def test_a_transcript_appended_in_torn_pieces_gives_each_line_once(
    tmp_path_factory: pytest.TempPathFactory, steps: list[int]
) -> None:
    path = tmp_path_factory.mktemp("torn") / "a.jsonl"
    path.touch()
    cursor, got, at = mark(str(path), 0), [], 0
    for step in [*steps, len(LINES)]:
        with path.open("ab") as file:
            file.write(LINES[at : at + step])
        at += step
        assert check(cursor, str(path)) in (Grown(), Same())
        tail = Tail(str(path), cursor)
        got += [line async for batch, _ in tail.batches() for line in batch]
        cursor = mark(str(path), tail.lines.offset, tail.lines.size)
    assert got == LINES.split(b"\n")[:-1]
