from pathlib import Path

import pytest
from storing import PROJECT, USER, House, fact, said

from extractord.core.changeset import BYTES_A_RUN, FILES_A_RUN
from extractord.core.records import Evidence, Outcome
from extractord.edges.store import Committed

WORDS = "Deploys happen on Tuesdays only"
NAMES_OF_MANY = [first * 5 + second * 5 for first in "abcdefgh" for second in "klmnopq"]


@pytest.fixture
def house(tmp_path: Path) -> House:
    house = House(tmp_path)
    house.keep(PROJECT, "deploys.md", WORDS)
    return house


def creates(house: House, path: str, words: str, name: str = "", root: object = PROJECT) -> Committed:
    kind = USER if root is USER else PROJECT
    text = fact(name or path.removesuffix(".md"), words, "feedback" if kind is USER else "project")
    return house.commit(
        [house.change(kind, path, text, Evidence(entry="e9", quote=words))], said("e9", words)
    )


def test_the_same_description_is_refused_and_names_the_file_to_edit(house: House) -> None:
    again = creates(house, "when-we-ship.md", "deploys happen on Tuesdays, only")
    assert again.outcome is Outcome.NOTHING_TO_SAVE
    assert [(one.rule, one.reason) for one in again.refusals] == [
        ("duplicate", "/memory/project/deploys.md says this already. Edit it if something is missing there.")
    ]


def test_it_is_found_in_the_other_root_too(house: House) -> None:
    again = creates(house, "deploys.md", WORDS, root=USER)
    assert [one.rule for one in again.refusals] == ["duplicate"]
    assert house.user.files == {}


def test_what_is_nearly_the_same_waits_for_a_person(house: House) -> None:
    near = creates(house, "days.md", "Deploys happen on Thursdays only")
    assert near.outcome is Outcome.HELD
    (held,) = house.ledger.versions.held()
    assert held.changes[0].rule == "duplicate"
    assert "/memory/project/deploys.md is nearly equal" in held.changes[0].reason


def test_a_nearly_equal_name_waits_too(house: House) -> None:
    creates(house, "release-branches.md", "Each release has a branch of its own")
    near = creates(house, "other.md", "Tags are signed by whoever made them", name="release-branch-es")
    assert near.outcome is Outcome.HELD


def test_another_fact_with_other_figures_is_none_of_these(house: House) -> None:
    house.keep(PROJECT, "one.md", "Service number 1 listens on port 8001", label="e2")
    other = creates(house, "two.md", "Service number 2 listens on port 8002")
    assert other.outcome is Outcome.SAVED


def test_of_two_in_one_change_set_the_second_is_found(house: House) -> None:
    words = "Tabs are used in this project"
    cited = Evidence(entry="e9", quote=words)
    both = [house.change(PROJECT, path, fact(path[:-3], words), cited) for path in ("tabs.md", "indents.md")]
    committed = house.commit(both, said("e9", words))
    assert (committed.written, [one.rule for one in committed.refusals]) == (
        ("/memory/project/tabs.md",),
        ["duplicate"],
    )


def test_what_goes_in_the_same_change_set_may_be_said_anew(house: House) -> None:
    words = f"Move it: {WORDS}"
    cited = Evidence(entry="e9", quote=words)
    changes = [
        house.change(PROJECT, "release-days.md", fact("release-days", WORDS), cited),
        house.change(PROJECT, "deploys.md", None, cited),
    ]
    assert house.commit(changes, said("e9", words)).outcome is Outcome.SAVED
    assert set(house.project.files) == {"MEMORY.md", "release-days.md"}


def test_an_edit_is_no_repetition(house: House) -> None:
    words = "Deploys happen on Tuesdays only, in the morning"
    edit = house.change(PROJECT, "deploys.md", fact("deploys", words), Evidence(entry="e9", quote=words))
    assert house.commit([edit], said("e9", words)).outcome is Outcome.SAVED


def many(house: House, texts: dict[str, tuple[str, str]]) -> Committed:
    """One run that creates each of these, by name, with words and body; each was said by itself."""
    shown = [said(f"e{number}", words) for number, (words, _) in enumerate(texts.values())]
    changes = [
        house.change(
            PROJECT, f"{name}.md", fact(name, words, body=body), Evidence(entry=f"e{number}", quote=words)
        )
        for number, (name, (words, body)) in enumerate(texts.items())
    ]
    return house.commit(changes, *shown)


def held_rules(house: House) -> list[str]:
    return [change.rule for held in house.ledger.versions.held() for change in held.changes]


def test_more_memories_than_a_run_may_change_wait_for_a_person(house: House) -> None:
    texts = {
        name: (f"Service number {number} listens on port {9000 + number}", "")
        for number, name in enumerate(NAMES_OF_MANY[: FILES_A_RUN + 3])
    }
    committed = many(house, texts)
    assert (len(committed.written), held_rules(house)) == (FILES_A_RUN, ["run-files"] * 3)


def test_more_bytes_than_a_run_may_write_wait_too(house: House) -> None:
    size, long = 60 * 1024, "lorem" * 40  # few long words are read faster than many short ones
    texts = {}
    for number, name in enumerate(NAMES_OF_MANY[: BYTES_A_RUN // size + 2]):
        words = f"Service {long} number {number} listens on port {9000 + number}"
        texts[name] = (words, f"{words}\n" * (size // len(words)))
    committed = many(house, texts)
    assert set(held_rules(house)) == {"run-bytes"}
    assert 15 < len(committed.written) <= BYTES_A_RUN // size
