import zlib
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from storing import PROJECT, SHOP_ROOT, House, fact, said

from extractord.core.digesting import digest
from extractord.core.records import Evidence, Outcome
from extractord.core.versions import Current
from extractord.edges.store import Keeping, Reviewing, Undone
from extractord.edges.store.lock import locked
from extractord.edges.store.store import PERSON, UNATTENDED
from extractord.errors import ConflictError, UsageError
from extractord.policy.requests import Trust

WORDS = "Deploys happen on Tuesdays only"
OTHER = "Tabs are used in this project"
PLACE = f"{SHOP_ROOT}/deploys.md"


@pytest.fixture
def house(tmp_path: Path) -> House:
    house = House(tmp_path)
    house.keep(PROJECT, "tabs.md", OTHER, label="e2")
    house.keep(PROJECT, "deploys.md", WORDS)
    return house


def test_what_is_forgotten_is_gone_from_disk_and_index_and_does_not_come_back(house: House) -> None:
    house.now += timedelta(hours=1)
    Keeping(house.store).forget(SHOP_ROOT, "deploys.md")
    assert set(house.project.files) == {"MEMORY.md", "tabs.md"}
    assert house.project.files["MEMORY.md"].decode() == f"- [tabs](tabs.md) — {OTHER}\n"
    again = house.change(PROJECT, "deploys.md", fact("deploys", WORDS), Evidence(entry="e1", quote=WORDS))
    assert house.commit([again], said("e1", WORDS)).outcome is Outcome.NOTHING_TO_SAVE
    with pytest.raises(UsageError, match="is not there"):
        Keeping(house.store).forget(SHOP_ROOT, "deploys.md")


def test_a_purge_erases_the_history_of_what_is_gone_and_nothing_else(house: House) -> None:
    keeping = Keeping(house.store)
    sha256 = digest(house.project.files["deploys.md"])
    with pytest.raises(UsageError, match="forget it first"):
        keeping.purge(SHOP_ROOT, "deploys.md")
    keeping.forget(SHOP_ROOT, "deploys.md")
    assert house.ledger.versions.content(sha256) is not None
    keeping.purge(SHOP_ROOT, "deploys.md")
    assert house.ledger.versions.content(sha256) is None
    assert keeping.history(SHOP_ROOT, "deploys.md") == ()
    assert house.ledger.versions.content(digest(house.project.files["tabs.md"])) is not None


def test_a_version_is_restored_as_confirmed(house: House) -> None:
    keeping = Keeping(house.store)
    first = house.project.files["deploys.md"]
    keeping.forget(SHOP_ROOT, "deploys.md")
    keeping.restore(SHOP_ROOT, "deploys.md", digest(first))
    assert house.project.files["deploys.md"] == first
    assert house.ledger.versions.current(SHOP_ROOT)["deploys.md"] == Current(
        sha256=digest(first), trust=Trust.CONFIRMED
    )
    with pytest.raises(UsageError, match="has no version"):
        keeping.restore(SHOP_ROOT, "deploys.md", "0" * 64)


def test_a_pinned_memory_is_changed_by_no_run_until_it_is_unpinned(house: House) -> None:
    keeping = Keeping(house.store)
    keeping.pin(SHOP_ROOT, "deploys.md", pinned=True)
    words = "Deploys happen on Fridays and on Tuesdays only"
    change = house.change(PROJECT, "deploys.md", fact("deploys", words), Evidence(entry="e9", quote=words))
    assert [one.rule for one in house.commit([change], said("e9", words)).refusals] == ["pinned"]
    keeping.pin(SHOP_ROOT, "deploys.md", pinned=False)
    assert house.commit([change], said("e9", words)).outcome is Outcome.SAVED
    with pytest.raises(UsageError, match="is not there"):
        keeping.pin(SHOP_ROOT, "none.md", pinned=True)


def test_a_run_is_undone_whole_and_its_creation_leaves_a_tombstone(house: House) -> None:
    before = dict(house.project.files)
    words = "Deploys happen on Fridays and on Tuesdays only, and tabs are gone"
    cited = Evidence(entry="e9", quote=words)
    house.now += timedelta(hours=1)
    changes = [
        house.change(
            PROJECT, "deploys.md", fact("deploys", "Deploys happen on Fridays and on Tuesdays only"), cited
        ),
        house.change(PROJECT, "gone.md", fact("gone", "tabs are gone"), cited),
    ]
    context = house.context(said("e9", words))
    assert house.store.commit(changes, context).outcome is Outcome.SAVED
    undone = Keeping(house.store).undo(context.run)
    gone = f"{SHOP_ROOT}/gone.md"
    assert undone == Undone(restored=(PLACE, gone), removed=(gone,))
    assert house.project.files == before
    assert house.ledger.versions.current(SHOP_ROOT)["deploys.md"].trust is Trust.STATED
    assert [(stone.name, stone.why) for stone in house.ledger.versions.tombstones()] == [("gone", "undone")]


def test_a_removal_is_undone_too(house: House) -> None:
    before = dict(house.project.files)
    words = "Forget that deploys happen on Tuesdays only"
    context = house.context(said("e9", words))
    change = house.change(PROJECT, "deploys.md", None, Evidence(entry="e9", quote=words))
    house.store.commit([change], context)
    assert Keeping(house.store).undo(context.run) == Undone(restored=(PLACE,))
    assert house.project.files["deploys.md"] == before["deploys.md"]


def test_where_somebody_changed_it_since_nothing_is_undone(house: House) -> None:
    house.project.put("deploys.md", b"a person's words")
    before = dict(house.project.files)
    assert Keeping(house.store).undo("run-2") == Undone(conflicts=(PLACE,))
    assert house.project.files == before
    with pytest.raises(UsageError, match="changed no memory"):
        Keeping(house.store).undo("run-99")


def everything_kept(house: House) -> bytes:
    """Every version, and every row of the ledger."""
    ledger = house.ledger._connection
    packed = [zlib.decompress(raw) for (raw,) in ledger.execute("SELECT packed FROM contents")]
    return b"".join(packed) + "\n".join(ledger.iterdump()).encode()


def test_a_purge_erases_what_was_held_and_decided_and_the_versions_before_a_rename(house: House) -> None:
    words = "The coffee machine is on the third floor"
    cited = Evidence(entry="e9", quote=words)
    change = house.change(PROJECT, "coffee.md", fact("coffee", words), cited)
    house.commit([change], said("e9", words), mode="ask")
    (held,) = house.ledger.versions.held()
    Reviewing(house.store).accept(held)
    for old, new in (("coffee.md", "machines.md"), ("machines.md", "deep/floor.md")):
        raw = house.project.files.pop(old)
        house.project.put(new, raw)
        house.store.notice([SHOP_ROOT])
    assert words.encode() in everything_kept(house)
    keeping = Keeping(house.store)
    keeping.forget(SHOP_ROOT, "deep/floor.md")
    keeping.purge(SHOP_ROOT, "deep/floor.md")
    assert b"coffee machine" not in everything_kept(house)
    assert WORDS.encode() in everything_kept(house)
    assert [len(keeping.history(SHOP_ROOT, path)) for path in ("coffee.md", "machines.md")] == [0, 0]


def test_a_purge_leaves_another_memory_that_has_the_old_name_now(house: House) -> None:
    house.project.put("days.md", house.project.files.pop("deploys.md"))
    house.store.notice([SHOP_ROOT])
    house.project.put("deploys.md", fact("people", "Two people are needed").encode())
    house.store.notice([SHOP_ROOT])
    keeping = Keeping(house.store)
    keeping.forget(SHOP_ROOT, "days.md")
    keeping.purge(SHOP_ROOT, "days.md")
    assert WORDS.encode() not in everything_kept(house)
    (version,) = keeping.history(SHOP_ROOT, "deploys.md")
    assert house.ledger.versions.content(version.sha256 or "") == house.project.files["deploys.md"]


def test_what_is_purged_and_pinned_waits_for_the_lock(house: House) -> None:
    keeping = Keeping(house.store)
    keeping.forget(SHOP_ROOT, "deploys.md")
    with locked(house.memory):
        decisions: tuple[Callable[[], object], ...] = (
            lambda: keeping.purge(SHOP_ROOT, "deploys.md"),
            lambda: keeping.pin(SHOP_ROOT, "tabs.md", pinned=True),
        )
        for decide in decisions:
            with pytest.raises(ConflictError, match="busy"):
                decide()
    assert keeping.history(SHOP_ROOT, "deploys.md") != ()
    assert not house.ledger.versions.current(SHOP_ROOT)["tabs.md"].pinned


def test_a_pin_outlives_whatever_a_person_puts_in_its_place(house: House) -> None:
    keeping, reviewing = Keeping(house.store), Reviewing(house.store)
    words = "Deploys happen on Mondays"
    first = house.project.files["deploys.md"]
    change = house.change(PROJECT, "deploys.md", fact("deploys", words), Evidence(entry="e9", quote=words))
    house.commit([change], said("e9", words), mode="ask")
    made = house.change(PROJECT, "tabs.md", fact("tabs", words), Evidence(entry="e9", quote=words))
    context = house.context(said("e9", words))
    house.store.commit([made], context)

    def pinned(path: str) -> bool:
        return house.ledger.versions.current(SHOP_ROOT)[path].pinned

    for path in ("deploys.md", "tabs.md"):
        keeping.pin(SHOP_ROOT, path, pinned=True)
    with pytest.raises(UsageError, match="is pinned"):
        reviewing.accept(house.ledger.versions.held()[0])
    keeping.edit(SHOP_ROOT, "deploys.md", house.project.files["deploys.md"], fact("deploys", "Mine"))
    assert pinned("deploys.md")
    keeping.restore(SHOP_ROOT, "deploys.md", digest(first))
    assert pinned("deploys.md")
    house.project.put("deploys.md", fact("deploys", "By hand").encode())
    reviewing.confirm(SHOP_ROOT, "deploys.md", digest(house.project.files["deploys.md"]))
    assert pinned("deploys.md")
    assert keeping.undo(context.run).conflicts == ()
    assert pinned("tabs.md")
    keeping.pin(SHOP_ROOT, "tabs.md", pinned=False)
    keeping.edit(SHOP_ROOT, "tabs.md", house.project.files["tabs.md"], fact("tabs", "Mine too"))
    assert not pinned("tabs.md")


def test_where_nobody_sits_nothing_becomes_confirmed_and_the_audit_says_who_decided(house: House) -> None:
    sat, alone = Keeping(house.store), Keeping(house.store, UNATTENDED)
    sat.edit(SHOP_ROOT, "deploys.md", house.project.files["deploys.md"], fact("deploys", "Mine"))
    confirmed = house.project.files["deploys.md"]

    def known() -> tuple[Trust, bool]:
        current = house.ledger.versions.current(SHOP_ROOT)["deploys.md"]
        return current.trust, current.foreign

    sat.edit(SHOP_ROOT, "deploys.md", confirmed, fact("deploys", "Mine too"))
    alone.restore(SHOP_ROOT, "deploys.md", digest(confirmed))
    assert known() == (Trust.INFERRED, True)
    alone.edit(SHOP_ROOT, "deploys.md", confirmed, fact("deploys", "An agent's"))
    assert known() == (Trust.INFERRED, True)
    alone.pin(SHOP_ROOT, "tabs.md", pinned=True)
    alone.forget(SHOP_ROOT, "tabs.md")
    alone.purge(SHOP_ROOT, "tabs.md")
    house.keep(PROJECT, "trees.md", "Oaks are planted", label="e3")
    alone.undo(f"run-{house.runs}")
    kinds = [row.kind for row in house.ledger.audit.about(UNATTENDED)]
    assert kinds == ["restore", "edit", "pin", "forget", "purge", "undo"]
    assert [row.kind for row in house.ledger.audit.about(PERSON)] == ["edit", "edit"]
    sat.restore(SHOP_ROOT, "deploys.md", digest(confirmed))
    assert known() == (Trust.CONFIRMED, False)


def test_an_undo_gives_a_memory_the_standing_that_it_had_however_often(house: House) -> None:
    house.keep(PROJECT, "deploys.md", "Deploys happen by plan 1 on Tuesdays")
    before = house.ledger.versions.current(SHOP_ROOT)["deploys.md"]
    for number in (4, 5, 6):
        house.now += timedelta(minutes=1)
        kept = house.keep(PROJECT, "deploys.md", f"Deploys happen by plan {number} on Tuesdays")
        assert kept.outcome is Outcome.SAVED
        Keeping(house.store).undo(f"run-{number}")
        assert house.ledger.versions.current(SHOP_ROOT)["deploys.md"] == before
