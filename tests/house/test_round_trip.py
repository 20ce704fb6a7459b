"""From "that is wrong" to corrected, at the terminal: one key at most.

Not counted are the command's own line, the words that are put right, and saving and leaving in the editor.
"""

from pathlib import Path

import pytest
from person import SHOP_ROOT, Person
from storing import PROJECT, fact

from extractord.core.records import Origin, Outcome

KEPT = f"{SHOP_ROOT}/deploys.md"


@pytest.fixture
def person(tmp_path: Path) -> Person:
    """One memory is kept and one is held, both wrong."""
    made = Person(tmp_path / "me")
    said = "Deploys happen on Tuesdays only"
    assert made.run([(PROJECT, "deploys.md", fact("deploys", said))], said).outcome is Outcome.SAVED
    read = "Releases are built on Tuesdays only"
    held = made.run([(PROJECT, "releases.md", fact("releases", read))], read, origin=Origin.SYNTHETIC)
    assert held.outcome is Outcome.HELD
    return made


def test_a_memory_is_put_right_by_naming_it_and_no_key_besides(person: Person) -> None:
    assert "Tuesdays" in person.types("memories", "show", "deploys").stdout  # that is wrong
    editor = person.editor('sed -i "s/Tuesdays/Thursdays/g" "$1"')
    code, screen = person.sits("memories", "edit", "deploys", EDITOR=editor)
    assert (code, screen) == (0, f"edited: {KEPT}\n")
    text = (person.memory / KEPT).read_text()
    assert ("Thursdays" in text, "Tuesdays" in text, "trust: confirmed" in text) == (True, False, True)


def test_a_memory_is_dropped_by_naming_it_and_no_key_besides(person: Person) -> None:
    assert person.sits("memories", "forget", "deploys") == (0, f"forgotten: {KEPT}\n")
    assert not (person.memory / KEPT).exists()


def test_what_is_held_is_put_right_with_one_key(person: Person) -> None:
    editor = person.editor('sed -i "s/Tuesdays/Thursdays/g" "$1"')
    code, screen = person.sits("review", keys="e", EDITOR=editor)
    assert (code, "+description: Releases are built on Tuesdays only" in screen) == (0, True)  # that is wrong
    text = (person.memory / SHOP_ROOT / "releases.md").read_text()
    assert ("Thursdays" in text, "Tuesdays" in text, "trust: confirmed" in text) == (True, False, True)


def test_what_is_held_is_dropped_with_one_key(person: Person) -> None:
    assert person.sits("review", keys="r")[0] == 0
    assert person.told("review", "list") == []
    assert not (person.memory / SHOP_ROOT / "releases.md").exists()
