"""What was forgotten stays away: read again in full, through a fork, after the ledger was lost."""

import json
from pathlib import Path

import pytest
from person import Person

EXAMPLE = Path(__file__).parents[2] / "docs/example/claude-code/projects/-home-dev-shop"


@pytest.fixture
def person(tmp_path: Path) -> Person:
    """The example's memories, one of them forgotten."""
    made = Person(tmp_path / "me")
    assert made.types("extract", str(EXAMPLE)).returncode == 0
    return made


def paths(person: Person) -> set[str]:
    return {f"{row['root']}/{row['path']}" for row in person.told("memories", "list")}


def lose_the_ledger(person: Person) -> None:
    for file in person.state.glob("ledger.db*"):
        file.unlink()


def fork(person: Person) -> Path:
    """The same sessions under other ids, every entry with another id too."""
    copies = person.home / "fork"
    copies.mkdir()
    for number, file in enumerate(sorted(EXAMPLE.glob("*.jsonl"))):
        session = f"ffffffff-0000-4000-8000-{number:012d}"
        lines = []
        for line in file.read_text().splitlines():
            record = json.loads(line)
            record = {**record, "sessionId": session}
            for key in ("uuid", "parentUuid"):
                if record.get(key):
                    record[key] = "f" + str(record[key])[1:]
            lines.append(json.dumps(record))
        (copies / f"{session}.jsonl").write_text("\n".join(lines) + "\n")
    return copies


def test_a_forgotten_fact_stays_gone_from_a_fork_and_after_the_ledger_was_lost(person: Person) -> None:
    before = paths(person)
    forgotten = min(before)
    person.types("memories", "forget", forgotten)
    assert paths(person) == before - {forgotten}
    person.types("extract", str(fork(person)))
    assert forgotten not in paths(person)
    lose_the_ledger(person)
    runs = person.types("extract", str(EXAMPLE), "--json")
    assert json.loads(runs.stdout.splitlines()[-1])["runs"] > 0, "it was read again"
    assert forgotten not in paths(person)
    assert before - {forgotten} <= paths(person)


def test_without_forgetting_a_lost_ledger_adds_nothing_twice(person: Person) -> None:
    before = paths(person)
    lose_the_ledger(person)
    person.types("extract", str(EXAMPLE))
    person.types("extract", str(fork(person)))
    assert paths(person) == before


def test_files_that_are_gone_at_once_are_forgotten_by_command(person: Person) -> None:
    before = paths(person)
    for place in before:
        (person.memory / place).unlink()
    for place in before:
        assert person.types("memories", "forget", place).returncode == 0
    lose_the_ledger(person)
    person.types("extract", str(EXAMPLE))
    assert paths(person) == set()
