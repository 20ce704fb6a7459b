from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from person import Person
from warm import typed

FACT = "---\nname: pager\ndescription: The pager is in the binder\nmetadata:\n  type: user\n---\nIt is.\n"


@pytest.fixture
def person(tmp_path: Path) -> Person:
    found = Person(tmp_path / "me")
    found.writes("user", "pager.md", FACT)
    return found


def asked(person: Person, agent: str, told: object = None, **more: str) -> subprocess.CompletedProcess[str]:
    words = told if isinstance(told, str) else json.dumps(told or {})
    return typed(
        ["context", "--format", "hook", "--agent", agent], person.environ(**more), person.shop, words.encode()
    )


@pytest.mark.parametrize("agent", ["claude-code", "codex", "gemini-cli"])
def test_a_hook_is_answered_in_its_form(person: Person, agent: str) -> None:
    said = json.loads(asked(person, agent).stdout)["hookSpecificOutput"]
    assert said["hookEventName"] == "SessionStart"
    assert said["additionalContext"] == person.types("context", cwd=person.shop).stdout


def test_where_each_prompt_asks_the_first_is_answered(person: Person, tmp_path: Path) -> None:
    transcript = tmp_path / "session.jsonl"
    told = {"hook_event_name": "UserPromptSubmit", "transcript_path": str(transcript)}
    said = json.loads(asked(person, "qwen-code", told).stdout)["hookSpecificOutput"]
    assert said["hookEventName"] == "UserPromptSubmit"
    transcript.write_text('{"type": "system"}\nrubbish\n')
    assert "binder" in asked(person, "qwen-code", told).stdout
    transcript.write_text('{"type": "system"}\n{"type": "user"}\n')
    again = asked(person, "qwen-code", told)
    assert (again.returncode, again.stdout, again.stderr) == (0, "", "")


@pytest.mark.parametrize(("agent", "told"), [("claude-code", None), ("qwen-code", "no JSON")])
def test_what_goes_wrong_is_a_line_and_no_more(person: Person, agent: str, told: object) -> None:
    (person.home / "config.toml").write_text("nonsense = 1\nmore = 2\n" if told is None else "")
    broken = asked(person, agent, told)
    assert (broken.returncode, broken.stdout) == (0, "")
    assert broken.stderr.startswith("extractord: no memories this time: ")
    assert broken.stderr.count("\n") == 1


def test_where_nothing_is_kept_nothing_is_said(tmp_path: Path) -> None:
    empty = asked(Person(tmp_path / "new"), "claude-code")
    assert (empty.returncode, empty.stdout, empty.stderr) == (0, "", "")
