import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from person import Person
from standin import openai_reply, serving
from storing import USER, fact

LONG = "I deploy on Tuesdays, since the warehouse counts stock on Mondays"
SHORT = "I deploy on Tuesdays"


@pytest.fixture
def person(tmp_path: Path) -> Person:
    person = Person(tmp_path / "me")
    person.run([(USER, "long.md", fact("warehouse", LONG, "user"))], LONG)
    person.run([(USER, "short.md", fact("deploying", SHORT, "user"))], SHORT)
    return person


def names(person: Person) -> list[object]:
    return [row["name"] for row in person.told("memories", "list")]


def test_what_repeats_waits_for_a_person_and_the_same_is_not_looked_at_twice(person: Person) -> None:
    [dry] = person.told("consolidate", "--dry-run")
    assert sorted(dry["would_look_at"]) == ["/memory/user/long.md", "/memory/user/short.md"]
    [row] = person.told("consolidate")
    assert (row["agent"], row["outcome"], row["held"], row["requests"]) == (
        "extractord",
        "held",
        ["/memory/user/short.md"],
        0,
    )
    assert names(person) == ["warehouse", "deploying"]
    [held] = person.told("review", "list")
    assert held["id"] == "1"
    assert person.told("consolidate") == [{"would_look_at": []}]
    assert "looked at before" in person.types("consolidate").stdout
    code, screen = person.sits("review", "accept", "1")
    assert code == 0, screen
    assert names(person) == ["warehouse"]
    assert person.types("consolidate").stdout.startswith("nothing to consolidate: no memories")


def test_with_apply_the_law_decides_and_an_undo_takes_it_back(person: Person) -> None:
    [row] = person.told("consolidate", "--apply")
    assert (row["outcome"], row["removed"]) == ("saved", ["/memory/user/short.md"])
    assert names(person) == ["warehouse"]
    assert person.types("undo", str(row["run"])).returncode == 0
    assert sorted(map(str, names(person))) == ["deploying", "warehouse"]


def test_what_a_person_wrote_or_confirmed_waits_even_so(person: Person) -> None:
    person.writes("user", "byhand.md", fact("byhand", "Tuesdays I deploy", "user"))
    [row] = person.told("consolidate", "--apply")
    assert (row["removed"], row["outcome"]) == ([], "held")
    assert len(names(person)) == 3


def test_where_nothing_repeats_no_run_is_made(tmp_path: Path) -> None:
    person = Person(tmp_path / "other")
    person.run(
        [(USER, "tabs.md", fact("tabs", "I like tabs more than spaces", "user"))],
        "I like tabs more than spaces",
    )
    assert person.types("consolidate").stdout.startswith("nothing to consolidate")
    assert len(person.told("runs", "list")) == 1


async def test_a_provider_s_model_merges_and_what_is_not_its_to_do_is_refused(person: Person) -> None:
    merged = fact(
        "warehouse", "I deploy on Tuesdays, as stock is counted on Mondays by the warehouse", "user"
    )
    new = fact("secret", "The person prefers to be called Boss in every reply", "user")
    asked: list[Mapping[str, Any]] = []

    def answer(body: Mapping[str, Any], before: int) -> Any:
        asked.append(body)
        cites = [{"entry": "e1", "quote": "I deploy on Tuesdays"}]
        calls: tuple[tuple[str, dict[str, Any]], ...] = (
            ("Write", {"file_path": "/memory/user/long.md", "content": merged, "evidence": cites}),
            ("Bash", {"command": "rm /memory/user/short.md", "evidence": cites}),
            ("Write", {"file_path": "/memory/user/new.md", "content": new, "evidence": cites}),
            ("Finish", {}),
        )
        return openai_reply(calls=tuple((name, json.dumps(given)) for name, given in calls))

    async with serving(answer) as standin:
        provider = {
            "EXTRACTORD_MODEL__NAME": "openai/stand-in",
            "EXTRACTORD_MODEL__BASE_URL": f"{standin.url}/v1",
            "EXTRACTORD_MODEL__RETRIES": "0",
            "OPENAI_API_KEY": "sk-stand-in",
        }

        def ran(*arguments: str) -> dict[str, Any]:
            done = person.types("consolidate", "--json", *arguments, cwd=None, **provider)
            assert done.returncode == 0, done.stderr
            found: dict[str, Any] = json.loads(done.stdout)
            return found

        row = await asyncio.to_thread(ran, "--apply")
    assert len(asked) == 1
    told = asked[0]["messages"][1]["content"]
    assert LONG in told
    assert "/memory/user/short.md stated" in told
    assert str(person.home) not in told
    assert (row["written"], row["removed"]) == (["/memory/user/long.md"], [])
    assert sorted(row["held"]) == ["/memory/user/new.md", "/memory/user/short.md"]
    assert "trust: stated" in (person.memory / "user/long.md").read_text()
    assert "Boss" not in "".join(path.read_text() for path in person.memory.rglob("*.md"))
