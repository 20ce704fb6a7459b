"""Frames as they come from a pipe: in any pieces, from anybody."""

from __future__ import annotations

from contextlib import suppress

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from extractord.core.records import Message
from extractord.core.wire import FRAME_BYTES, Ask, Failed, Frames, Probe, Said, WireError, frame

SAID: list[Said] = [
    Probe(forbidden="/x"),
    Failed(kind="ValueError", module="memory", line=7),
    Ask(id=1, messages=(Message(role="user", content="n" * 300),), tools=()),
]


def feed(frames: Frames, raw: bytes, cuts: list[int]) -> list[Said]:
    at, said = 0, list[Said]()
    for cut in [*sorted(cuts), len(raw)]:
        said += frames.feed(raw[at:cut])
        at = max(at, cut)
    return said


@given(
    st.lists(st.sampled_from(SAID), max_size=5),
    st.lists(st.integers(min_value=0, max_value=2000), max_size=8),
)
def test_whatever_the_pieces_the_messages_are_the_same(said: list[Said], cuts: list[int]) -> None:
    raw = b"".join(map(frame, said))
    assert feed(Frames(), raw, [min(cut, len(raw)) for cut in cuts]) == said


@given(st.binary(max_size=200))
def test_garbage_is_an_error_of_the_protocol_and_no_other(raw: bytes) -> None:
    with suppress(WireError):
        list(Frames().feed(raw))


NESTED = [
    b"\x82\xa4type\xa4done\xa1x" + b"\x91" * 100_000 + b"\x90",
    b"\x82\xa4type\xa5probe\xa1x" + b"\x81\xa1a" * 100_000 + b"\xc0",
    b"\x82\xa4type\xa5probe\xa9forbidden\xa1\xff",
]


@pytest.mark.parametrize("raw", NESTED)
def test_what_is_nested_too_deep_or_is_no_text_is_an_error_of_the_protocol(raw: bytes) -> None:
    with pytest.raises(WireError, match="does not decode"):
        list(Frames().feed(len(raw).to_bytes(4, "big") + raw))


WRONG = [
    ({"type": "done", "conversation": {"ending": "the person said"}}, "`$.conversation.ending`"),
    ({"type": "the person said"}, "`$.type`"),
    ({"type": "probe"}, "its kind"),
]


@pytest.mark.parametrize(("body", "where"), WRONG)
def test_what_is_wrong_with_a_frame_is_said_without_its_words(body: object, where: str) -> None:
    raw = msgspec.msgpack.encode(body)
    with pytest.raises(WireError) as raised:
        list(Frames().feed(len(raw).to_bytes(4, "big") + raw))
    assert str(raised.value) == f"a frame is not what it ought to be: {where}"


def test_a_frame_over_the_limit_is_refused_by_its_length_alone() -> None:
    with pytest.raises(WireError, match="over the limit"):
        list(Frames().feed((FRAME_BYTES + 1).to_bytes(4, "big")))
    assert list(Frames().feed(FRAME_BYTES.to_bytes(4, "big"))) == []
