"""A root that may not be one stops no other: it is named, and changes to it alone fail."""

from pathlib import Path

import pytest
from person import SHOP_ROOT, Person
from storing import PROJECT, USER, fact

EXAMPLE = Path(__file__).parents[2] / "docs/example/claude-code/projects/-home-dev-shop"


@pytest.fixture(params=["others may write in it", "is the top of a git work tree"])
def person(request: pytest.FixtureRequest, tmp_path: Path) -> Person:
    """A memory in each root; the project's root is bad."""
    made = Person(tmp_path / "me")
    made.run([(USER, "tabs.md", fact("tabs", "I prefer tabs", "user"))], "I prefer tabs")
    made.run([(PROJECT, "deploys.md", fact("deploys", "Deploys are on Tuesdays"))], "Deploys are on Tuesdays")
    if "git" in request.param:
        (made.memory / SHOP_ROOT / ".git").mkdir()
    else:
        (made.memory / SHOP_ROOT).chmod(0o770)
    made.fault = request.param  # type: ignore[attr-defined]
    return made


def test_the_others_are_listed_pinned_and_extracted_into(person: Person) -> None:
    fault = person.fault  # type: ignore[attr-defined]
    for arguments in (["memories", "list"], ["memories", "pin", "tabs"], ["review", "list"]):
        done = person.types(*arguments)
        assert (done.returncode, fault in done.stderr, SHOP_ROOT in done.stderr) == (0, True, True)
    (row,) = person.told("memories", "list")
    assert (row["path"], row["pinned"]) == ("tabs.md", True)
    done = person.types("extract", str(EXAMPLE))
    assert (done.returncode, fault in done.stderr) == (0, True)
    assert len(person.told("memories", "list")) > 1


def test_a_change_to_the_bad_one_fails_with_its_name(person: Person) -> None:
    fault = person.fault  # type: ignore[attr-defined]
    done = person.types("memories", "pin", f"{SHOP_ROOT}/deploys.md")
    assert done.returncode != 0
    assert f"{SHOP_ROOT}: {fault}" in done.stderr


@pytest.mark.parametrize(
    "command",
    [("run",), ("extract",), ("undo", "x"), ("memories", "forget", "user/x.md"), ("config", "check")],
)
def test_a_memory_directory_that_may_not_be_one_is_the_configurations_fault(
    tmp_path: Path, command: tuple[str, ...]
) -> None:
    person = Person(tmp_path / "me")
    (person.home / "shared").mkdir()
    (person.home / "shared").chmod(0o777)
    done = person.types(*command, EXTRACTORD_MEMORY__DIR=str(person.home / "shared"))
    assert done.returncode == 78
    assert "others may write in it; run `chmod go-w` on it (`memory.dir`" in done.stderr
    assert [*(person.home / "shared").iterdir()] == []


def test_a_check_makes_nothing_and_names_a_memory_directory_that_cannot_be_made(tmp_path: Path) -> None:
    person = Person(tmp_path / "me")
    (person.home / "file").touch()
    done = person.types("config", "check", EXTRACTORD_MEMORY__DIR=str(person.home / "file/below"))
    assert (done.returncode, "cannot be made below" in done.stderr) == (78, True)
    done = person.types("config", "check", EXTRACTORD_MEMORY__DIR=str(person.home / "new/below"))
    assert (done.returncode, (person.home / "new").exists()) == (0, False)
