# ruff: noqa: E501 - the names of files
from __future__ import annotations

from pathlib import Path

import pytest
from feeding import SAMPLES, memory_writes, newest, prompts, transcript, voided

from extractord.core.records import Entry, Origin, Voided
from extractord.core.transcripts.codex import SOURCE

pytestmark = pytest.mark.skipif(not SAMPLES.exists(), reason="the shared samples are not beside the checkout")

FOLDER = SAMPLES / "codex"
TODAY = FOLDER / "current/sessions/2026/11/30"
FILES = {
    "as/codex_050_legacy.jsonl": 0,
    "as/codex_051_usage.jsonl": 0,
    "as/codex_052_raw.jsonl": 0,
    "as/large.jsonl": 6,
    "as/schema_drift.jsonl": 1,
    "as/session_branch.jsonl": 1,
    "as/session_simple.jsonl": 1,
    "av/fc_args_1.jsonl": 1,
    "av/fc_stdin.jsonl": 1,
    "av/standard_session.jsonl": 1,
    "av-traex/rollout_subagent.jsonl": 0,
    "current/sessions/2026/11/30/rollout-2026-11-30T11-55-43-01a22c4f-9971-70e2-b009-db9ad2ba75d3.jsonl": 5,
    "current/sessions/2026/11/30/rollout-2026-11-30T11-55-45-01a22c4f-9efb-7f11-86ef-689927e5b780.jsonl": 1,
    "current/sessions/2026/11/30/rollout-2026-11-30T12-03-21-01a22c56-9422-75d2-b27c-957cf3fc273b.jsonl": 3,
    "current/sessions/2026/11/30/rollout-2026-11-30T12-03-44-01a22c56-9422-75d2-b27c-957cf3fc273b_01a22c56-edbd-7c21-91e8-e6111b2aeb61.jsonl": 2,
    "derived/1-6_-split/sessions/2026/05/29/rollout-2026-05-29T20-53-02-019e7583-0b33-7912-a209-4c0407cfa243.jsonl": 2,
    "derived/1-6_-split/sessions/2026/05/29/rollout-2026-05-29T20-54-26-019e7584-5201-7901-b1e7-a3f0c990c12f.jsonl": 1,
    "derived/fork-split/sessions/2026/05/23/rollout-2026-05-23T18-24-45-019e5615-1ef8-7270-b988-4f52f86449a4.jsonl": 2,
    "derived/fork-split/sessions/2026/05/23/rollout-2026-05-23T18-25-15-019e5615-9632-7740-b2cf-3061e4ff06e2.jsonl": 1,
    "derived/memory-writes-and-rollback.jsonl": 1,
    "derived/partial-last-line.jsonl": 1,
    "derived/zst/rollout-2026-04-26T11-29-15-cold.jsonl": 1,
    "irr-02-flicker-start-session--2026-04-08-22-26-35.jsonl": 4,
    "irr-1-5_session-reset--2026-05-23-19-21-40.jsonl": 1,
    "irr-1-6_checkpoint-rewind--2026-05-29-22-53-06.jsonl": 3,
    "irr-2-10_mid-turn-message-queued--2026-05-23-22-06-09.jsonl": 2,
    "irr-2-13_turn-end-terminal-text--2026-08-18-00-42-27.jsonl": 1,
    "irr-2-15_shell-escape-command--2026-05-23-22-23-45.jsonl": 1,
    "irr-2-17_user-blocking-question--2026-05-23-22-12-50.jsonl": 2,
    "irr-2-18_user-blocking-plan-mode-approval--2026-05-23-22-33-16.jsonl": 2,
    "irr-2-19_tool-gate-permission-prompt--2026-08-18-00-40-25.jsonl": 1,
    "irr-2-20_interrupted-turn--2026-05-14-23-36-59.jsonl": 2,
    "irr-2-20_interrupted-turn--2026-05-16-18-49-32.jsonl": 2,
    "irr-2-20_interrupted-turn--2026-05-16-22-56-57.jsonl": 2,
    "irr-2-2_auto-executed-tool-call--2026-05-23-22-48-46.jsonl": 1,
    "irr-2-6_long-agentic-session-stress--2026-05-23-23-03-45.jsonl": 1,
    "irr-5-4_architect-editor-pair--2026-05-31-01-10-46.jsonl": 3,
    "irr-baseline-hello--2026-04-26-11-28-57.jsonl": 1,
    "irr-fork-conversation--2026-05-23-19-39-41.jsonl": 2,
    "irr-proposed-plan-pending--2026-05-12-19-31-54.jsonl": 1,
    "om/codex-transcript.jsonl": 3,
    "vct/codex.jsonl": 1,
}
"""How many prompts a person, or a program in a person's place, gave, as read by eye."""

NEVER_TYPED = (
    "<environment_context",
    "# AGENTS.md",
    "<turn_aborted",
    "<user_shell_command",
    "<permissions",
    "<INSTR",
)


@pytest.mark.parametrize("name", FILES)
def test_a_sample_has_the_prompts_that_were_typed(name: str) -> None:
    said = prompts(transcript(SOURCE, FOLDER / name))
    assert len(said) == FILES[name]
    assert not [text for text in said if any(mark in text for mark in NEVER_TYPED)]


def test_every_sample_is_in_the_table() -> None:
    assert {str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*.jsonl")} == set(FILES)


def folded(paths: list[Path]) -> dict[str, Entry]:
    """Several files of threads, in the order of their names, with what rewinds void."""
    entries: dict[str, Entry] = {}
    place: dict[str, Path] = {}
    dead: set[str] = set()
    for path in paths:
        for each in transcript(SOURCE, path):
            match each:
                case Entry():
                    entries[each.id] = each
                    place[each.id] = path
                case Voided(from_ordinal=None):
                    dead.update(each.ids)
                case Voided(session=session, from_ordinal=start):
                    dead.update(
                        entry.id
                        for entry in entries.values()
                        if entry.session == session
                        and place[entry.id] != path
                        and (entry.ordinal or 0) >= (start or 0)
                    )
    return {ident: entry for ident, entry in entries.items() if ident not in dead} | {
        f"dead {ident}": entries[ident] for ident in dead
    }


def test_the_current_agents_folder_has_eleven_prompts_one_of_them_dead() -> None:
    entries = folded(sorted(TODAY.iterdir()))
    said = [(key.startswith("dead"), each) for key, each in entries.items() if each.role == "user"]
    assert len(said) == 11
    assert [each.text for is_dead, each in said if is_dead] == [
        "No, not tabs: in this repository we indent with four spaces, the linter rejects tabs"
    ]
    assert sum(each.origin is Origin.HUMAN for _, each in said) == 5
    assert sum(each.origin is Origin.HEADLESS for _, each in said) == 6
    writes = [write for path in TODAY.iterdir() for write in memory_writes(transcript(SOURCE, path))]
    assert writes == [("/home/dev/memory/deploy-day.md", True)]


def test_the_derived_session_has_three_writes_and_a_rollback() -> None:
    seen = transcript(SOURCE, FOLDER / "derived/memory-writes-and-rollback.jsonl")
    assert prompts(seen) == ["remember that I like tabs"]
    assert [path for path, _ in memory_writes(seen)] == [
        "/home/dev/memory/prefs.md",
        "/home/dev/memory/log.md",
        "/home/dev/memory/notes.md",
    ]
    assert {each.id for each in newest(seen).values() if each.text == "remember that I like tabs"} <= voided(
        seen
    )


@pytest.mark.parametrize("name", ["1-6_-split", "fork-split"])
def test_a_fork_has_only_its_own_prompt_and_the_ids_of_its_original(name: str) -> None:
    first, second = sorted((FOLDER / "derived" / name).rglob("*.jsonl"))
    original, fork = newest(transcript(SOURCE, first)), newest(transcript(SOURCE, second))
    assert [each.text for each in fork.values() if each.origin is Origin.HUMAN] == [
        "Reply with exactly the word: three"
    ]
    copies = {ident for ident, each in fork.items() if each.origin is Origin.COPIED}
    assert copies <= set(original)
    assert {ident for ident, each in original.items() if each.origin is Origin.HUMAN} <= copies
