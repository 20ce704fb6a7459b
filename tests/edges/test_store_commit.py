import fcntl
from datetime import timedelta
from pathlib import Path

import pytest
from storing import NAMES, PROJECT, SHOP, SHOP_ROOT, START, USER, House, fact, read_aloud, said

from extractord.core.digesting import digest
from extractord.core.records import Change, Evidence, Outcome
from extractord.core.versions import Current
from extractord.edges.store import Committed
from extractord.policy.requests import Trust

WORDS = "Deploys happen on Tuesdays only"
CITED = Evidence(entry="e1", quote=WORDS)
SAID = said("e1", WORDS)


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


def test_a_stated_fact_is_written_stamped_indexed_and_its_range_closed(house: House) -> None:
    change = house.change(PROJECT, "deploys.md", fact("deploys", WORDS), CITED)
    assert house.commit([change], SAID) == Committed(
        outcome=Outcome.SAVED, written=("/memory/project/deploys.md",)
    )
    raw = house.project.files["deploys.md"]
    assert raw.decode() == (
        f"---\nname: deploys\ndescription: {WORDS}\nmetadata:\n  type: project\n"
        "  recorded_at: 2026-11-30T12:01:00Z\n  observed_at: 2026-11-30T12:00:00Z\n  trust: stated\n"
        f"  source: codex s1 id-e1\n  run: run-1\n---\n{WORDS}\n"
    )
    assert house.project.files["MEMORY.md"].decode() == f"- [deploys](deploys.md) — {WORDS}\n"
    assert house.user.files == {}
    versions = house.ledger.versions
    assert versions.current(SHOP_ROOT) == {"deploys.md": Current(sha256=digest(raw), trust=Trust.STATED)}
    assert [(one.path, one.by, one.trust) for one in versions.made_by("run-1")] == [
        ("deploys.md", "run-1", Trust.STATED)
    ]
    assert versions.content(digest(raw)) == raw
    assert versions.open_intents() == ()
    assert house.ledger.ranges.states("codex", "s1")["x1"].state == "closed"
    assert [(row.trust, row.foreign) for row in house.store.survey(SHOP_ROOT)] == [(Trust.STATED, False)]


def test_an_edit_and_a_removal_go_through_and_the_index_follows(house: House) -> None:
    for number in range(5):
        house.keep(PROJECT, f"{NAMES[number]}.md", f"Service number {number} listens on port 800{number}")
    words = "Service number 1 is gone and service number 2 listens on port 9000"
    changes = [
        house.change(PROJECT, "one.md", None, Evidence(entry="e9", quote=words)),
        house.change(
            PROJECT,
            "two.md",
            fact("two", "Service number 2 listens on port 9000"),
            Evidence(entry="e9", quote=words),
        ),
    ]
    committed = house.commit(changes, said("e9", words))
    assert committed == Committed(
        outcome=Outcome.SAVED, written=("/memory/project/two.md",), removed=("/memory/project/one.md",)
    )
    assert set(house.project.files) == {"MEMORY.md", "zero.md", "two.md", "three.md", "four.md"}
    index = house.project.files["MEMORY.md"].decode()
    assert "one.md" not in index
    assert "- [two](two.md) — Service number 2 listens on port 9000\n" in index
    assert [one.sha256 is None for one in house.ledger.versions.history(SHOP_ROOT, "one.md")] == [False, True]


def test_one_change_set_over_both_roots_is_one_commit(house: House) -> None:
    words = "I prefer tabs, and this project uses pnpm"
    cited = Evidence(entry="e1", quote=words)
    changes = [
        house.change(USER, "tabs.md", fact("tabs", "I prefer tabs", "user"), cited),
        house.change(PROJECT, "pnpm.md", fact("pnpm", "this project uses pnpm"), cited),
    ]
    committed = house.commit(changes, said("e1", words))
    assert committed.written == ("/memory/user/tabs.md", "/memory/project/pnpm.md")
    assert len(house.ledger.versions.made_by("run-1")) == 2


def test_nothing_to_change_closes_the_range_too(house: House) -> None:
    assert house.commit([]) == Committed(outcome=Outcome.NOTHING_TO_SAVE)
    assert house.ledger.ranges.states("codex", "s1")["x1"].state == "closed"


def test_what_no_person_said_is_held_with_its_redacted_quote_and_nothing_is_written(house: House) -> None:
    words = "The admin password is hunter2 for ever"
    page = "Always deploy with force, " + words
    change = house.change(
        PROJECT, "force.md", fact("force", "Always deploy with force"), Evidence(entry="e1", quote=page)
    )
    committed = house.commit([change], read_aloud("e1", page))
    assert committed == Committed(outcome=Outcome.HELD, held=("/memory/project/force.md",))
    assert house.files() == {"user": {}, SHOP_ROOT: {}}
    (held,) = house.ledger.versions.held()
    assert held.changes[0].rule == "untrusted"
    assert held.changes[0].quotes == (page.replace("hunter2", "[redacted]"),)
    again = house.commit([change], read_aloud("e1", page))
    assert again.outcome is Outcome.NOTHING_TO_SAVE
    assert [refusal.rule for refusal in again.refusals] == ["already_held"]
    assert len(house.ledger.versions.held()) == 1


def test_what_is_held_keeps_the_change_sets_removals_with_it_and_lets_the_rest_go(house: House) -> None:
    for number in range(4):
        house.keep(PROJECT, f"{NAMES[number]}.md", f"Service number {number} listens on port 800{number}")
    words = "Service number 1 is gone and port 8000 is service zero"
    page = "Everything is now on port 4711"
    changes = [
        house.change(PROJECT, "one.md", None, Evidence(entry="e1", quote=words)),
        house.change(PROJECT, "all.md", fact("all", page), Evidence(entry="e2", quote=page)),
        house.change(
            PROJECT, "port.md", fact("port", "port 8000 is service zero"), Evidence(entry="e1", quote=words)
        ),
    ]
    committed = house.commit(changes, said("e1", words), read_aloud("e2", page))
    assert committed == Committed(
        outcome=Outcome.SAVED,
        written=("/memory/project/port.md",),
        held=("/memory/project/all.md", "/memory/project/one.md"),
    )
    assert "one.md" in house.project.files
    (held,) = house.ledger.versions.held()
    assert [change.path for change in held.changes] == ["all.md", "one.md"]


def test_in_ask_mode_everything_is_held(house: House) -> None:
    change = house.change(PROJECT, "deploys.md", fact("deploys", WORDS), CITED)
    assert house.commit([change], SAID, mode="ask").held == ("/memory/project/deploys.md",)
    assert house.project.files == {}


def test_a_foreign_edit_since_the_run_looked_is_a_conflict_and_nothing_is_written(house: House) -> None:
    house.keep(PROJECT, "deploys.md", WORDS)
    change = house.change(PROJECT, "deploys.md", fact("deploys", "x"), CITED)
    other = house.change(PROJECT, "new.md", fact("new", WORDS), CITED)
    house.project.put("deploys.md", b"a person's words")
    before = house.files()
    committed = house.commit([other, change], SAID)
    assert committed == Committed(
        outcome=Outcome.CONFLICT, reason="/memory/project/deploys.md changed meanwhile"
    )
    assert house.files() == before
    assert house.ledger.ranges.states("codex", "s1")["x2"].state == "claimed"


def test_a_file_that_appeared_or_vanished_is_a_conflict_too(house: House) -> None:
    appeared = house.change(PROJECT, "deploys.md", fact("deploys", WORDS), CITED)
    house.project.put("deploys.md", b"words")
    assert house.commit([appeared], SAID).outcome is Outcome.CONFLICT
    vanished = house.change(PROJECT, "deploys.md", None, CITED)
    del house.project.files["deploys.md"]
    assert house.commit([vanished], SAID).outcome is Outcome.CONFLICT


def test_a_lost_claim_writes_nothing(house: House) -> None:
    change = house.change(PROJECT, "deploys.md", fact("deploys", WORDS), CITED)
    context = house.context(SAID)
    house.ledger.ranges.release(context.run, attempted=False, retry_at=None)
    assert house.store.commit([change], context) == Committed(outcome=Outcome.ABORTED, reason="claim_lost")
    assert house.project.files == {}


def test_a_lock_that_is_held_is_busy(house: House, tmp_path: Path) -> None:
    with open(tmp_path / ".lock", "w") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        change = house.change(PROJECT, "deploys.md", fact("deploys", WORDS), CITED)
        assert house.commit([change], SAID) == Committed(outcome=Outcome.FAILED, reason="busy")
    assert house.project.files == {}
    assert house.commit([change], SAID).outcome is Outcome.SAVED


@pytest.mark.parametrize(
    ("path", "text", "rule"),
    [
        ("../x.md", fact("a", WORDS), "segments"),
        ("a.md", fact("a", WORDS) + "AWS: AKIAIOSFODNN7EXAMPLX # pragma: allowlist secret\n", "secret"),
        ("a.md", "---\nname: a\nname: b\n---\n", "malformed"),
        ("a.md", "no front matter", "front-matter"),
    ],
)
def test_the_store_denies_what_the_law_denies_whatever_the_child_says(
    house: House, path: str, text: str, rule: str
) -> None:
    committed = house.commit([Change(root=PROJECT, path=path, text=text, evidence=(CITED,))], SAID)
    assert committed.outcome is Outcome.NOTHING_TO_SAVE
    assert [refusal.rule for refusal in committed.refusals] == [rule]
    assert house.project.files == {}
    assert [row.detail["by"] for row in house.ledger.audit.recent(9) if row.kind == "refused"] == ["store"]


def test_two_names_that_are_one_to_the_eye_are_not_both_created(house: House) -> None:
    changes = [
        house.change(PROJECT, path, fact(path[:-3], WORDS), CITED) for path in ("Deploys.md", "deploys.md")
    ]
    committed = house.commit(changes, SAID)
    assert committed.written == ("/memory/project/Deploys.md",)
    assert [refusal.rule for refusal in committed.refusals] == ["twin"]


def test_where_there_is_no_project_its_facts_are_denied_and_the_persons_kept(house: House) -> None:
    nowhere = SHOP.__class__(slug="home-0", identity="/home/me", directory="/home/me", is_project=False)
    words = "I prefer tabs in every file"
    cited = Evidence(entry="e1", quote=words)
    changes = [
        house.change(USER, "tabs.md", fact("tabs", words, "user"), cited),
        house.change(PROJECT, "tabs.md", fact("tabs", words), cited),
    ]
    committed = house.commit(changes, said("e1", words), project=nowhere)
    assert committed.written == ("/memory/user/tabs.md",)
    assert [refusal.rule for refusal in committed.refusals] == ["no-project"]


def test_a_foreign_or_malformed_memory_is_never_changed_by_a_run(house: House) -> None:
    house.project.put("mine.md", fact("mine", "my words").encode())
    house.project.put("bad.md", b"---\nname: [\n---\n")
    house.project.unreadable.add("odd.md")
    house.project.put("odd.md", b"x")
    before = dict(house.project.files)
    changes = [
        house.change(PROJECT, "mine.md", fact("mine", WORDS), CITED),
        house.change(PROJECT, "bad.md", fact("bad", WORDS), CITED),
        house.change(PROJECT, "odd.md", fact("odd", WORDS), CITED),
    ]
    committed = house.commit(changes, SAID)
    assert committed.held == ("/memory/project/mine.md",)
    assert [refusal.rule for refusal in committed.refusals] == ["malformed", "unreadable"]
    assert house.project.files == before


def test_a_run_removes_no_more_than_a_quarter(house: House) -> None:
    for number in range(8):
        house.keep(PROJECT, f"{NAMES[number]}.md", f"Service number {number} listens on port 800{number}")
    words = "Service number 0, service number 1 and service number 2 are gone"
    changes = [
        house.change(PROJECT, f"{NAMES[number]}.md", None, Evidence(entry="e1", quote=words))
        for number in range(3)
    ]
    committed = house.commit(changes, said("e1", words))
    assert committed.outcome is Outcome.HELD
    assert len(committed.held) == 3
    two = house.commit(changes[:2], said("e1", words))
    assert len(two.removed) == 2


def test_the_audit_has_the_commit_and_no_word_of_it(house: House) -> None:
    change = house.change(PROJECT, "deploys.md", fact("deploys", WORDS), CITED)
    house.commit([change], SAID, confinement="landlock7+seccomp")
    row, asked = house.ledger.audit.recent(9)
    assert (asked.kind, asked.subject) == ("allowed", "run-1")
    assert asked.detail == {
        "by": "store",
        "confinement": "landlock7+seccomp",
        "path": "/memory/project/deploys.md",
        "rule": "",
        "tool": "Write",
        "verdict": "allow",
    }
    assert (row.kind, row.subject) == ("commit", "run-1")
    assert row.detail == {
        "confinement": "landlock7+seccomp",
        "held": [],
        "outcome": "saved",
        "removed": [],
        "written": ["/memory/project/deploys.md"],
    }


def test_a_memory_is_not_the_newer_for_being_looked_at(house: House) -> None:
    house.keep(PROJECT, "deploys.md", WORDS)
    house.now = START + timedelta(hours=1)
    same = house.change(PROJECT, "deploys.md", house.text(PROJECT, "deploys.md"), CITED)
    assert house.commit([same], SAID).outcome is Outcome.SAVED


def test_every_file_of_a_commit_is_brought_to_the_disk_before_it_is_done(house: House) -> None:
    change = house.change(PROJECT, "ops/deploys.md", fact("deploys", WORDS), CITED)
    house.commit([change], SAID)
    assert sorted(house.project.settled) == ["MEMORY.md", "ops/deploys.md"]
