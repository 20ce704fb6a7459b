from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extractord.core.words import count_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0),
        ("ok thanks", 2),
        ("don't use tabs", 3),
        ("use port 8080", 3),
        ("… — ! 🙂", 0),
        ("以后所有提交信息都用英文写", 6),
        ("好的", 1),
        ("好", 0),
        ("ありがとう", 1),
        ("コミットは英語で書いて", 4),
        ("金曜日はデプロイしない", 3),
        ("いつもタブを使う", 3),
        ("はい", 1),
        ("ありがとう、了解", 2),
        ("커밋 메시지는 영어로", 3),
        ("네", 1),
        ("ใช้แท็บเสมอ", 2),
        ("ใช่", 0),
        ("ប្រើ\u200bភាសា\u200bអង់គ្លេស\u200bជានិច្ច", 3),
        ("всегда пиши тесты", 3),
        ("تُكتب الرسائل بالإنجليزية", 3),
        ("Commit信息用English写", 4),
    ],
)
def test_words_are_counted_in_any_script(text: str, words: int) -> None:
    assert count_words(text) == words


@given(st.text(max_size=60), st.text(max_size=60))
def test_more_text_never_has_fewer_words(one: str, other: str) -> None:
    assert count_words(f"{one} {other}") >= max(count_words(one), count_words(other))
