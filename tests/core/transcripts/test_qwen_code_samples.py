from __future__ import annotations

import pytest
from feeding import SAMPLES, memory_writes, newest, prompts, transcript, voided

from extractord.core.records import Origin
from extractord.core.transcripts.qwen_code import SOURCE

pytestmark = pytest.mark.skipif(not SAMPLES.exists(), reason="the shared samples are not beside the checkout")

FILES = {
    "as/019f0000-0000-7000-8000-000000000001.jsonl": 1,
    "as/019f0000000070008000000000000003.jsonl": 1,
    "as/system_telemetry.jsonl": 0,
    "derived/projects/-home-dev-proj/chats/aaaaaaaa-1111-4111-8111-111111111111.jsonl": 3,
    "derived/projects/-home-dev-proj/chats/bbbbbbbb-2222-4222-8222-222222222222.jsonl": 1,
    "engram/projects/-Users-test-my-project/chats/sample.jsonl": 2,
}
"""How many prompts a person typed, as read by eye."""


@pytest.mark.parametrize("name", FILES)
def test_a_sample_has_the_prompts_that_were_typed(name: str) -> None:
    said = prompts(transcript(SOURCE, SAMPLES / "qwen" / name))
    assert len(said) == FILES[name]
    assert not [text for text in said if "qwen:user-prompt" in text or "goal runtime" in text]


def test_every_sample_is_in_the_table() -> None:
    folder = SAMPLES / "qwen"
    found = {str(path.relative_to(folder)) for path in folder.rglob("*.jsonl")}
    assert {name for name in found if not name.startswith("current/")} == set(FILES)


def test_the_derived_sessions_have_what_was_written_into_them() -> None:
    chats = SAMPLES / "qwen/derived/projects/-home-dev-proj/chats"
    first, fork = (transcript(SOURCE, path) for path in sorted(chats.iterdir()))
    assert prompts(first) == ["save my preference", "second prompt", "prompt after rewind"]
    assert memory_writes(first) == [("/home/dev/memory/p.md", True)]
    assert voided(first) == {"q5", "q6"}
    assert prompts(fork) == ["prompt in the branch"]
    assert memory_writes(fork) == []
    assert {entry.id for entry in newest(fork).values() if entry.origin is Origin.COPIED} >= {
        "q1",
        "q2",
        "q5",
    }


def test_the_current_agents_sessions_come_out_with_their_prompts() -> None:
    chats = SAMPLES / "qwen/current/projects/-home-dev-shop/chats"
    first, second = (transcript(SOURCE, path) for path in sorted(chats.iterdir()))
    assert [text.partition(" :: ")[0] for text in prompts(first)] == [
        "We deploy only on Tuesdays because the warehouse counts stock on Mondays. Please keep that in mind.",
        "run: printf 'two words\\n' && ls -la",
        "ok thanks",
        "write: /home/dev/memory/deploy-day.md",
        "以后所有提交信息都用英文写",
    ]
    assert prompts(second) == ["I prefer short answers without a summary at the end"]


def test_the_current_agents_write_was_refused_so_it_is_none() -> None:
    path = SAMPLES / "qwen/current/projects/-home-dev-shop/chats/3deb1204-7899-49a5-b75b-82292246b546.jsonl"
    assert memory_writes(transcript(SOURCE, path)) == [("/home/dev/memory/deploy-day.md", False)]
