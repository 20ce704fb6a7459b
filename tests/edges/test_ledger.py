"""The contract of the ledger, on the disk and in memory."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from extractord.core.ports import Baseline, Owner, RangeState, RunRow, Spent
from extractord.core.records import Project, Refusal, Usage
from extractord.core.versions import Held
from extractord.edges.ledger import Ledger
from extractord.edges.ledger.connection import from_ms, to_ms
from extractord.edges.ledger.standing import Waiting
from extractord.errors import LedgerError

NOW = datetime(2026, 11, 30, 12, 0, 0, 123000, tzinfo=UTC)
LATER = NOW + timedelta(minutes=5)
GONE = Owner(pid=2**22 + 1, started=1, boot="another boot")
SESSION = ("claude-code", "s1")


@pytest.fixture(params=["disk", "memory"])
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ledger]:
    with Ledger.open(tmp_path / "state") if request.param == "disk" else Ledger.in_memory() as opened:
        yield opened


@pytest.fixture
def me(ledger: Ledger) -> Owner:
    return ledger.present()


def known(state: str, *, run: str | None = None, reason: str = "", **more: int) -> RangeState:
    return RangeState(state=state, reason=reason, run=run, retry_at=None, **{"attempts": 0, **more})


def a_run(run: str, **fields: object) -> RunRow:
    return RunRow(
        **{  # type: ignore[arg-type]
            "run": run,
            "agent": "codex",
            "session": "s1",
            "project": "shop-0123456789abcdef",
            "model": "heuristic",
            "started_at": NOW,
            **fields,
        }
    )


def test_a_time_survives_to_the_millisecond() -> None:
    assert from_ms(to_ms(NOW)) == NOW
    assert to_ms(datetime(1970, 1, 1, 0, 0, 1, 999, tzinfo=UTC)) == 1000


def test_a_new_ledger_knows_nothing(ledger: Ledger) -> None:
    assert ledger.ranges.cursor("/t.jsonl") is None
    assert ledger.ranges.states(*SESSION) == {}
    assert ledger.ranges.baselines(*SESSION) == ()
    assert ledger.ranges.project(*SESSION, "/w") is None
    assert ledger.ranges.reap(NOW) == ()
    assert ledger.runs.recent(10) == ()
    assert ledger.runs.spent(NOW) == Spent()
    assert ledger.audit.verify() == 0
    assert ledger.standing.waiting() == ()


def test_a_cursor_is_the_last_one_saved_whatever_the_name_is(ledger: Ledger) -> None:
    odd = b"/t/\xff.jsonl".decode("utf-8", "surrogateescape")
    ledger.ranges.save_cursor(odd, "codex", None, b"one")
    ledger.ranges.save_cursor(odd, "codex", "s1", b"two\x00")
    assert ledger.ranges.cursor(odd) == b"two\x00"
    assert ledger.ranges.cursor("/t/other.jsonl") is None


def test_a_root_is_known_once_it_was_noted_and_for_its_agent_only(ledger: Ledger) -> None:
    assert not ledger.ranges.known_root("codex", "/home/a/.codex")
    ledger.ranges.note_root("codex", "/home/a/.codex")
    ledger.ranges.note_root("codex", "/home/a/.codex")
    assert ledger.ranges.known_root("codex", "/home/a/.codex")
    assert not ledger.ranges.known_root("pi", "/home/a/.codex")
    assert ledger.standing.sources() == (("codex", "/home/a/.codex"),)


def test_a_session_has_one_baseline_for_each_file(ledger: Ledger) -> None:
    first = Baseline(path="/a.jsonl", offset=10, last_entry="e1")
    second = Baseline(path="/b.jsonl", offset=0, last_entry=None)
    ledger.ranges.note_baseline(*SESSION, second)
    ledger.ranges.note_baseline(*SESSION, Baseline(path="/a.jsonl", offset=5, last_entry=None))
    ledger.ranges.note_baseline(*SESSION, first)
    ledger.ranges.note_baseline("claude-code", "s2", first)
    assert ledger.ranges.baselines(*SESSION) == (first, second)


def test_a_project_stays_as_it_was_first_seen(ledger: Ledger) -> None:
    first = Project(slug="shop-1", identity="/w/shop", directory="/w/shop")
    home = Project(slug="a-2", identity="/home/a", directory="/home/a", is_project=False)
    ledger.ranges.note_project(*SESSION, "/w/shop/src", first)
    ledger.ranges.note_project(*SESSION, "/w/shop/src", home)
    ledger.ranges.note_project(*SESSION, "/home/a", home)
    assert ledger.ranges.project(*SESSION, "/w/shop/src") == first
    assert ledger.ranges.project(*SESSION, "/home/a") == home
    assert ledger.ranges.project("codex", "s1", "/home/a") is None


def test_a_skip_closes_only_its_exchange_and_keeps_the_first_reason(ledger: Ledger) -> None:
    ledger.ranges.close(*SESSION, ["k1"], "no_prose", NOW)
    ledger.ranges.close(*SESSION, ["k1", "k2"], "own_run", LATER)
    ledger.ranges.close("codex", "s1", ["k3"], "excluded", NOW)
    assert ledger.ranges.states(*SESSION) == {
        "k1": known("closed", reason="no_prose"),
        "k2": known("closed", reason="own_run"),
    }


def test_a_claim_takes_all_of_its_exchanges(ledger: Ledger, me: Owner) -> None:
    assert ledger.ranges.claim(*SESSION, ["k1", "k2", "k1"], "r1", me, NOW)
    assert ledger.ranges.states(*SESSION) == {
        "k1": known("claimed", run="r1"),
        "k2": known("claimed", run="r1"),
    }
    assert ledger.ranges.holds("r1", me)
    assert not ledger.ranges.holds("r1", GONE)
    assert not ledger.ranges.holds("r2", me)
    assert ledger.standing.running() == ("r1",)


@pytest.mark.parametrize("taken", ["claimed", "closed"])
def test_a_claim_takes_nothing_where_one_is_taken(ledger: Ledger, me: Owner, taken: str) -> None:
    if taken == "claimed":
        assert ledger.ranges.claim(*SESSION, ["k2"], "r1", me, NOW)
    else:
        ledger.ranges.close(*SESSION, ["k2"], "no_prose", NOW)
    before = ledger.ranges.states(*SESSION)
    assert not ledger.ranges.claim(*SESSION, ["k1", "k2"], "r2", me, NOW)
    assert ledger.ranges.states(*SESSION) == before
    assert not ledger.ranges.holds("r2", me)
    assert ledger.ranges.claim(*SESSION, ["k1"], "r3", me, NOW)


def test_a_run_claims_once(ledger: Ledger, me: Owner) -> None:
    assert ledger.ranges.claim(*SESSION, ["k1"], "r1", me, NOW)
    assert not ledger.ranges.claim(*SESSION, ["k2"], "r1", me, NOW)


def test_a_claimed_exchange_is_not_closed_by_a_skip(ledger: Ledger, me: Owner) -> None:
    assert ledger.ranges.claim(*SESSION, ["k1"], "r1", me, NOW)
    ledger.ranges.close(*SESSION, ["k1"], "no_prose", NOW)
    assert ledger.ranges.states(*SESSION) == {"k1": known("claimed", run="r1")}


def test_what_a_run_finished_is_closed_with_its_reason(ledger: Ledger, me: Owner) -> None:
    assert ledger.ranges.claim(*SESSION, ["k1"], "r1", me, NOW)
    ledger.ranges.finish("r1", "nothing_to_save", LATER)
    assert ledger.ranges.states(*SESSION) == {"k1": known("closed", run="r1", reason="nothing_to_save")}
    assert not ledger.ranges.holds("r1", me)


def test_a_released_exchange_is_open_and_only_attempts_count(ledger: Ledger, me: Owner) -> None:
    assert ledger.ranges.claim(*SESSION, ["k1"], "r1", me, NOW)
    ledger.ranges.release("r1", attempted=True, retry_at=LATER, reason="timeout")
    expected = RangeState(state="open", reason="timeout", run="r1", attempts=1, retry_at=LATER)
    assert ledger.ranges.states(*SESSION) == {"k1": expected}
    assert ledger.ranges.claim(*SESSION, ["k1", "k2"], "r2", me, LATER)
    ledger.ranges.release("r2", attempted=False, retry_at=None, reason="quota")
    assert ledger.ranges.states(*SESSION) == {
        "k1": known("open", run="r2", reason="quota", attempts=1),
        "k2": known("open", run="r2", reason="quota"),
    }
    assert not ledger.ranges.holds("r2", me)


def test_the_claims_of_the_gone_are_reaped_and_those_of_the_living_stay(ledger: Ledger, me: Owner) -> None:
    assert ledger.ranges.claim(*SESSION, ["k1"], "r1", GONE, NOW)
    assert ledger.ranges.claim(*SESSION, ["k2"], "r2", me, NOW)
    assert ledger.standing.running() == ("r2",)
    assert ledger.ranges.reap(NOW) == ("r1",)
    assert ledger.ranges.reap(NOW) == ()
    assert ledger.ranges.states(*SESSION) == {
        "k1": known("open", run="r1", reason="process gone", lost=1),
        "k2": known("claimed", run="r2"),
    }


def test_a_claim_of_the_gone_is_free_at_once_and_still_reaped(ledger: Ledger, me: Owner) -> None:
    assert ledger.ranges.claim(*SESSION, ["k1", "k2"], "r1", GONE, NOW)
    assert ledger.ranges.claim(*SESSION, ["k1"], "r2", me, NOW)
    assert ledger.ranges.reap(NOW) == ("r1",)
    assert ledger.ranges.states(*SESSION) == {
        "k1": known("claimed", run="r2", lost=1),
        "k2": known("open", run="r1", reason="process gone", lost=1),
    }


def test_runs_lost_in_a_row_are_counted_until_one_ends_by_itself(ledger: Ledger, me: Owner) -> None:
    for run in ("r1", "r2", "r3"):
        assert ledger.ranges.claim(*SESSION, ["k1"], run, GONE, NOW)
        assert ledger.ranges.reap(NOW) == (run,)
    assert ledger.ranges.states(*SESSION)["k1"].lost == 3
    assert ledger.ranges.claim(*SESSION, ["k1"], "r4", me, NOW)
    ledger.ranges.release("r4", attempted=True, retry_at=None)
    assert ledger.ranges.states(*SESSION) == {"k1": known("open", run="r4", attempts=1)}


def test_a_copy_belongs_to_the_session_that_had_it_first(ledger: Ledger, me: Owner) -> None:
    ledger.ranges.close(*SESSION, ["k1"], "no_prose", NOW)
    assert ledger.ranges.claim(*SESSION, ["k2"], "r1", me, NOW)
    ledger.ranges.close("claude-code", "fork", ["k1", "k3"], "already_seen", NOW)
    ledger.ranges.close("claude-code", "fork", ["own"], "no_prose", NOW)
    assert ledger.ranges.elsewhere("claude-code", "fork", ["k1", "k2", "k3"]) == {"k1", "k2"}
    assert ledger.ranges.elsewhere(*SESSION, ["k1", "k2", "k3", "own"]) == {"own"}
    assert ledger.ranges.elsewhere("codex", "fork", ["k1", "k2"]) == frozenset()


def test_reopening_a_run_opens_what_it_closed_and_rereads_its_session(ledger: Ledger, me: Owner) -> None:
    ledger.ranges.save_cursor("/s1.jsonl", *SESSION, b"c")
    ledger.ranges.save_cursor("/s2.jsonl", "claude-code", "s2", b"c")
    ledger.ranges.close(*SESSION, ["k0"], "no_prose", NOW)
    assert ledger.ranges.claim(*SESSION, ["k1"], "r1", me, NOW)
    ledger.ranges.release("r1", attempted=True, retry_at=LATER)
    assert ledger.ranges.claim(*SESSION, ["k1", "k2"], "r2", me, NOW)
    ledger.ranges.finish("r2", "parked", NOW)
    assert ledger.ranges.reopen("r2") == 2
    assert ledger.ranges.states(*SESSION) == {
        "k0": known("closed", reason="no_prose"),
        "k1": known("open", run="r2", reason="retry"),
        "k2": known("open", run="r2", reason="retry"),
    }
    assert ledger.ranges.cursor("/s1.jsonl") is None
    assert ledger.ranges.cursor("/s2.jsonl") == b"c"
    assert ledger.ranges.reopen("r2") == 0


def test_what_waits_is_told_by_session(ledger: Ledger, me: Owner) -> None:
    assert ledger.ranges.claim(*SESSION, ["k1", "k2"], "r1", me, NOW)
    ledger.ranges.release("r1", attempted=True, retry_at=LATER, reason="timeout")
    ledger.ranges.close(*SESSION, ["k3"], "no_prose", NOW)
    assert ledger.standing.waiting() == (
        Waiting(agent="claude-code", session="s1", exchanges=2, attempts=1, reason="timeout", retry_at=LATER),
    )


def test_a_parked_run_is_told_until_it_is_reopened(ledger: Ledger, me: Owner) -> None:
    parked = a_run("r1", outcome="parked", reason="attempts spent")
    ledger.runs.start(parked)
    ledger.runs.start(a_run("r2", outcome="saved"))
    assert ledger.ranges.claim("codex", "s1", ["k1"], "r1", me, NOW)
    ledger.ranges.finish("r1", "parked", NOW)
    ledger.runs.keep_brief("r1", b"brief")
    assert ledger.standing.parked() == (parked,)
    assert ledger.runs.kept_open() == ()
    ledger.ranges.reopen("r1")
    assert (ledger.standing.parked(), ledger.runs.kept_open()) == ((), (b"brief",))


def test_what_is_held_is_counted_while_it_waits(ledger: Ledger) -> None:
    assert ledger.standing.held() == 0
    ledger.versions.hold(Held(key="k1", run="r1", at=NOW, changes=()))
    ledger.versions.hold(Held(key="k2", run="r1", at=NOW, changes=()))
    assert ledger.standing.held() == 2
    ledger.versions.settle(ledger.versions.held()[0].id, "rejected")
    assert ledger.standing.held() == 1


def test_a_finished_run_replaces_the_one_that_began(ledger: Ledger) -> None:
    ledger.runs.start(a_run("r1"))
    assert ledger.runs.recent(1)[0].outcome == "running"
    done = a_run(
        "r1",
        ended_at=LATER,
        outcome="saved",
        reason="finished",
        written=("user/a.md", "project/ü.md"),
        removed=("user/b.md",),
        held=("h1",),
        denied=2,
        requests=3,
        prompt_tokens=1200,
        completion_tokens=90,
        dollars=0.0125,
        ms=4321,
        confinement="landlock 7, seccomp",
    )
    ledger.runs.finish(done)
    assert ledger.runs.recent(10) == (done,)


def test_the_newest_runs_come_first(ledger: Ledger) -> None:
    for number in range(5):
        ledger.runs.start(a_run(f"r{number}", started_at=NOW + timedelta(seconds=number)))
    assert [row.run for row in ledger.runs.recent(3)] == ["r4", "r3", "r2"]


def test_a_run_is_found_by_the_beginning_of_its_id_where_that_is_unique(ledger: Ledger) -> None:
    for run in ("01ABC", "01ABCD", "01X"):
        ledger.runs.start(a_run(run))
    found = {run: ledger.runs.one(run) for run in ("01X", "01ABC", "01AB", "02", "", "01ABCD", "01_")}
    assert {run: row and row.run for run, row in found.items()} == {
        "01X": "01X",
        "01ABC": "01ABC",
        "01AB": None,
        "02": None,
        "": None,
        "01ABCD": "01ABCD",
        "01_": None,
    }


def test_every_request_is_spent_a_failed_one_too(ledger: Ledger) -> None:
    usage = Usage(prompt_tokens=100, completion_tokens=10, cached_tokens=50, dollars=0.25)
    ledger.runs.spend("r1", usage, NOW - timedelta(days=1), None)
    ledger.runs.spend("r1", usage, NOW, None)
    ledger.runs.spend("r2", Usage(), LATER, "transient")
    assert ledger.runs.spent(NOW) == Spent(requests=2, tokens=110, dollars=0.25)
    assert ledger.runs.spent(NOW, "r2") == Spent(requests=1)
    assert ledger.runs.spent(NOW - timedelta(days=2), "r1") == Spent(requests=2, tokens=220, dollars=0.5)


def test_the_audit_keeps_rules_and_ids_and_no_reasons(ledger: Ledger) -> None:
    refusal = Refusal(
        tool="Write", path="/memory/\u202e" + "x" * 300, verdict="deny", rule="names", reason="!"
    )
    ledger.audit.refused("r1", "child", [refusal, refusal], "landlock", NOW)
    ledger.confined("landlock7")
    ledger.audit.note("commit", "r1", {"b": 1, "a": ["é"]}, LATER)
    newest, *older = ledger.audit.recent(10)
    assert (newest.kind, newest.subject, newest.detail, newest.at) == (
        "commit", "r1", {"a": ["é"], "b": 1, "confinement": "landlock7"}, LATER,
    )  # fmt: skip
    assert [row.detail for row in older] == [
        {
            "by": "child",
            "confinement": "landlock",
            "path": ("/memory/\u202e" + "x" * 300)[:200],
            "rule": "names",
            "tool": "Write",
            "verdict": "deny",
        }
    ] * 2
    assert ledger.audit.about("r1") == (*reversed(older), newest)
    assert ledger.audit.about("r2") == ()
    assert ledger.audit.head() == newest.hash
    assert ledger.audit.verify() == 3


@pytest.mark.parametrize(
    "harm",
    [
        "UPDATE audit SET subject = 'r2' WHERE id = 2",
        "UPDATE audit SET at = at + 1 WHERE id = 1",
        "UPDATE audit SET detail = '{}' WHERE id = 3",
        "DELETE FROM audit WHERE id = 2",
        "DELETE FROM audit WHERE id = 3",
        "DELETE FROM audit",
        "UPDATE audit SET id = 9 WHERE id = 3",
    ],
)
def test_a_changed_audit_is_refused_and_an_unchanged_one_still_verifies(ledger: Ledger, harm: str) -> None:
    for number in range(3):
        ledger.audit.note("commit", f"r{number}", {"n": number}, NOW)
    assert ledger.audit.verify() == 3
    raw = ledger._connection
    raw.execute("DROP TRIGGER audit_is_never_changed")
    raw.execute("DROP TRIGGER audit_is_never_cut")
    raw.execute(harm)
    with pytest.raises(LedgerError, match="the audit"):
        ledger.audit.verify()


def test_an_audit_that_lost_its_end_and_its_counter_is_refused(ledger: Ledger) -> None:
    for number in range(3):
        ledger.audit.note("commit", f"r{number}", {"n": number}, NOW)
    raw = ledger._connection
    raw.execute("DROP TRIGGER audit_is_never_cut")
    raw.execute("DELETE FROM audit WHERE id = 3")
    raw.execute("DELETE FROM sqlite_sequence WHERE name = 'audit'")
    with pytest.raises(LedgerError, match="ends at row 2, but 0 were counted"):
        ledger.audit.verify()


@pytest.mark.parametrize("harm", ["UPDATE audit SET subject = 'r2'", "DELETE FROM audit"])
def test_the_audit_takes_no_change(ledger: Ledger, harm: str) -> None:
    ledger.audit.note("commit", "r1", {}, NOW)
    with pytest.raises(Exception, match="append-only"):
        ledger._connection.execute(harm)
    assert ledger.audit.verify() == 1


def test_a_transaction_that_fails_changes_nothing_and_the_next_one_works(ledger: Ledger, me: Owner) -> None:
    ledger.audit.note("commit", "r0", {}, NOW)
    with pytest.raises(ZeroDivisionError), ledger.transaction():  # noqa: PT012
        assert ledger.ranges.claim(*SESSION, ["k1"], "r1", me, NOW)
        with ledger.transaction():
            ledger.runs.start(a_run("r1"))
            ledger.audit.note("commit", "r1", {}, NOW)
        raise ZeroDivisionError
    assert (ledger.ranges.states(*SESSION), ledger.runs.recent(1), ledger.audit.verify()) == ({}, (), 1)
    with ledger.transaction():
        ledger.ranges.close(*SESSION, ["k1"], "no_prose", NOW)
    ledger.audit.note("commit", "r2", {}, NOW)
    assert ledger.ranges.states(*SESSION) == {"k1": known("closed", reason="no_prose")}
    assert ledger.audit.verify() == 2


def test_a_question_is_one_statement_and_a_fault_is_still_told_with_its_place(tmp_path: Path) -> None:
    with Ledger.open(tmp_path) as ledger:
        asked: list[str] = []
        ledger._connection.set_trace_callback(asked.append)
        assert ledger.runs.recent(3) == ()
        assert len(asked) == 1
        ledger._connection.execute("DROP TABLE runs")
        with pytest.raises(LedgerError, match=f"{tmp_path}/ledger.db: no such table"):
            ledger.runs.recent(3)
