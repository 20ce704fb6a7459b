import re
from datetime import timedelta
from pathlib import Path

import msgspec
import pytest
from storing import KEY, NAMES, PROJECT, SHOP, SHOP_ROOT, START, USER, House, fact, said

from extractord.core.records import Evidence, Outcome
from extractord.core.versions import Proof, Tombstone
from extractord.edges.ledger import Ledger
from extractord.edges.store import Keeping
from extractord.edges.store.tombstones import blocking, fingerprint
from extractord.errors import StoreError, UsageError

WORDS = "Deploys happen on Tuesdays only"
HOUR = timedelta(hours=1)


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


def deleted_by_hand(house: House) -> None:
    """A fact is kept among others; a person deletes its file."""
    house.keep(PROJECT, "deploys.md", WORDS)
    house.keep(PROJECT, "tabs.md", "Tabs are used in this project", label="e2")
    del house.project.files["deploys.md"]
    house.now += HOUR
    assert house.store.notice([SHOP_ROOT]) == ()


def test_a_file_deleted_by_hand_leaves_a_tombstone_and_its_index_line_goes(house: House) -> None:
    deleted_by_hand(house)
    (stone,) = house.ledger.versions.tombstones()
    assert (stone.root, stone.name, stone.why, stone.made_at) == (SHOP_ROOT, "deploys", "deleted", house.now)
    assert house.project.files["MEMORY.md"].decode() == "- [tabs](tabs.md) — Tabs are used in this project\n"
    assert WORDS not in house.register.read_text()
    assert "Tuesdays" not in house.register.read_text()
    assert house.register.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("deploys.md", "Deploys happen on Tuesdays only"),
        ("deploys.md", "happen on Tuesdays only"),
        ("release-days.md", "Deploys only happen on Tuesdays"),
    ],
)
def test_what_was_forgotten_does_not_come_back_from_the_same_words(
    house: House, path: str, words: str
) -> None:
    deleted_by_hand(house)
    change = house.change(PROJECT, path, fact(path[:-3], words), Evidence(entry="e1", quote=WORDS))
    committed = house.commit([change], said("e1", WORDS, at=START))
    assert committed.outcome is Outcome.NOTHING_TO_SAVE
    assert [refusal.rule for refusal in committed.refusals] == ["forgotten"]
    assert path not in house.project.files


def test_an_entry_without_a_time_counts_as_earlier(house: House) -> None:
    deleted_by_hand(house)
    change = house.change(PROJECT, "deploys.md", fact("deploys", WORDS), Evidence(entry="e1", quote=WORDS))
    assert house.commit([change], said("e1", WORDS, at=None)).outcome is Outcome.NOTHING_TO_SAVE


def test_the_same_said_anew_comes_back(house: House) -> None:
    deleted_by_hand(house)
    house.now += HOUR
    assert house.keep(PROJECT, "deploys.md", WORDS).written == ("/memory/project/deploys.md",)


def test_another_fact_of_the_same_entry_is_still_kept(house: House) -> None:
    both = "Deploys happen on Tuesdays only, and the database is called Heron"
    cited = Evidence(entry="e1", quote=both)
    house.commit([house.change(PROJECT, "deploys.md", fact("deploys", WORDS), cited)], said("e1", both))
    house.keep(PROJECT, "tabs.md", "Tabs are used in this project")
    del house.project.files["deploys.md"]
    house.store.notice([SHOP_ROOT])
    change = house.change(PROJECT, "database.md", fact("database", "the database is called Heron"), cited)
    assert house.commit([change], said("e1", both)).outcome is Outcome.SAVED


def test_an_rm_that_the_person_asked_for_leaves_tombstones_of_both_entries(house: House) -> None:
    house.keep(PROJECT, "deploys.md", WORDS)
    words = "Forget that deploys happen on Tuesdays only"
    house.now += HOUR
    change = house.change(PROJECT, "deploys.md", None, Evidence(entry="e9", quote=words))
    assert house.commit([change], said("e9", words)).removed == ("/memory/project/deploys.md",)
    assert [stone.why for stone in house.ledger.versions.tombstones()] == ["stated", "stated"]
    again = house.change(PROJECT, "deploys.md", fact("deploys", WORDS), Evidence(entry="e1", quote=WORDS))
    assert house.commit([again], said("e1", WORDS)).refusals[0].rule == "forgotten"


def test_a_rename_is_no_deletion_and_keeps_trust_and_evidence(house: House) -> None:
    house.keep(PROJECT, "deploys.md", WORDS)
    before = house.ledger.versions.current(SHOP_ROOT)["deploys.md"]
    proofs = house.ledger.versions.proofs(SHOP_ROOT, "deploys.md")
    house.project.put("ops/days.md", house.project.files.pop("deploys.md"))
    house.store.notice([SHOP_ROOT])
    assert house.ledger.versions.current(SHOP_ROOT) == {"ops/days.md": before}
    assert house.ledger.versions.proofs(SHOP_ROOT, "ops/days.md") == proofs
    assert house.ledger.versions.tombstones() == ()
    assert house.project.files["MEMORY.md"].decode() == f"- [deploys](ops/days.md) — {WORDS}\n"


@pytest.mark.parametrize("gone", [3, 8])
def test_a_root_that_is_suddenly_emptier_buries_nothing_and_says_so(house: House, gone: int) -> None:
    for number, name in enumerate(NAMES):
        house.keep(PROJECT, f"{name}.md", f"Service number {number} listens on port 800{number}")
    kept = dict(house.project.files)
    house.project.files = {} if gone == 8 else dict(list(kept.items())[gone + 1 :])
    (warning,) = house.store.notice([SHOP_ROOT])
    assert warning.startswith(f"{SHOP_ROOT}: {gone} of 8 memories are gone at once; nothing was forgotten.")
    assert house.ledger.versions.tombstones() == ()
    for path, raw in kept.items():
        house.project.put(path, raw)
    assert house.store.notice([SHOP_ROOT]) == ()
    assert [row.foreign for row in house.store.survey(SHOP_ROOT)] == [False] * 8


@pytest.mark.parametrize(
    ("there", "gone", "is_deletion"), [(3, 2, True), (4, 3, False), (40, 10, True), (40, 11, False)]
)
def test_a_quarter_of_a_root_and_two_at_least_may_be_deleted_at_once(
    house: House, there: int, gone: int, is_deletion: bool
) -> None:
    for number in range(there):
        house.project.put(f"m{number}.md", fact(f"m{number}", f"Service number {number}").encode())
    house.store.notice([SHOP_ROOT])
    for number in range(gone):
        del house.project.files[f"m{number}.md"]
    assert (house.store.notice([SHOP_ROOT]) == ()) is is_deletion
    assert len(house.ledger.versions.tombstones()) == (gone if is_deletion else 0)


def test_what_is_gone_is_forgotten_by_the_command_that_the_warning_names(house: House) -> None:
    for number, name in enumerate(NAMES):
        house.keep(PROJECT, f"{name}.md", f"Service number {number} listens on port 800{number}")
    house.now += HOUR
    for name in NAMES[:4]:
        del house.project.files[f"{name}.md"]
    (warning,) = house.store.notice([SHOP_ROOT])
    places = re.findall(r"`extractord memories forget (\S+)`", warning)
    assert (len(places), warning.endswith(" and 1 more")) == (3, True)
    keeping = Keeping(house.store)
    for place in places:
        keeping.forget(SHOP_ROOT, place.removeprefix(f"{SHOP_ROOT}/"))
    assert house.store.notice([SHOP_ROOT]) == ()
    assert {one.name for one in house.ledger.versions.tombstones()} == set(NAMES[:4])
    assert set(house.ledger.versions.current(SHOP_ROOT)) == {f"{name}.md" for name in NAMES[4:]}
    with pytest.raises(UsageError, match="is not there"):
        keeping.forget(SHOP_ROOT, "zero.md")


def test_a_lost_ledger_brings_nothing_back(house: House) -> None:
    deleted_by_hand(house)
    house.ledger = Ledger.in_memory()
    house.reopen().recover()
    assert [stone.name for stone in house.ledger.versions.tombstones()] == ["deploys"]
    change = house.change(PROJECT, "deploys.md", fact("deploys", WORDS), Evidence(entry="e1", quote=WORDS))
    assert house.commit([change], said("e1", WORDS)).refusals[0].rule == "forgotten"


def test_a_lost_register_is_written_again_and_a_torn_line_passed_over(house: House) -> None:
    deleted_by_hand(house)
    lines = house.register.read_bytes()
    house.register.unlink()
    house.store.recover()
    assert house.register.read_bytes() == lines
    house.register.write_bytes(lines + b'{"root": "us')
    house.store.recover()
    house.register.write_bytes(b"nonsense\n")
    with pytest.raises(StoreError, match="damaged"):
        house.store.recover()


def test_blocking_needs_the_entry_and_the_name_or_the_words() -> None:
    words = fingerprint(KEY, fact("deploys", WORDS))
    stone = Tombstone(root="user", name="Deploys", fingerprint=words, key="k", made_at=START, why="forgotten")
    earlier, later = Proof(key="k", said_at=START), Proof(key="k", said_at=START + HOUR)
    other = fingerprint(KEY, fact("x", "Tabs are used in every file of this project"))
    assert blocking([stone], "user", "deploys", other, [earlier]) == stone
    assert blocking([stone], "user", "other", words, [earlier]) == stone
    part = fingerprint(KEY, fact("x", "Tuesdays only"))
    assert blocking([stone], "user", "other", part, [earlier]) == stone
    assert blocking([stone], "user", "other", part, [later]) is None
    assert blocking([stone], "user", "other", other, [earlier]) is None
    assert blocking([stone], "user", "deploys", words, [later]) is None
    assert blocking([stone], "user", "deploys", words, [Proof(key="j", said_at=START)]) is None
    assert msgspec.json.decode(msgspec.json.encode(stone), type=Tombstone) == stone


def test_a_tombstone_without_a_proof_needs_the_words_or_the_name_in_its_own_root() -> None:
    words = fingerprint(KEY, fact("deploys", WORDS))
    stone = Tombstone(root="user", name="Deploys", fingerprint=words, key="", made_at=START, why="forgotten")
    earlier, later = Proof(key="k", said_at=START), Proof(key="j", said_at=START + HOUR)
    other = fingerprint(KEY, fact("x", "Tabs are used in every file of this project"))
    assert blocking([stone], "user", "deploys", other, [earlier]) == stone
    assert blocking([stone], SHOP_ROOT, "other", words, [earlier]) == stone
    assert blocking([stone], SHOP_ROOT, "other", words, []) == stone
    assert blocking([stone], SHOP_ROOT, "deploys", other, [earlier]) is None
    assert blocking([stone], "user", "deploys", words, [earlier, later]) is None
    bare = msgspec.structs.replace(stone, fingerprint=())
    assert blocking([bare], "user", "other", (), [earlier]) is None


@pytest.mark.parametrize("by_hand", [True, False])
def test_what_rests_on_no_known_entry_stays_forgotten_until_it_is_said_anew(
    house: House, by_hand: bool
) -> None:
    house.keep(PROJECT, "tabs.md", "Tabs are used in this project", label="e2")
    house.project.put("deploys.md", fact("deploys", WORDS).encode())
    house.now += HOUR
    if by_hand:
        house.store.notice([SHOP_ROOT])
        del house.project.files["deploys.md"]
        house.store.notice([SHOP_ROOT])
    else:
        Keeping(house.store).forget(SHOP_ROOT, "deploys.md")
    assert [(one.name, one.key) for one in house.ledger.versions.tombstones()] == [("deploys", "")]
    change = house.change(PROJECT, "days.md", fact("days", WORDS), Evidence(entry="e1", quote=WORDS))
    assert [one.rule for one in house.commit([change], said("e1", WORDS)).refusals] == ["forgotten"]
    house.now += HOUR
    assert house.keep(PROJECT, "days.md", WORDS).written == ("/memory/project/days.md",)


def test_what_is_forgotten_after_the_ledger_was_lost_stays_forgotten(house: House) -> None:
    house.keep(PROJECT, "deploys.md", WORDS)
    house.ledger = Ledger.in_memory()
    house.reopen().recover()
    house.now += HOUR
    Keeping(house.store).forget(SHOP_ROOT, "deploys.md")
    change = house.change(PROJECT, "deploys.md", fact("deploys", WORDS), Evidence(entry="e1", quote=WORDS))
    assert [one.rule for one in house.commit([change], said("e1", WORDS)).refusals] == ["forgotten"]


def test_a_name_that_was_forgotten_without_proof_follows_its_root(house: House) -> None:
    house.project.put("deploys.md", fact("deploys", WORDS).encode())
    Keeping(house.store).forget(SHOP_ROOT, "deploys.md")
    house.ledger.rehoming.move(SHOP_ROOT, "projects/new", SHOP)
    stones = house.ledger.versions.tombstones()
    assert {(one.root, one.name) for one in stones} == {(SHOP_ROOT, "deploys"), ("projects/new", "deploys")}


def test_a_file_that_is_no_text_may_be_deleted_by_hand(house: House) -> None:
    house.project.put("deploys.md", b"\xff\xfe")
    house.keep(PROJECT, "tabs.md", "Tabs are used in this project", label="e2")
    del house.project.files["deploys.md"]
    assert house.store.notice([SHOP_ROOT]) == ()
    assert "deploys.md" not in house.ledger.versions.current(SHOP_ROOT)


def test_a_user_fact_is_kept_in_the_users_root(house: House) -> None:
    assert house.keep(USER, "tabs.md", "I prefer tabs in every file", "user").outcome is Outcome.SAVED
