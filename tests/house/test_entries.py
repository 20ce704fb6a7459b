from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from warm import typed

NEVER_READ = "x" * (17 * 1024 * 1024)


def asked(*arguments: str, home: Path) -> subprocess.CompletedProcess[str]:
    return typed(
        ["entries", *arguments], {**os.environ, "HOME": str(home), "NO_COLOR": "1", "COLUMNS": "200"}
    )


def rows(*arguments: str, home: Path) -> list[dict[str, Any]]:
    done = asked(*arguments, "--json", home=home)
    assert (done.returncode, done.stderr) == (0, "")
    return [json.loads(each) for each in done.stdout.splitlines()]


def record(uuid: str, parent: str | None, session: str, **fields: Any) -> str:
    """A line as Claude Code writes it."""
    return json.dumps({
        "type": "user", "uuid": uuid, "parentUuid": parent, "sessionId": session, "cwd": "/home/dev/shop",
        "gitBranch": "main", "version": "2.1.0", "timestamp": "2026-11-30T10:00:00.000Z",
        "userType": "external", "isSidechain": False, **fields,
    }) + "\n"  # fmt: skip


def prompt(uuid: str, parent: str | None, text: str, session: str = "s1", **fields: Any) -> str:
    return record(uuid, parent, session, message={"role": "user", "content": text}, **fields)


def answer(uuid: str, parent: str, session: str = "s1", **fields: Any) -> str:
    content = [{"type": "tool_use", "id": "t", "name": "Write", "input": {"file_path": "../memory/a.md"}}]
    message = {
        "id": f"m-{uuid}",
        "role": "assistant",
        "model": "x",
        "content": content,
        "stop_reason": "tool_use",
    }
    return record(uuid, parent, session, type="assistant", message=message, **fields)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    project = tmp_path / ".claude" / "projects" / "-home-dev-shop"
    project.mkdir(parents=True)
    whole = prompt("u1", None, "we deploy on tuesdays") + answer("u2", "u1")
    (project / "s1.jsonl").write_text(whole + prompt("u3", "u2", "the last line has no newline")[:-1])
    return project


def test_an_entry_has_exactly_the_fields_that_scripts_rely_on(project: Path) -> None:
    found = rows(str(project / "s1.jsonl"), home=project.parents[2])
    assert found[0] == {
        "id": "u1",
        "parent": None,
        "session": "s1",
        "agent": "claude-code",
        "role": "user",
        "origin": "human",
        "text": "we deploy on tuesdays",
        "calls": [],
        "time": "2026-11-30T10:00:00Z",
        "cwd": "/home/dev/shop",
        "branch": "main",
        "turn_end": False,
        "active": True,
    }
    assert found[1]["calls"] == [
        {"name": "Write", "paths": ["/home/dev/memory/a.md"], "writes": True, "ok": None}
    ]
    assert found[2]["text"] == "the last line has no newline"


def test_the_agent_is_known_by_place_or_by_content_and_else_has_to_be_named(project: Path) -> None:
    home = project.parents[2]
    aside = home / "aside.jsonl"
    aside.write_bytes((project / "s1.jsonl").read_bytes())
    assert rows(str(aside), home=home) == rows(str(project), home=home)
    aside.write_text("[1, 2]\n")
    done = asked(str(aside), home=home)
    assert done.returncode == 1
    assert "--agent" in done.stderr
    done = asked(str(aside), "--agent", "nobody", home=home)
    assert done.returncode == 2
    assert "claude-code" in done.stderr


@pytest.mark.parametrize("where", ["missing", "empty"])
def test_where_no_transcript_is_it_says_so(tmp_path: Path, where: str) -> None:
    (tmp_path / "empty").mkdir()
    done = asked(str(tmp_path / where), "--json", home=tmp_path)
    assert done.returncode == 1
    assert where in done.stderr
    assert done.stdout == ""


def test_a_prompt_that_another_session_had_first_is_copied(project: Path) -> None:
    late = {"timestamp": "2026-11-30T11:00:00.000Z"}
    (project / "a-fork.jsonl").write_text(
        prompt("u1", None, "we deploy on tuesdays", "fork", **late)
        + prompt("f2", "u1", "new here", "fork", **late)
    )
    found = rows(str(project), home=project.parents[2])
    assert {(row["session"], row["id"]): row["origin"] for row in found if row["role"] == "user"} == {
        ("fork", "u1"): "copied",
        ("fork", "f2"): "human",
        ("s1", "u1"): "human",
        ("s1", "u3"): "human",
    }


def test_a_rewind_leaves_what_it_abandoned_inactive(project: Path) -> None:
    with (project / "s1.jsonl").open("a") as file:
        file.write("\n" + prompt("u4", "u2", "said instead of it"))
    found = rows(str(project), home=project.parents[2])
    assert {row["id"]: row["active"] for row in found} == {"u1": True, "u2": True, "u3": False, "u4": True}


def test_a_session_in_two_files_is_listed_once(project: Path) -> None:
    whole = (project / "s1.jsonl").read_bytes()
    (project / "copy.jsonl").write_bytes(whole)
    assert len(rows(str(project), home=project.parents[2])) == 3


def test_people_get_a_table_and_a_diagnosis(project: Path) -> None:
    with (project / "s1.jsonl").open("a") as file:
        file.write('\n{"type": "never-heard-of", "sessionId": "s1"}\n' + NEVER_READ + "\n")
    shown = asked(str(project), home=project.parents[2])
    assert shown.returncode == 0
    assert "we deploy on tuesdays" in shown.stdout
    shown = asked(str(project), "--diagnose", home=project.parents[2])
    for part in ("user/human", "never-heard-of", "2.1.0", "skipped"):
        assert part in shown.stdout
    (diagnosis,) = rows(str(project), "--diagnose", home=project.parents[2])
    assert diagnosis == {
        "path": str(project / "s1.jsonl"),
        "agent": "claude-code",
        "versions": ["2.1.0"],
        "sessions": ["s1"],
        "entries": {"user/human": 2, "assistant/synthetic": 1},
        "inactive": 0,
        "unknown": {"never-heard-of": 1},
        "skipped": 1,
        "hint": "",
    }


def test_a_transcript_in_which_much_looks_like_prompts_and_nothing_is_one_is_told(project: Path) -> None:
    changed = "".join(record(f"u{nth}", None, "s1", version="3.0.0", body="hello") for nth in range(6))
    (project / "s1.jsonl").write_text(changed)
    said = "format may have changed: 6 records look like prompts, none is one (claude-code, 3.0.0)"
    assert said in asked(str(project), "--diagnose", home=project.parents[2]).stdout
    (diagnosis,) = rows(str(project), "--diagnose", home=project.parents[2])
    assert diagnosis["hint"] == said


def test_what_cannot_be_read_is_named_and_the_others_go_on(project: Path) -> None:
    sessions = project.parents[2] / ".codex" / "sessions" / "2026" / "11" / "30"
    sessions.mkdir(parents=True)
    name = "rollout-2026-11-30T10-00-00-01a22c4f-9971-70e2-b009-db9ad2ba75d3.jsonl.zst"
    (sessions / name).write_bytes(b"rubbish")
    done = asked(str(project.parents[2]), "--json", home=project.parents[2])
    assert done.returncode == 1
    assert name in done.stderr
    assert len(done.stdout.splitlines()) == 3
