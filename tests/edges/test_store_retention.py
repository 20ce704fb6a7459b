from datetime import timedelta
from pathlib import Path

import pytest
from storing import PROJECT, SHOP, SHOP_ROOT, House, fact, read_aloud

from extractord.core.digesting import digest
from extractord.core.ports import Expired, RunRow, Spent
from extractord.core.records import Evidence, Usage
from extractord.edges.store import Keeping, Reviewing
from extractord.errors import LedgerError, StoreError

DAY = timedelta(days=1)


@pytest.fixture
def house(tmp_path: Path) -> House:
    """A memory in four versions, a day apart, and a tombstone."""
    house = House(tmp_path)
    for number in range(4):
        house.keep(PROJECT, "deploys.md", f"Deploys happen by plan {number} on Tuesdays")
        house.now += DAY
    house.keep(PROJECT, "tabs.md", "Tabs are used in this project", label="e2")
    Keeping(house.store).forget(SHOP_ROOT, "tabs.md")
    return house


def test_without_a_limit_all_is_kept(house: House) -> None:
    assert house.store.expire(None, None) == Expired()
    assert len(house.ledger.versions.history(SHOP_ROOT, "deploys.md")) == 4


def test_what_will_go_is_told_first_and_the_newest_of_each_stays(house: House) -> None:
    house.now += 30 * DAY
    versions = house.ledger.versions.history(SHOP_ROOT, "deploys.md")
    will = house.ledger.retention.expired(house.now, house.now)
    assert will == Expired(versions=4, memories=2, audit_rows=10)
    assert house.store.expire(house.now, house.now) == will
    assert house.ledger.versions.history(SHOP_ROOT, "deploys.md") == versions[-1:]
    assert house.ledger.versions.content(versions[0].sha256 or "") is None
    assert house.ledger.versions.content(digest(house.project.files["deploys.md"])) is not None
    assert len(house.ledger.versions.tombstones()) == 1
    assert house.ledger.retention.expired(house.now, house.now).versions == 0


def test_some_of_it_goes_and_the_chain_goes_on(house: House) -> None:
    since = house.now - timedelta(hours=36)
    gone = house.store.expire(since, since)
    assert gone == Expired(versions=3, memories=1, audit_rows=6)
    rows = house.ledger.audit.recent(9)
    assert [row.kind for row in rows] == ["expired", "forget", "commit", "allowed", "commit", "allowed"]
    assert house.ledger.audit.verify() == 12
    house.keep(PROJECT, "deploys.md", "Deploys happen by plan 9 on Tuesdays")
    assert house.ledger.audit.verify() == 14
    house.store.expire(since, house.now)
    house.ledger.audit.verify()


def test_what_something_else_cut_is_still_found(house: House) -> None:
    house.store.expire(None, house.now - 2 * DAY)
    connection = house.ledger._connection
    connection.execute("DROP TRIGGER audit_is_never_cut")
    connection.execute("DELETE FROM audit WHERE id = (SELECT min(id) FROM audit)")
    with pytest.raises(LedgerError, match="broken"):
        house.ledger.audit.verify()


def test_the_rows_still_cannot_be_deleted_afterwards(house: House) -> None:
    house.store.expire(None, house.now - 2 * DAY)
    with pytest.raises(Exception, match="append-only"):
        house.ledger._connection.execute("DELETE FROM audit")


def ran(house: House, run: str, outcome: str) -> None:
    """A run with a request and a brief that was kept of it."""
    row = RunRow(
        run=run, agent="codex", session="s1", project=SHOP.slug, model="m", started_at=house.now,
        ended_at=house.now, outcome=outcome,
    )  # fmt: skip
    house.ledger.runs.start(row)
    house.ledger.runs.spend(run, Usage(prompt_tokens=7), house.now, None)
    house.ledger.runs.keep_brief(run, b"brief")


def test_old_runs_go_with_requests_and_briefs_but_the_newest_and_what_is_under_way(tmp_path: Path) -> None:
    house = House(tmp_path)
    for run, outcome in (("old", "parked"), ("at-work", "running"), ("newest", "saved")):
        ran(house, run, outcome)
        house.now += timedelta(minutes=1)
    owner = house.ledger.present()
    assert house.ledger.ranges.claim("codex", "s1", ["x"], "at-work", owner, house.now)
    early, house.now = house.now, house.now + timedelta(hours=1)
    assert house.store.expire(None, None, early).runs == 1
    assert [row.run for row in house.ledger.runs.recent(9)] == ["newest", "at-work"]
    briefs = house.ledger._connection.execute("SELECT run FROM briefs ORDER BY run")
    assert briefs.fetchall() == [("at-work",), ("newest",)]
    spent = house.ledger.runs.spent(early - DAY)
    assert spent == Spent(requests=3, tokens=21), "a day's budget counts what was spent in it"
    house.now += 2 * DAY
    assert house.store.expire(None, None, early).runs == 0
    assert house.ledger.runs.spent(early - DAY) == Spent(requests=2, tokens=14)
    (row,) = house.ledger.audit.recent(9)
    assert (row.kind, row.detail["runs"]) == ("expired", 1)


def test_what_was_held_and_is_decided_goes_and_what_waits_stays(tmp_path: Path) -> None:
    house = House(tmp_path)
    for name in ("tabs", "deploys"):
        words = f"A page says that {name} are settled"
        change = house.change(PROJECT, f"{name}.md", fact(name, words), Evidence(entry="e1", quote=words))
        house.commit([change], read_aloud("e1", words))
    rejected, waiting = house.ledger.versions.held()
    Reviewing(house.store).reject(rejected)
    house.now += DAY
    will = house.ledger.retention.expired(None, None, house.now)
    assert (will, house.store.expire(None, None, house.now)) == (Expired(held=1), will)
    assert house.ledger.versions.held() == (waiting,)
    assert house.ledger.versions.held("rejected") == ()
    words = "A page says that tabs are settled"
    change = house.change(PROJECT, "tabs.md", fact("tabs", words), Evidence(entry="e1", quote=words))
    again = house.commit([change], read_aloud("e1", words))
    assert [refusal.rule for refusal in again.refusals] == ["forgotten"], "its tombstone stays"


def test_an_edit_whose_version_before_was_let_go_is_not_undone_as_if_it_were_a_creation(house: House) -> None:
    words = house.project.files["deploys.md"]
    house.store.expire(house.now - timedelta(hours=36), None)
    with pytest.raises(StoreError, match="too old to be kept"):
        Keeping(house.store).undo("run-4")
    assert house.project.files["deploys.md"] == words
    assert [stone.name for stone in house.ledger.versions.tombstones()] == ["tabs"]


def test_a_creation_after_an_end_that_was_let_go_is_still_undone(house: House) -> None:
    house.now += DAY
    house.keep(PROJECT, "tabs.md", "Spaces are used in this project", label="e3")
    house.store.expire(house.now - timedelta(hours=12), None)
    assert Keeping(house.store).undo("run-6").restored == (f"{SHOP_ROOT}/tabs.md",)
    assert "tabs.md" not in house.project.files


def test_what_is_purged_is_no_more_said_to_have_been_cut(house: House) -> None:
    house.store.expire(house.now - timedelta(hours=36), None)
    assert house.ledger.versions.is_cut(SHOP_ROOT, "deploys.md")
    Keeping(house.store).forget(SHOP_ROOT, "deploys.md")
    Keeping(house.store).purge(SHOP_ROOT, "deploys.md")
    assert not house.ledger.versions.is_cut(SHOP_ROOT, "deploys.md")


def test_however_much_goes_no_other_connection_waits_for_all_of_it(house: House) -> None:
    with house.ledger.transaction():
        for number in range(1200):
            sha256 = house.ledger.versions.keep(b"version %d" % number)
            house.ledger.versions.note(SHOP_ROOT, "much.md", sha256, "person", None, house.now)
    house.now += DAY
    said: list[str] = []
    house.ledger._connection.set_trace_callback(said.append)
    assert house.store.expire(house.now, None).versions == 1203
    house.ledger._connection.set_trace_callback(None)
    most = here = 0
    for statement in said:
        here = 0 if statement.startswith("BEGIN") else here + statement.startswith("DELETE FROM history")
        most = max(most, here)
    assert 0 < most <= 500
    assert len(house.ledger.versions.history(SHOP_ROOT, "much.md")) == 1
