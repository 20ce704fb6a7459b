import json
from pathlib import Path

import pytest
from person import SHOP_ROOT, Person
from storing import PROJECT, fact

from extractord.core.records import Outcome
from extractord.storeroom import storeroom

WORDS = "Deploys happen on Tuesdays only"
LATER = "Deploys happen on Tuesdays and on Fridays"
PLACE = f"{SHOP_ROOT}/deploys.md"


@pytest.fixture
def person(tmp_path: Path) -> Person:
    """A memory in two versions, by two runs."""
    made = Person(tmp_path / "me")
    for words in (WORDS, LATER):
        run = made.run([(PROJECT, "deploys.md", fact("deploys", words))], words)
        assert run.outcome is Outcome.SAVED
    return made


def kept(person: Person) -> str:
    return (person.memory / PLACE).read_text()


def trust(person: Person) -> object:
    (row,) = person.told("memories", "list")
    return row["trust"], row["foreign"]


def test_every_version_is_shown_and_can_be_had_back(person: Person) -> None:
    now = kept(person)
    first, second = person.told("memories", "history", "deploys")
    assert [(row["by"], row["trust"]) for row in (first, second)] == [
        ("run-1", "stated"),
        ("run-2", "stated"),
    ]
    assert f"    -description: {WORDS}\n" in person.types("memories", "history", "deploys", "--diffs").stdout
    (done,) = person.told("memories", "restore", "deploys", str(first["version"])[:10])
    assert done == {"done": "restored", "root": SHOP_ROOT, "path": "deploys.md", "version": first["version"]}
    assert f"description: {WORDS}\n" in kept(person)
    assert trust(person) == ("stated", False)
    assert person.sits("memories", "restore", "deploys", str(second["version"]))[0] == 0
    assert kept(person) == now
    assert trust(person) == ("confirmed", False)
    assert person.types("memories", "restore", "deploys", "ffff").returncode == 2


def test_a_memory_is_forgotten_shown_brought_back_and_purged(person: Person) -> None:
    (done,) = person.told("memories", "forget", "deploys")
    assert done["done"] == "forgotten"
    assert not (person.memory / PLACE).exists()
    again = person.run([(PROJECT, "deploys.md", fact("deploys", WORDS))], WORDS)
    assert again.outcome is Outcome.SAVED, "it was said anew"
    person.types("memories", "forget", "deploys", "--purge")
    assert person.types("memories", "history", PLACE).returncode == 2
    for file in person.state.iterdir():
        if file.name.startswith("ledger.db"):
            assert WORDS.encode() not in file.read_bytes()
    assert person.types("memories", "forget", "deploys").returncode == 2


def test_an_edit_keeps_stamps_and_odd_keys_and_says_whose_it_is(person: Person) -> None:
    editor = person.editor('sed -i "s/Fridays/Sundays/; s/^metadata:/odd:  [1.10,  x]  # mine\\n&/" "$1"')
    assert person.types("memories", "edit", "deploys", EDITOR=editor).returncode == 0
    assert "odd:  [1.10,  x]  # mine\nmetadata:\n  type: project\n  recorded_at: " in kept(person)
    assert "  trust: inferred\n  source: codex s1 id-e1\n  run: run-2\n" in kept(person)
    assert trust(person) == ("inferred", True)
    editor = person.editor('sed -i s/Sundays/Mondays/ "$1"')
    assert person.sits("memories", "edit", "deploys", EDITOR=editor)[0] == 0
    assert "on Mondays" in kept(person)
    assert trust(person) == ("confirmed", False)
    person.editor("true")
    assert person.types("memories", "edit", "deploys", EDITOR=editor).stdout == "nothing was changed\n"


def test_what_an_agent_may_have_edited_about_the_person_waits_for_the_person(person: Person) -> None:
    person.writes("user", "likes.md", fact("likes", "Likes short answers", "user"))
    editor = person.editor('sed -i s/short/long/ "$1"')
    person.types("memories", "edit", "likes", EDITOR=editor, CLAUDECODE="1")
    (row,) = person.told("review", "list")
    assert (row["id"], row["rules"]) == ("user/likes.md", ["withheld"])
    version = str(person.told("memories", "history", "likes")[-1]["version"])
    person.types("memories", "restore", "likes", version)
    assert len(person.told("review", "list")) == 1
    assert "long answers" not in person.types("context").stdout
    person.sits("memories", "restore", "likes", version)
    assert person.told("review", "list") == []


def test_an_edit_that_came_too_late_overwrites_nothing_and_its_words_are_kept(person: Person) -> None:
    editor = person.editor('echo mine >> "$1"', f'echo theirs > "{person.memory / PLACE}"')
    done = person.types("memories", "edit", "deploys", EDITOR=editor)
    assert done.returncode == 1
    assert "changed meanwhile; nothing was written" in done.stderr
    assert kept(person) == "theirs\n"
    (line,) = [line for line in done.stderr.splitlines() if "your words are kept in" in line]
    copy = Path(line.rpartition(" ")[2])
    assert copy.read_text().endswith("mine\n")
    copy.unlink()
    copy.parent.rmdir()
    failing = person.types("memories", "edit", PLACE, EDITOR="false")
    assert (failing.returncode, "nothing was changed" in failing.stderr) == (2, True)


def test_a_pinned_memory_is_changed_by_no_run(person: Person) -> None:
    assert person.types("memories", "pin", "deploys").stdout == f"pinned: {PLACE}\n"
    words = "Deploys happen on Saturdays and on Tuesdays"
    change = [(PROJECT, "deploys.md", fact("deploys", words))]
    assert person.run(change, words).refusals[0].rule == "pinned"
    person.types("memories", "pin", "deploys", "--undo")
    assert person.run(change, words).outcome is Outcome.SAVED


def test_a_run_is_undone_whole_or_its_conflicts_are_listed(person: Person) -> None:
    (undone,) = person.told("undo", "run-2")
    assert undone == {"restored": [PLACE], "removed": [], "conflicts": []}
    assert f"description: {WORDS}\n" in kept(person)
    assert trust(person) == ("stated", False)
    conflict = person.types("undo", "run-2")
    assert (conflict.returncode, conflict.stdout) == (1, f"changed since, so nothing was undone: {PLACE}\n")
    assert person.types("undo", "run-9").returncode == 2
    assert person.types("undo", "run-1").stdout == f"removed: {PLACE}\n"
    assert not (person.memory / PLACE).exists()


def test_the_audit_is_shown_and_verified_and_a_change_in_it_is_found(person: Person) -> None:
    rows = person.told("audit", "show")
    assert [row["kind"] for row in rows] == ["commit", "allowed", "commit", "allowed"]
    assert person.told("audit", "show", "run-1")[0]["subject"] == "run-1"
    (verified,) = person.told("audit", "verify")
    assert verified == {"rows": 4, "head": rows[0]["hash"]}
    with storeroom(person.settings, print) as room:
        room.ledger._connection.execute("DROP TRIGGER audit_is_never_changed")
        room.ledger._connection.execute("UPDATE audit SET kind = 'other' WHERE id = 1")
    broken = person.types("audit", "verify")
    assert (broken.returncode, "broken at row 1" in broken.stderr) == (1, True)


def test_a_list_shows_paths_whole_in_a_narrow_window(person: Person) -> None:
    long = "a-very-long-folder-name/and-another-one-below-it/deploys-of-the-shop-on-tuesdays.md"
    person.writes("user", long, "# Long\n")
    table = person.types("memories", "list", COLUMNS="60").stdout
    assert "…" not in table
    assert long in person.types("memories", "list").stdout


def test_a_projects_memories_follow_it_to_where_it_was_moved(person: Person) -> None:
    new = person.home / "elsewhere"
    (new / ".git").mkdir(parents=True)
    for part in ("objects", "refs"):
        (new / ".git" / part).mkdir()
    (new / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (row,) = person.told("project", "list")
    assert (row["memories"], row["gone"], row["excluded"]) == (1, False, False)
    (moved,) = person.told("project", "move", SHOP_ROOT.removeprefix("projects/"), str(new))
    assert moved["old"] == SHOP_ROOT
    assert not (person.memory / SHOP_ROOT).exists()
    (row,) = person.told("memories", "list", "--project", str(new))
    assert (row["root"], row["trust"], row["foreign"]) == (moved["new"], "stated", False)
    assert len(person.told("memories", "history", "deploys")) == 2
    assert person.types("project", "move", SHOP_ROOT.removeprefix("projects/"), str(new)).returncode == 2


def test_a_directory_is_excluded_and_taken_back_and_a_damaged_list_is_no_empty_one(person: Person) -> None:
    (told,) = person.told("project", "exclude", str(person.shop))
    assert told == {"excluded": [str(person.shop)]}
    place = person.state / "excluded.json"
    place.write_text("[")
    assert person.types("extract", "--dry-run").returncode == 78
    place.write_text(json.dumps([str(person.shop)]))
    (told,) = person.told("project", "exclude", str(person.shop), "--undo")
    assert told == {"excluded": []}


def test_another_states_memories_are_refused_until_they_are_adopted(person: Person) -> None:
    person.state.rename(person.home / "old-state")
    refused = person.types("memories", "forget", "deploys")
    assert (refused.returncode, "project adopt" in refused.stderr) == (1, True)
    assert person.types("project", "adopt").returncode == 0
    assert trust(person) == ("inferred", True)
    assert person.types("memories", "forget", "deploys").returncode == 0


def test_an_agent_restores_nothing_as_confirmed(person: Person) -> None:
    editor = person.editor('sed -i "s/Tuesdays/Thursdays/" "$1"')
    assert person.sits("memories", "edit", "deploys", EDITOR=editor)[0] == 0
    *_, mine = person.told("memories", "history", "deploys")
    assert mine["trust"] == "confirmed"
    for command in (person.types, person.sits):
        command("memories", "restore", "deploys", str(mine["version"]), CLAUDECODE="1")
        *_, last = person.told("memories", "history", "deploys")
        assert (last["version"], last["trust"], last["by"]) == (mine["version"], "inferred", "unattended")
