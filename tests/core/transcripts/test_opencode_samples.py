from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from feeding import SAMPLES, fed, line, memory_writes, newest, prompts, reader, voided

from extractord.core.records import Entry, Origin, Seen
from extractord.core.transcripts.opencode import SOURCE
from extractord.core.transcripts.opencode_rows import ROWS, TREE
from extractord.edges.tables import Tables
from extractord.edges.trees import joined

pytestmark = pytest.mark.skipif(not SAMPLES.exists(), reason="the shared samples are not beside the checkout")

DUMPS = {
    "irr-1-4_session-resume--2026-05-23-13-11-09.jsonl": 2,
    "irr-2-10_mid-turn-message-queued--2026-05-27-06-29-43.jsonl": 2,
    "irr-2-14_turn-aborted-by-error--2026-05-28-00-32-48.jsonl": 1,
    "irr-2-2_auto-executed-tool-call--2026-05-26-00-12-56.jsonl": 1,
    "irr-2-3_task-list--2026-05-26-21-19-02.jsonl": 1,
    "irr-2-4_self-correction-iteration--2026-05-26-00-19-22.jsonl": 1,
    "irr-2-6_long-agentic-session-stress--2026-05-27-07-20-36.jsonl": 6,
    "irr-baseline-hello--0000-00-00-00.jsonl": 1,
}
"""How many prompts a person typed, as read by eye; real parts, without their messages."""


def database(name: str, folder: Path) -> dict[str, list[Seen]]:
    """What each session of a copy of a sample database gives."""
    for path in (SAMPLES / "opencode" / name).parent.iterdir():
        shutil.copy(path, folder)
    tables = Tables(str(folder / "opencode.db"), ROWS, str(folder / "ours"))
    to = reader(SOURCE)
    return {session: fed(to, *tables.records(session)) for session, _ in tables.touched(0)}


def test_the_derived_sessions_have_what_was_written_into_them(tmp_path: Path) -> None:
    sessions = database("derived/opencode.db", tmp_path)
    seen = [each for one in sessions.values() for each in one]
    assert prompts(seen) == ["write a note", "kept prompt", "reverted prompt"]
    assert voided(seen) == {"msg_c3"}
    assert memory_writes(seen) == [("/home/dev/memory/o.md", True)]
    assert [entry.origin for entry in sessions["ses_b"] if isinstance(entry, Entry)] == [Origin.SUBAGENT]
    assert newest(seen)["msg_4"].origin is Origin.RECALLED


def test_the_current_agents_sessions_come_out_with_their_prompts_and_the_write(tmp_path: Path) -> None:
    first, second = database("current/opencode.db", tmp_path).values()
    assert [text.partition(" :: ")[0] for text in prompts(first)] == [
        "We deploy only on Tuesdays because the warehouse counts stock on Mondays. Please keep that in mind.",
        "run: printf 'two words\\n' && ls -la",
        "ok thanks",
        "write: /home/dev/memory/deploy-day.md",
        "以后所有提交信息都用英文写",
    ]
    assert prompts(second) == ["I prefer short answers without a summary at the end"]
    assert memory_writes(first) == [("/home/dev/memory/deploy-day.md", True)]
    assert sum(entry.turn_end for entry in newest(first).values()) == 5


@pytest.mark.parametrize(
    ("session", "said"), [("s_stage0_small", ["Hello"]), ("s_stage0_large", ["Step 1", "Step 2"])]
)
def test_the_old_trees_sessions_have_the_prompts_that_were_typed(
    tmp_path: Path, session: str, said: list[str]
) -> None:
    shutil.copytree(SAMPLES / "opencode/as/storage_v2", tmp_path / "storage", copy_function=shutil.copyfile)
    for folder in tmp_path.rglob("*/"):
        folder.chmod(0o700)
    path = tmp_path / "storage" / "session" / "prj" / f"{session}.json"
    path.parent.mkdir(parents=True)
    path.write_bytes(line({"id": session, "projectID": "prj", "directory": "/home/dev/shop"}))
    seen = fed(reader(SOURCE), joined(str(path), TREE))
    assert prompts(seen) == said


@pytest.mark.parametrize("name", DUMPS)
def test_real_parts_have_the_prompts_that_were_typed(name: str) -> None:
    to = reader(SOURCE)
    seen = fed(to, {"kind": "session", "id": "ses_1", "data": "[]"})
    with (SAMPLES / "opencode-rowdump" / name).open(encoding="utf-8") as dump:
        for nth, part in enumerate(map(json.loads, dump)):
            stored = json.dumps([{"id": f"prt_{nth:04}", "data": json.dumps(part)}])
            data = json.dumps({"role": part["_role"], "time": {"created": part["_ts"]}})
            seen += fed(to, line({"kind": "message", "id": f"msg_{nth:04}", "data": data, "parts": stored}))
    said = prompts(seen)
    assert len(said) == DUMPS[name]
    assert not [text for text in said if text.startswith('"')]
    assert set(to.unknown) == set()
