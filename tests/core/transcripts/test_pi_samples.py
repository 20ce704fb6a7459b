from __future__ import annotations

import pytest
from feeding import SAMPLES, memory_writes, newest, prompts, transcript, voided

from extractord.core.records import Origin
from extractord.core.transcripts.pi import SOURCE

pytestmark = pytest.mark.skipif(not SAMPLES.exists(), reason="the shared samples are not beside the checkout")

DERIVED = "derived/--home-dev-proj--/2026-05-25T05-20-00-000Z_0198cccc-0000-7000-8000-000000000001.jsonl"
FILES = {
    "as/small.jsonl": 2,
    DERIVED: 3,
    "irr-1-4_session-resume--2026-05-27-23-44-40.jsonl": 2,
    "irr-1-5_session-reset--2026-05-27-23-52-56.jsonl": 2,
    "irr-1-6_checkpoint-rewind--2026-05-28-08-43-17.jsonl": 3,
    "irr-1-8_model-context-display--2026-06-05-10-58-09.jsonl": 1,
    "irr-2-12_context-compaction--2026-05-25-04-43-02.jsonl": 2,
    "irr-2-13_turn-end-terminal-text--2026-05-25-02-11-57.jsonl": 1,
    "irr-2-14_turn-aborted-by-error--2026-05-25-05-20-53.jsonl": 1,
    "irr-2-15_shell-escape-command--2026-05-25-02-51-25.jsonl": 1,
    "irr-2-16_oversized-transcript-line--2026-05-25-02-36-28.jsonl": 1,
    "irr-2-17_agent-question-pending--2026-05-25-05-28-25.jsonl": 1,
    "irr-2-1_basic-turn--2026-05-25-01-39-59.jsonl": 1,
    "irr-2-20_user-esc-interrupt--2026-05-25-02-57-00.jsonl": 2,
    "irr-2-2_auto-executed-tool-call--2026-05-25-02-07-42.jsonl": 1,
    "irr-2-4_self-correction-iteration--2026-05-25-02-25-53.jsonl": 1,
    "irr-2-5_synchronous-slash-command--2026-05-25-02-43-00.jsonl": 1,
    "irr-2-6_long-agentic-session-stress--2026-05-25-03-14-06.jsonl": 4,
    "irr-4-1_multiple-sessions-same-cwd--2026-05-28-09-07-59.jsonl": 5,
    "irr-5-1_token-accounting--2026-05-25-02-16-07.jsonl": 3,
    "irr-agent-question-pending--2026-04-26-11-58-04.jsonl": 1,
    "irr-full-lifecycle-toolcall--2026-04-26-11-31-28.jsonl": 1,
    "irr-interrupted-turn--2026-04-26-12-39-30.jsonl": 2,
    "irr-model-switch--2026-05-25-04-09-10.jsonl": 2,
    "pi-mono/before-compaction.head.jsonl": 0,
}
"""How many prompts a person typed, as read by eye; the last is a fork whose 38 prompts are all copies."""


@pytest.mark.parametrize("name", FILES)
def test_a_sample_has_the_prompts_that_were_typed(name: str) -> None:
    assert len(prompts(transcript(SOURCE, SAMPLES / "pi" / name))) == FILES[name]


def test_every_sample_is_in_the_table() -> None:
    folder = SAMPLES / "pi"
    found = {str(path.relative_to(folder)) for path in folder.rglob("*.jsonl")}
    assert {name for name in found if not name.startswith("current/")} == set(FILES)


def test_the_derived_session_has_what_was_written_into_it() -> None:
    seen = transcript(SOURCE, SAMPLES / "pi" / DERIVED)
    assert prompts(seen) == ["first prompt", "abandoned prompt", "prompt on the new branch"]
    assert memory_writes(seen) == [("/home/dev/memory/p.md", True)]
    assert voided(seen) == {"00000005"}


def test_the_old_forks_prompts_are_copies() -> None:
    seen = transcript(SOURCE, SAMPLES / "pi/pi-mono/before-compaction.head.jsonl")
    copied = [
        entry for entry in newest(seen).values() if entry.origin is Origin.COPIED and entry.role == "user"
    ]
    assert len(copied) == 38


def test_the_current_agents_sessions_come_out_with_their_prompts_and_the_write() -> None:
    folder = SAMPLES / "pi/current/sessions/--home-dev-shop--"
    first, second = (transcript(SOURCE, path) for path in sorted(folder.iterdir()))
    assert [text.partition(" :: ")[0] for text in prompts(first)] == [
        "We deploy only on Tuesdays because the warehouse counts stock on Mondays. Please keep that in mind.",
        "run: printf 'two words\\n' && ls -la",
        "ok thanks",
        "write: /home/dev/memory/deploy-day.md",
        "以后所有提交信息都用英文写",
    ]
    assert prompts(second) == ["I prefer short answers without a summary at the end"]
    assert memory_writes(first) == [("/home/dev/memory/deploy-day.md", True)]
    assert not voided(first)
