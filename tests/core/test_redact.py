"""What is taken out of a text before it leaves the machine, and what stays."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extractord.core.redact import redact, replace

GITHUB = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
RANDOM = "q8Zr" + "T3vLx0WbN7sKd2YhPf5GmJ9cRu4EaXo1iQ6tVw"


@pytest.mark.parametrize("secret", [GITHUB, GITHUB[:10] + "\u200b" + GITHUB[10:], RANDOM])
def test_a_secret_is_replaced_by_a_mark_that_names_its_rule(secret: str) -> None:
    text = redact(f"use {secret} here")
    assert text.startswith("use [redacted: ")
    assert text.endswith("] here")
    assert secret not in text


@pytest.mark.parametrize(
    "text",
    [
        "commit 4eea323b0f8f5c1f0e7a9d2c3b4a5968778695a4",
        "session 4c1ca625-3d7b-4f2a-b073-0a0c25c97dfc",
        "see src/extractord/core/transcripts/ClaudeCode2Reader.py:120",
        "https://example.org/Docs/Reference/Guide2026/TableOfContents1",
        "getUserAccountSettingsByIdAndLastLoginDate2Factory",
        "the key is in the vault, ask Anna",
        "",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert redact(text) == text


def test_spans_follow_the_text_that_they_mark() -> None:
    text = "0123456789"
    assert replace(text, [(2, 4, "<long>"), (6, 7, "")], [(0, 2), (3, 5), (4, 6), (7, 10)]) == (
        "01<long>45789",
        ((0, 2), (2, 9), (8, 10), (10, 13)),
    )


def test_a_span_that_ends_inside_a_replacement_takes_it_in() -> None:
    assert replace("0123456789", [(2, 6, "<long>")], [(0, 4)]) == ("01<long>6789", ((0, 8),))


@settings(max_examples=60)
@given(before=st.text(max_size=20), after=st.text(max_size=20))
def test_redacting_twice_changes_no_more(before: str, after: str) -> None:
    once = redact(f"{before} {GITHUB} {after}")
    assert GITHUB not in once
    assert redact(once) == once
