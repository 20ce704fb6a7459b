from __future__ import annotations

from pathlib import Path

import pytest
from feeding import SAMPLES, memory_writes, newest, prompts, transcript, voided

from extractord.core.records import Origin
from extractord.core.transcripts.claude_code import SOURCE
from extractord.core.transcripts.claude_session import decode
from extractord.core.transcripts.claude_skimming import SILENT, skim

pytestmark = pytest.mark.skipif(not SAMPLES.exists(), reason="the shared samples are not beside the checkout")

FOLDER = SAMPLES / "claude"
FILES = {
    "as/large.jsonl": 4,
    "as/schema_drift.jsonl": 1,
    "as/small.jsonl": 1,
    "as/subagent/0a1b2c3d-4e5f-4061-8071-2a3b4c5d6e7f/subagents/agent-a0ad4f44468bdf20d.jsonl": 0,
    "as/subagent/0a1b2c3d-4e5f-4061-8071-2a3b4c5d6e7f.jsonl": 1,
    "av/truncated.jsonl": 1,
    "ccl/edge_cases.jsonl": 3,
    "ccl/representative_messages.jsonl": 4,
    "ccl/session_b.jsonl": 2,
    "ccl/todowrite_examples.jsonl": 2,
    "current/projects/-home-dev-shop/4c1ca625-3d7b-4f2a-b073-0a0c25c97dfc.jsonl": 5,
    "current/projects/-home-dev-shop/8e6e3f8f-af32-4591-ad6b-dc45177d5468.jsonl": 6,
    "current/projects/-home-dev-shop/a91b651c-374c-4f2c-8fa9-3f54b88ffe6f.jsonl": 1,
    "derived/all-wrapper-kinds.jsonl": 5,
    "derived/bg-fork/0f0f0f0f-aaaa-4bbb-8ccc-0123456789ab.jsonl": 4,
    "derived/blank-and-garbage-lines.jsonl": 1,
    "derived/bom.jsonl": 1,
    "derived/complete-json-no-newline.jsonl": 1,
    "derived/crlf.jsonl": 1,
    "derived/huge-line-1.5MB.jsonl": 1,
    "derived/invalid-utf8.jsonl": 1,
    "derived/lone-surrogate-escape.jsonl": 1,
    "derived/nul-block.jsonl": 1,
    "derived/partial-last-line.jsonl": 1,
    "derived/partial-mid-utf8.jsonl": 1,
    "derived/regrow-step1.jsonl": 1,
    "derived/regrow-step2.jsonl": 1,
    "derived/regrow-step3.jsonl": 1,
    "derived/rewind-then-compact.jsonl": 5,
    "irr-04-current-session-issue-102--2026-04-07-19-57-20.jsonl": 2,
    "irr-05-bug-c-orphan-toolresult--2026-03-16-12-07-28.jsonl": 0,
    "irr-07-tool-denial-and-esc-db57d2ab--2026-04-08-21-35-20.jsonl": 4,
    "irr-08-issue-114-stuck-working-a--2026-04-09-20-49-38.jsonl": 5,
    "irr-09-issue-114-stuck-working-b--2026-04-09-20-51-30.jsonl": 2,
    "irr-1-2_session-end--2026-05-17-23-43-08.jsonl": 3,
    "irr-1-5_session-reset--2026-05-17-01-19-23.jsonl": 2,
    "irr-1-5_session-reset--2026-05-17-01-28-47.jsonl": 2,
    "irr-1-6_checkpoint-rewind--2026-05-17-00-37-44.jsonl": 3,
    "irr-1-6_checkpoint-rewind--2026-05-17-00-45-25.jsonl": 3,
    "irr-10-full-lifecycle-839f0678--2026-04-11-11-52-09.jsonl": 3,
    "irr-13-full-lifecycle-continue-8a525d27--2026-04-11-20-52-54/subagents/agent-a0ecfa598b8d3e4cb.jsonl": 0,
    "irr-13-full-lifecycle-continue-8a525d27--2026-04-11-20-52-54/subagents/agent-a3788f20434910dfb.jsonl": 0,
    "irr-13-full-lifecycle-continue-8a525d27--2026-04-11-20-52-54/subagents/agent-a8c6b99a5471d404c.jsonl": 0,
    "irr-13-full-lifecycle-continue-8a525d27--2026-04-11-20-52-54/subagents/agent-a9df09b50d5f3ad98.jsonl": 0,
    "irr-13-full-lifecycle-continue-8a525d27--2026-04-11-20-52-54/subagents/agent-aa893b95554e698f9.jsonl": 0,
    "irr-13-full-lifecycle-continue-8a525d27--2026-04-11-20-52-54/subagents/agent-aaf3eed3bb8d10332.jsonl": 0,
    "irr-13-full-lifecycle-continue-8a525d27--2026-04-11-20-52-54/subagents/agent-ab5d816197e4bbfec.jsonl": 0,
    "irr-13-full-lifecycle-continue-8a525d27--2026-04-11-20-52-54/subagents/agent-abb993514b4da5e14.jsonl": 0,
    "irr-13-full-lifecycle-continue-8a525d27--2026-04-11-20-52-54/subagents/agent-ad5ac77d703f22b9f.jsonl": 0,
    "irr-13-full-lifecycle-continue-8a525d27--2026-04-11-20-52-54/subagents/agent-adafcd67f82b65a1f.jsonl": 0,
    "irr-13-full-lifecycle-continue-8a525d27--2026-04-11-20-52-54/subagents/agent-ae04f393030f3393b.jsonl": 0,
    "irr-13-full-lifecycle-continue-8a525d27--2026-04-11-20-52-54/subagents/agent-af7bf8be5a1b511e4.jsonl": 0,
    "irr-13-full-lifecycle-continue-8a525d27--2026-04-11-20-52-54.jsonl": 1,
    "irr-14-user-esc-interrupt-06f604ec--2026-04-11-22-30-11.jsonl": 1,
    "irr-15-permission-hooks-a845d6c4--2026-04-12-18-43-55.jsonl": 7,
    "irr-16-ask-user-question-issue-150--2026-04-12-18-52-20.jsonl": 46,
    "irr-17-issue-329-away-summary--2026-05-14-11-22-30.jsonl": 1,
    "irr-2-10_mid-turn-message-queued--2026-05-18-00-19-34.jsonl": 2,
    "irr-2-12_context-compaction--2026-05-18-00-35-15.jsonl": 2,
    "irr-2-14_turn-aborted-by-error--2026-05-22-15-49-22.jsonl": 2,
    "irr-2-15_shell-escape-command--2026-05-18-00-21-28.jsonl": 2,
    "irr-2-16_oversized-transcript-line--2026-05-18-00-49-36.jsonl": 1,
    "irr-2-17_user-blocking-question--2026-05-18-00-21-59.jsonl": 1,
    "irr-2-18_user-blocking-plan-mode-approval--2026-05-18-00-22-33.jsonl": 1,
    "irr-2-18_user-blocking-plan-mode-approval--2026-05-23-00-29-47.jsonl": 1,
    "irr-2-19_tool-gate-permission-prompt--2026-05-18-00-27-09.jsonl": 1,
    "irr-2-20_user-esc-interrupt--2026-05-19-00-11-42.jsonl": 1,
    "irr-2-2_auto-executed-tool-call--2026-05-18-00-15-12.jsonl": 1,
    "irr-2-4_self-correction-iteration--2026-05-18-00-16-32.jsonl": 1,
    "irr-2-6_long-agentic-session-stress--2026-05-19-00-10-11.jsonl": 4,
    "irr-2-7_autonomous-loop--2026-05-18-22-52-38.jsonl": 0,
    "irr-3-1_foreground-subagent--2026-05-18-00-29-04.jsonl": 1,
    "irr-3-2_background-subagent--2026-05-29-19-49-08.jsonl": 1,
    "irr-3-5_workflow-fanout--2026-06-05-23-21-12.jsonl": 1,
    "irr-5-4_architect-editor-pair--2026-05-29-23-33-27.jsonl": 1,
    "irr-agent-question-pending--2026-04-26-11-56-30.jsonl": 1,
    "irr-full-lifecycle-toolcall--2026-04-24-21-07-25.jsonl": 1,
    "irr-interrupted-turn--2026-05-01-13-12-17.jsonl": 2,
    "om/claude-transcript.jsonl": 4,
    "polylogue/normalization-agent.jsonl": 1,
    "polylogue/normalization-lineage-acompact.jsonl": 1,
    "polylogue/normalization-lineage-parent.jsonl": 1,
    "polylogue/normalization-lineage-subagent-acompact.jsonl": 0,
    "vct/claude_code.jsonl": 4,
}
"""How many prompts a person, or a program in a person's place, gave, as read by eye."""

DASHBOARD = (
    "Our error budget dashboard lives at grafana.example.net slash d slash shop, "
    "look there first when latency is discussed"
)
NEVER_TYPED = (
    "<command-",
    "<local-command",
    "<bash-",
    "<task-notification",
    "<system-reminder",
    "[Request interrupted",
    "Stop hook",
    "Caveat:",
    "Base directory for this skill",
    "This session is being continued",
)


def sample(name: str) -> Path:
    return FOLDER / name


@pytest.mark.parametrize("name", FILES)
def test_a_sample_has_the_prompts_that_were_typed(name: str) -> None:
    said = prompts(transcript(SOURCE, sample(name)))
    assert len(said) == FILES[name]
    assert not [text for text in said if any(mark in text for mark in NEVER_TYPED)]


def test_every_sample_is_in_the_table() -> None:
    found = {str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*.jsonl")} if FOLDER.exists() else set()
    assert found == set(FILES)


def test_the_derived_sessions_have_what_was_written_into_them() -> None:
    rewound = transcript(SOURCE, sample("derived/rewind-then-compact.jsonl"))
    assert prompts(rewound) == [
        "first prompt",
        "abandoned branch prompt",
        "prompt after rewind",
        "third prompt",
        "prompt after compaction",
    ]
    assert voided(rewound) == {"b1u", "b1a"}
    wrapped = transcript(SOURCE, sample("derived/all-wrapper-kinds.jsonl"))
    assert prompts(wrapped) == [
        'plain prompt <not a tag> & "quotes" \u2013 ünïcödé 🙂',
        "real prompt behind a reminder",
        "queued while busy",
        "prompt with image\n\n[image]",
        "prompt with IDE envelope",
    ]
    assert memory_writes(wrapped) == [
        ("/home/dev/memory/topics/a.md", True),
        ("/home/dev/memory/log.md", True),
        ("/home/dev/memory/topics/a.md", False),
    ]
    assert prompts(transcript(SOURCE, sample("derived/partial-mid-utf8.jsonl"))) == ["日本語のプロンプト"]


def test_the_current_agents_session_by_hand_has_one_rewind() -> None:
    folder = FOLDER / "current/projects/-home-dev-shop"
    (path,) = folder.glob("8e6e3f8f-*.jsonl")
    seen = transcript(SOURCE, path)
    entries = newest(seen)
    assert prompts(seen) == [
        "We deploy only on Tuesdays because the warehouse counts stock on Mondays. Please keep that in mind.",
        "ok thanks",
        "以后所有提交信息都用英文写",
        "No, not tabs: in this repository we indent with four spaces, the linter rejects tabs",
        "In this repository we indent with two spaces, since the designers' tools write them",
        DASHBOARD,
    ]
    assert [entries[ident].text[:12] for ident in sorted(voided(seen), key=list(entries).index)] == [
        "No, not tabs",
        "Noted: No, n",
    ]
    assert {each.origin for each in entries.values() if each.text in prompts(seen)} == {Origin.HUMAN}
    assert sum(each.turn_end for each in entries.values()) == 7


def test_the_current_agents_headless_session_writes_its_own_memory() -> None:
    folder = FOLDER / "current/projects/-home-dev-shop"
    (path,) = folder.glob("4c1ca625-*.jsonl")
    entries = newest(transcript(SOURCE, path)).values()
    assert {each.origin for each in entries if each.role == "user"} == {Origin.HEADLESS}
    assert [(call.name, call.paths, call.ok) for each in entries for call in each.calls if call.writes] == [
        ("Write", ("/home/dev/.claude/projects/-home-dev-shop/memory/deploy-day.md",), True)
    ]


def test_skimming_finds_what_reading_finds() -> None:
    skimmed = 0
    for path in FOLDER.rglob("*.jsonl"):
        for raw in path.read_bytes().split(b"\n"):
            found = skim(raw)
            if found is None:
                continue
            row = decode(raw)
            assert row is not None
            skimmed += 1
            if found[0] is None:
                assert row.type in SILENT
                assert row.uuid is None
            else:
                assert (row.uuid, row.parent, row.type) == (*found, "attachment")
    assert skimmed > 500
