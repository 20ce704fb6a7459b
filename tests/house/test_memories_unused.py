from pathlib import Path

import pytest
from claude_transcript import Session
from person import Person
from storing import fact


@pytest.fixture
def person(tmp_path: Path) -> Person:
    return Person(tmp_path / "me")


def unused(person: Person) -> dict[str, object]:
    return {
        f"{row['root']}/{row['path']}": row["sessions"] for row in person.told("memories", "list", "--unused")
    }


def test_what_agents_open_is_counted_and_what_they_never_open_is_listed(person: Person) -> None:
    [context] = person.told("context", "--project", str(person.shop))
    root = f"projects/{context['project']}"
    for name in ("read", "catted", "asked", "never", "indexed"):
        person.writes(root if name == "asked" else "user", f"{name}.md", fact(name, f"Something on {name}"))
    memory = person.memory
    assert unused(person) == {}
    for number in range(3):
        session = Session(person.home, f"session-{number}", person.shop)
        session.asks("What do you know about how we work here?")
        session.uses("Read", "Something", file_path=str(memory / "user/read.md"))
        session.uses("Bash", "Something", command=f"cd {memory}/user && cat catted.md MEMORY.md")
        session.uses("mcp__extractord__memory_read", "Something", path="/memory/project/asked.md")
        session.says("Something.")
        session.asks("ok thanks")
        session.says("Fine.")
    extracted = person.types("extract", str(person.home / ".claude"))
    assert extracted.returncode == 0, extracted.stderr
    expected: dict[str, object] = {"user/indexed.md": 3, "user/never.md": 3}
    assert unused(person) == expected
    person.types("extract", str(person.home / ".claude"))
    assert unused(person) == expected
    table = person.types("memories", "list", "--unused").stdout
    assert "user/never.md" in table
    assert "memories forget" in table
    assert "user/read.md" not in table
    assert person.types("review", "list").stdout == "nothing is held\n"


def test_the_review_proposes_what_many_sessions_never_opened(person: Person) -> None:
    person.writes("user", "never.md", fact("never", "Something on nothing"))
    for number in range(20):
        session = Session(person.home, f"session-{number}", person.shop)
        session.asks("What do you know about how we work here?")
        session.says("Nothing.")
    person.types("extract", str(person.home / ".claude"))
    assert person.types("review", "list").stdout == (
        "nothing is held\n"
        "no agent opened 1 of the memories in 20 sessions: `extractord memories list --unused`\n"
    )


def test_a_memory_of_a_project_could_be_opened_in_its_sessions_only(person: Person) -> None:
    [context] = person.told("context", "--project", str(person.shop))
    other = person.home / "other"
    (other / ".git").mkdir(parents=True)
    person.writes(f"projects/{context['project']}", "here.md", fact("here", "Something here"))
    person.writes("user", "everywhere.md", fact("everywhere", "Something everywhere"))
    for number, place in enumerate((person.shop, other, other)):
        session = Session(person.home, f"session-{number}", place)
        session.asks("What do you know about how we work here?")
        session.says("Nothing.")
    person.types("extract", str(person.home / ".claude"))
    assert unused(person) == {"user/everywhere.md": 3, f"projects/{context['project']}/here.md": 1}
