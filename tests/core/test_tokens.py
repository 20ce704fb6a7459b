from __future__ import annotations

import pytest

from extractord.core.tokens import estimate_tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), ("a", 1), ("abcdef", 2), ("é", 1), ("火曜日", 5), ("🦊", 2), ("ab\ud800", 3)],
)
def test_the_estimate_is_rather_too_high(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens
