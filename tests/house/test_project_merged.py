"""A project that was moved, and that has memories in its new place already."""

import json
import os
from pathlib import Path

import pytest
from crashing import check
from person import SHOP, SHOP_ROOT, Person
from storing import PROJECT, fact

from extractord.core.records import Project
from extractord.core.versions import held_key
from extractord.edges.store import Keeping, Reviewing
from extractord.edges.store.law import law_version
from extractord.policy.requests import Trust
from extractord.storeroom import now, storeroom

TUESDAYS, PORT = "Deploys happen on Tuesdays", "The port is eight thousand"


@pytest.fixture
def person(tmp_path: Path) -> Person:
    """A week of runs in the old place; in the new one a file by hand, one of them of the same name."""
    made = Person(tmp_path / "me")
    for name, words in (
        ("deploys", TUESDAYS),
        ("port", PORT),
        ("tabs", "Tabs are used here"),
        ("gone", "Old news"),
    ):
        made.run([(PROJECT, f"{name}.md", fact(name, words))], words)
    with storeroom(made.settings, print) as room:
        for session, directory in (("s1", SHOP.directory), ("s2", "/nowhere/shop/sub")):
            project = Project(slug=SHOP.slug, identity="shop", directory=SHOP.directory)
            room.ledger.ranges.note_project("codex", session, directory, project)
        Keeping(room.store).forget(SHOP_ROOT, "gone.md")
        Keeping(room.store).pin(SHOP_ROOT, "port.md", pinned=True)
    made.types("project", "list")
    return made


def test_its_memories_come_to_those_with_trust_history_and_sessions(person: Person) -> None:
    other = person.home / "elsewhere"
    (other / ".git").mkdir(parents=True)
    first = json.loads(person.types("project", "move", SHOP.slug, str(other), "--json").stdout)
    assert first == {"old": SHOP_ROOT, "new": first["new"], "renamed": {}, "left": False}
    back = json.loads(person.types("project", "move", str(other), str(person.shop), "--json").stdout)
    root, words = back["new"], "Deploys happen on Fridays"
    assert not (person.memory / first["new"]).exists()
    person.writes(first["new"], "deploys.md", fact("deploys", words))
    person.writes(first["new"], "tabs.md", (person.memory / root / "tabs.md").read_text())
    person.writes(first["new"], "sub/gone.md", fact("gone", "It is here again"))
    with storeroom(person.settings, print) as room:
        room.store.notice(room.store.names())
    merged = person.types("project", "move", str(person.shop), str(other))
    assert merged.returncode == 0, merged.stderr
    assert "deploys.md is deploys-2.md there, which has another deploys.md already" in merged.stdout
    place = person.memory / first["new"]
    assert sorted(str(path.relative_to(place)) for path in place.rglob("*.md")) == [
        "MEMORY.md", "deploys-2.md", "deploys.md", "port.md", "sub/gone.md", "tabs.md",
    ]  # fmt: skip
    assert not (person.memory / root).exists()
    assert place.joinpath("MEMORY.md").read_text().count("](") == 5
    with storeroom(person.settings, print) as room:
        check(person, room)
        current = room.ledger.versions.current(first["new"])
        assert (current["port.md"].trust, current["port.md"].pinned) == (Trust.STATED, True)
        assert (current["deploys-2.md"].trust, current["deploys.md"].foreign) == (Trust.STATED, True)
        history = room.ledger.versions.history(first["new"], "deploys-2.md")
        assert [version.by for version in history] == ["run-1", "unattended", "unattended"]
        assert room.ledger.versions.paths(root) == ()
        assert [home.slug for home in room.ledger.rehoming.homes()] == [
            first["new"].removeprefix("projects/")
        ]
        assert Keeping(room.store).undo("run-1").restored == (f"{first['new']}/deploys-2.md",)
        check(person, room)


ELSEWHERE = Project(slug="other-0123456789abcdef", identity="other", directory="/nowhere/other")
NEW = f"projects/{ELSEWHERE.slug}"
WORDS = "The port is nine thousand and one"


def test_what_is_held_is_asked_once_wherever_its_project_went(person: Person) -> None:
    at = now()
    with storeroom(person.settings, print) as room:
        person.run([(PROJECT, "held.md", fact("held", WORDS))], WORDS, mode="ask", at=at, room=room)
        room.store.move(SHOP_ROOT, NEW, ELSEWHERE)
        (moved,) = room.ledger.versions.held()
        assert (moved.changes[0].root, moved.key) == (NEW, held_key(moved.changes))
        person.run([(PROJECT, "held.md", fact("held", WORDS))], WORDS, mode="ask", at=at, room=room)
        assert len(room.ledger.versions.held()) == 2
        room.store.move(SHOP_ROOT, NEW, ELSEWHERE)
        assert room.ledger.versions.held() == (moved,)
        assert [one.state for one in room.ledger.versions.held("stale")] == ["stale"]


def test_what_is_held_can_be_accepted_where_its_name_is_taken(person: Person) -> None:
    person.run([(PROJECT, "held.md", fact("held", WORDS))], WORDS, mode="ask")
    person.writes(NEW, "held.md", fact("harbour", "Ships come to Rotterdam"))
    with storeroom(person.settings, print) as room:
        room.store.notice(room.store.names())
        assert room.store.move(SHOP_ROOT, NEW, ELSEWHERE) == {"held.md": "held-2.md"}
        (held,) = room.ledger.versions.held()
        assert Reviewing(room.store).accept(held) == (f"{NEW}/held-2.md",)
        assert WORDS in (person.memory / NEW / "held-2.md").read_text()
        check(person, room)


def test_nothing_of_what_was_read_stays_behind_and_what_was_opened_follows(person: Person) -> None:
    for number in range(40):
        person.writes(SHOP_ROOT, f"many/m{number}.md", fact(f"m{number}", f"Ship {number} came to Rotterdam"))
        os.utime(person.memory / SHOP_ROOT / f"many/m{number}.md", (1, 1))
    person.writes(NEW, "held.md", fact("harbour", "Ships come to Hamburg"))
    with storeroom(person.settings, print) as room:
        room.store.notice(room.store.names())
        assert len(list(room.ledger.surveys.texts(SHOP_ROOT, law_version()))) >= 40
        room.ledger.uses.note(SHOP.slug, "codex", "s1", "x1", [f"{SHOP_ROOT}/port.md"], now())
        room.store.move(SHOP_ROOT, NEW, ELSEWHERE)
        assert list(room.ledger.surveys.texts(SHOP_ROOT, law_version())) == []
        assert room.ledger.uses.opened(SHOP_ROOT) == {}
        assert room.ledger.uses.opened(NEW)["port.md"].times == 1


def test_an_empty_root_is_taken_away_once_nobody_is_about_to_fill_it(person: Person) -> None:
    made, old = person.memory / "projects" / "made-0123456789abcdef", person.memory / SHOP_ROOT
    made.mkdir(mode=0o700)
    person.writes(NEW, "harbour.md", fact("harbour", "Ships come to Hamburg"))
    with storeroom(person.settings, print) as room:
        room.store.notice(room.store.names())
        room.store.move(SHOP_ROOT, NEW, ELSEWHERE)
        assert (made.is_dir(), old.exists()) == (True, False)
        assert room.ledger.rehoming.open_moves() == ()
    with storeroom(person.settings, print):  # each start recovers
        assert (made.is_dir(), old.exists()) == (True, False)
    os.utime(made, (1, 1))
    with storeroom(person.settings, print):
        assert (made.exists(), (person.memory / NEW).is_dir()) == (False, True)


def test_a_root_whose_memories_went_is_taken_away_after_a_crash_too(person: Person) -> None:
    old = person.memory / SHOP_ROOT
    person.writes(NEW, "harbour.md", fact("harbour", "Ships come to Hamburg"))
    with storeroom(person.settings, print) as room:
        room.store.notice(room.store.names())
        room.store.move(SHOP_ROOT, NEW, ELSEWHERE)
        old.mkdir(mode=0o700)  # as a crash leaves it
        room.ledger.rehoming.begin_move(SHOP_ROOT, NEW, ELSEWHERE)
    with storeroom(person.settings, print) as room:
        assert not old.exists()
        assert room.ledger.rehoming.open_moves() == ()
        moves = [row for row in room.ledger.audit.recent(100) if row.kind == "move"]
        assert len(moves) == 1
