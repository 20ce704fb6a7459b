"""What is told to an agent, and what it repeats of that, never comes back as a memory."""

import asyncio
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from claude_transcript import Session
from person import Person
from standin import openai_reply, serving
from storing import fact

FACTS = ("Deploys happen on Tuesdays only", "The warehouse counts stock on Mondays")
_ENTRY = re.compile(r"^\[(e\d+) (?!user|headless)[^\]\n]*\]\n(.*?)(?=^\[e\d+ |\Z)", re.MULTILINE | re.DOTALL)
ROUNDS, SESSIONS = 2, 50


def greedy(body: Mapping[str, Any], before: int) -> Any:
    """A model that writes down every fact that anything but a prompt says, wherever it can be."""
    calls: list[tuple[str, dict[str, Any]]] = [("Finish", {})]
    for label, text in _ENTRY.findall(body["messages"][1]["content"]):
        for number, words in enumerate(FACTS):
            if words in text:
                for root in ("user", "project"):
                    path = f"/memory/{root}/{label}-{number}.md"
                    cited = [{"entry": label, "quote": words}]
                    content = fact(f"{label}-{number}", words, root)
                    calls.insert(0, ("Write", {"file_path": path, "content": content, "evidence": cited}))
    return openai_reply(calls=tuple((name, json.dumps(given)) for name, given in calls))


@pytest.fixture
def person(tmp_path: Path) -> Person:
    return Person(tmp_path / "me")


async def test_in_a_hundred_sessions_nothing_that_was_injected_comes_back(person: Person) -> None:
    [context] = person.told("context", "--project", str(person.shop))
    root = f"projects/{context['project']}"
    for number, words in enumerate(FACTS):
        person.writes((root, "user")[number], f"fact-{number}.md", fact(f"fact-{number}", words))
    before = sorted(str(path) for path in person.memory.rglob("*.md") if path.name != "MEMORY.md")
    asked: list[Mapping[str, Any]] = []

    def answer(body: Mapping[str, Any], nth: int) -> Any:
        asked.append(body)
        return greedy(body, nth)

    async with serving(answer) as standin:
        provider = {
            "EXTRACTORD_MODEL__NAME": "openai/stand-in",
            "EXTRACTORD_MODEL__BASE_URL": f"{standin.url}/v1",
            "EXTRACTORD_MODEL__RETRIES": "0",
            "OPENAI_API_KEY": "sk-stand-in",
        }
        for nth in range(ROUNDS):
            hook = person.types("context", "--format", "hook", "--agent", "claude-code", cwd=person.shop)
            block = json.loads(hook.stdout)["hookSpecificOutput"]["additionalContext"]
            assert all(words in block for words in FACTS)
            for number in range(SESSIONS):
                _session(person, f"{nth}-{number}", block)
            done = await asyncio.to_thread(
                person.types, "extract", "--json", str(person.home / ".claude"), cwd=None, **provider
            )
            assert done.returncode == 0, done.stderr
            *runs, summary = map(json.loads, done.stdout.splitlines())
            assert (len(runs), summary["runs"]) == (SESSIONS, SESSIONS)
            assert [(run["written"], run["held"]) for run in runs] == [([], [])] * SESSIONS
            assert all(run["denied"] for run in runs)
    assert len(asked) >= ROUNDS * SESSIONS
    assert sorted(str(path) for path in person.memory.rglob("*.md") if path.name != "MEMORY.md") == before
    assert person.told("review", "list") == []


def _session(person: Person, name: str, block: str) -> None:
    memory = person.memory / "user/fact-1.md"
    session = Session(person.home, name, person.shop)
    session.told(block)
    session.asks("Please tell me how we work around here")
    session.uses("mcp__extractord__memory_search", block, words="deploys")
    session.uses("Read", memory.read_text(), file_path=str(memory))
    session.uses("Bash", f"user/fact-1.md  (inferred)\n  {FACTS[1]}", command="extractord search stock")
    session.says(f"From earlier sessions I know this.\n\n{FACTS[0]}.\n\n{FACTS[1]}.")
    session.asks("Good, go on like this please")
    session.says(f"I will. {FACTS[0]}.")
