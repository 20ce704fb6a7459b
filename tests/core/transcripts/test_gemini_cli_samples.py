from __future__ import annotations

import pytest
from feeding import SAMPLES, memory_writes, prompts, transcript, voided

from extractord.core.records import Entry, Origin
from extractord.core.transcripts.gemini_cli import SOURCE

pytestmark = pytest.mark.skipif(not SAMPLES.exists(), reason="the shared samples are not beside the checkout")

FILES = {
    "as/jsonl_v040.jsonl": 1,
    "as/large.json": 2,
    "as/schema_drift.json": 0,
    "av/standard_session.json": 2,
    "av/system_messages.json": 0,
    "av/tool_calls.json": 1,
    "av/tool_calls_with_results.json": 1,
    "derived/legacy-half-written.json": 0,
    "derived/partial-last-line.jsonl": 3,
    "derived/rewind-unknown-id.jsonl": 3,
    "irr-1-2_session-end--2026-06-12-12-00-03.jsonl": 3,
    "irr-1-3_long-idle-live-session--2026-06-12-10-49-20.jsonl": 2,
    "irr-1-4_session-resume--2026-06-12-12-17-36.jsonl": 2,
    "irr-1-5_session-reset--2026-06-12-12-27-51.jsonl": 2,
    "irr-1-6_checkpoint-rewind--2026-06-12-12-55-16.jsonl": 3,
    "irr-2-10_mid-turn-message-queued--2026-06-12-13-25-43.jsonl": 1,
    "irr-2-12_context-compaction--2026-06-12-10-36-37.jsonl": 2,
    "irr-2-14_turn-aborted-by-error--2026-06-12-14-25-05.jsonl": 1,
    "irr-2-15_shell-escape-command--2026-06-12-13-29-23.jsonl": 1,
    "irr-2-15_shell-escape-command--2026-06-13-14-51-42.jsonl": 2,
    "irr-2-16_oversized-transcript-line--2026-06-11-23-10-18.jsonl": 1,
    "irr-2-17_user-blocking-question--2026-06-12-10-43-38.jsonl": 1,
    "irr-2-1_basic-turn--2026-06-11-23-03-13.jsonl": 1,
    "irr-2-20_user-esc-interrupt--2026-06-12-13-40-36.jsonl": 2,
    "irr-2-20_user-esc-interrupt--2026-06-13-14-33-04.jsonl": 2,
    "irr-2-21_streaming-partial-writes--2026-06-12-10-45-31.jsonl": 1,
    "irr-2-2_auto-executed-tool-call--2026-06-11-23-05-11.jsonl": 1,
    "irr-2-3_task-list--2026-06-12-14-32-07.jsonl": 1,
    "irr-2-3_task-list--2026-06-13-16-05-59.jsonl": 1,
    "irr-2-4_self-correction-iteration--2026-06-11-23-08-19.jsonl": 1,
    "irr-2-5_synchronous-slash-command--2026-06-11-23-08-59.jsonl": 1,
    "irr-2-7_autonomous-loop--2026-06-12-10-55-48.jsonl": 3,
    "irr-2-8_autonomous-loop-iteration-limit--2026-06-12-11-00-58.jsonl": 3,
    "irr-3-3_background-process--2026-06-12-13-37-12.jsonl": 1,
    "irr-4-1_multiple-sessions-same-cwd--2026-06-12-14-44-56.jsonl": 3,
    "irr-4-2_multiple-agents-same-workspace--2026-06-12-11-41-44.jsonl": 1,
    "irr-5-1_token-accounting--2026-06-11-23-40-20.jsonl": 3,
    "irr-5-2_model-identification--2026-06-11-23-46-53.jsonl": 1,
    "irr-5-3_model-switch-midsession--2026-06-12-11-11-59.jsonl": 2,
    "vct/gemini.jsonl": 2,
    "vct/legacy-session.json": 1,
}
"""How many prompts a person typed, as read by eye."""

WRITTEN_BY_THE_AGENT = ("session_context", "state_snapshot", "I ran the following", "System: Please continue")


@pytest.mark.parametrize("name", FILES)
def test_a_sample_has_the_prompts_that_were_typed(name: str) -> None:
    said = prompts(transcript(SOURCE, SAMPLES / "gemini" / name))
    assert len(said) == FILES[name]
    assert not [text for text in said if any(mark in text for mark in WRITTEN_BY_THE_AGENT)]


def test_every_sample_is_in_the_table() -> None:
    folder = SAMPLES / "gemini"
    found = {str(path.relative_to(folder)) for path in folder.rglob("*.json*")}
    assert {name for name in found if not name.startswith("current/")} == set(FILES)


def test_the_current_agents_sessions_come_out_with_their_prompts_and_the_write() -> None:
    folder = SAMPLES / "gemini/current/tmp/shop/chats"
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
    assert {entry.cwd for entry in first if isinstance(entry, Entry) and entry.origin is Origin.HUMAN} == {
        "/home/dev/shop"
    }
