from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from extractord.core.lines import Lines


def test_only_a_line_feed_ends_a_line() -> None:
    lines = Lines()
    assert lines.feed("a\u2028b\r\nc\x0bd\x85e\n".encode()) == ["a\u2028b\r".encode(), "c\x0bd\x85e".encode()]
    assert lines.offset == lines.size == 14


def test_a_torn_line_waits_for_its_newline() -> None:
    lines = Lines()
    assert lines.feed(b"one\ntw") == [b"one"]
    assert (lines.offset, lines.size, lines.rest) == (4, 6, b"tw")
    assert lines.feed(b"o\n") == [b"two"]
    assert (lines.offset, lines.size, lines.rest) == (8, 8, b"")


def test_a_line_over_the_cap_is_skipped_and_counted_and_one_at_the_cap_is_not() -> None:
    lines = Lines(line_bytes=4)
    assert [lines.feed(chunk) for chunk in (b"1234\n123", b"45", b"6\nab\n")] == [[b"1234"], [], [b"ab"]]
    assert (lines.skipped, lines.skipped_bytes, lines.offset) == (1, 7, 15)


def test_a_first_line_over_the_cap_leaves_nothing() -> None:
    lines = Lines(line_bytes=2)
    assert lines.feed(b"123\n") == []
    assert (lines.skipped, lines.offset) == (1, 4)


def test_a_line_known_to_be_too_long_is_not_read_again() -> None:
    lines = Lines(10, 100, line_bytes=4)
    assert lines.size == 100
    assert lines.feed(b"x\nab\n") == [b"ab"]
    assert (lines.skipped_bytes, lines.offset) == (92, 105)


def test_a_short_torn_line_is_read_again_from_its_beginning() -> None:
    assert Lines(10, 13, line_bytes=4).size == 10


def test_nul_runs_and_a_byte_order_mark_are_no_part_of_a_line() -> None:
    lines = Lines()
    assert lines.feed(b"\xef\xbb\xbfone\n\0\0") == [b"one"]
    assert lines.feed(b"\0two\n\xef\xbb\xbfthree\n") == [b"two", b"\xef\xbb\xbfthree"]


def test_the_last_line_is_taken_when_nobody_writes_any_more() -> None:
    lines = Lines()
    lines.feed(b"\xef\xbb\xbf{}")
    assert (lines.take_rest(), lines.offset, lines.rest) == (b"{}", 5, b"")
    lines.feed(b"\n[]")
    assert (lines.take_rest(), lines.offset) == (b"[]", 8)


@given(
    st.lists(st.binary(max_size=6).map(lambda b: b.replace(b"\n", b"")), max_size=12),
    st.lists(st.integers(1, 9), min_size=1, max_size=9),
)
def test_lines_do_not_depend_on_how_they_were_torn(wanted: list[bytes], steps: list[int]) -> None:
    stream = b"".join(line + b"\n" for line in wanted) + b"rest"
    lines, got, at = Lines(line_bytes=4), [], 0
    while at < len(stream):
        step = min(4, steps[at % len(steps)])
        got += lines.feed(stream[at : at + step])
        at += step
        assert len(lines.rest) <= 4
    short = [line for line in wanted if len(line) <= 4]
    if wanted:
        first = wanted[0].removeprefix(b"\xef\xbb\xbf")
        short = [first, *short[1:]] if len(wanted[0]) <= 4 else short
    assert [line.strip(b"\0") for line in got] == [line.strip(b"\0") for line in short]
    assert lines.offset == len(stream) - 4
    assert lines.skipped == len(wanted) - len(short)
