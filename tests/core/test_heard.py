"""What is heard is a request as docs/events.md has it, or it is nothing."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extractord.core.heard import (
    HEARD_BYTES,
    WORDS,
    Bucket,
    Drain,
    Extract,
    Pause,
    Resume,
    Unusable,
    understood,
)

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("word", "payload", "request_"),
    [
        ("pause", b"", Pause()),
        ("pause", b"{}", Pause()),
        ("resume", b'{"type": "resume"}', Resume()),
        ("drain", b" {} ", Drain()),
        ("extract", b'{"path": "/home/x/a.jsonl"}', Extract(path="/home/x/a.jsonl")),
        ("extract", b'{"agent": "codex", "session": "s1"}', Extract(agent="codex", session="s1")),
    ],
)
def test_what_the_schema_lets_through_is_understood(word: str, payload: bytes, request_: object) -> None:
    assert understood(f"extractord/v1/here/heard/{word}", payload) == request_


@pytest.mark.parametrize(
    ("word", "payload"),
    [
        ("pause", b"null"),
        ("pause", b"[]"),
        ("pause", b'{"for": 3}'),
        ("pause", b'{"type": "resume"}'),
        ("pause", b"\xff"),
        ("pause", b"[" * 4000),
        ("pause", b" " * (HEARD_BYTES + 1)),
        ("extract", b""),
        ("extract", b'{"path": ""}'),
        ("extract", b'{"path": 3}'),
        ("extract", b'{"agent": "codex"}'),
        ("extract", b'{"path": "/a", "agent": "codex", "session": "s"}'),
        ("extract", b'{"path": "' + b"a" * 3000 + b'"}'),
        ("shutdown", b"{}"),
        ("", b"{}"),
    ],
)
def test_anything_else_is_nothing(word: str, payload: bytes) -> None:
    assert isinstance(understood(f"extractord/v1/here/heard/{word}", payload), Unusable)


@given(st.sampled_from([*WORDS, "else"]), st.binary(max_size=200))
def test_no_payload_raises_and_no_reason_repeats_it(word: str, payload: bytes) -> None:
    heard = understood(f"t/{word}", payload)
    assert not isinstance(heard, Unusable) or heard.reason in {
        "nothing is heard on this topic",
        f"not as docs/events.md has `{word}`",
    }


def test_so_many_a_minute_pass_and_a_clock_set_back_gives_none() -> None:
    bucket = Bucket(30, NOW)
    assert [bucket.lets_pass(NOW) for _ in range(31)] == [True] * 30 + [False]
    assert not bucket.lets_pass(NOW - timedelta(hours=1))
    assert not bucket.lets_pass(NOW - timedelta(hours=1) + timedelta(seconds=1))
    assert bucket.lets_pass(NOW - timedelta(hours=1) + timedelta(seconds=2))
    assert [bucket.lets_pass(NOW + timedelta(days=1)) for _ in range(31)] == [True] * 30 + [False]
