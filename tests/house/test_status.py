"""`status` and `runs`, as a person and as a script ask them."""

import json
import os
import subprocess
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from warm import typed

from extractord.core.ports import RunRow
from extractord.core.records import Refusal, Usage
from extractord.edges.ledger import Ledger
from extractord.edges.state import State

NOW = datetime.now(UTC).replace(microsecond=0)
"""When the tests were collected: it may be another day, or half an hour ago, when they run."""

ROW = RunRow(
    run="01AAAA",
    agent="codex",
    session="s1",
    project="shop-0123456789abcdef",
    model="heuristic",
    started_at=NOW - timedelta(hours=2, minutes=2),
    ended_at=NOW - timedelta(hours=2, minutes=1),
    outcome="saved",
    reason="finished",
    written=("project/deploys.md",),
    held=("7",),
    denied=2,
    requests=1,
    prompt_tokens=1200,
    completion_tokens=80,
    ms=4200,
    confinement="landlock 7",
)
PARKED = RunRow(
    run="01BBBB",
    agent="pi",
    session="s2",
    project="",
    model="m",
    started_at=NOW - timedelta(hours=3),
    outcome="parked",
    reason="attempts spent\x1b[31m",
)


def ask(state: Path, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    places = {name: str(state) for name in ("EXTRACTORD_STATE_DIR", "EXTRACTORD_DATA_DIR")}
    config = {"EXTRACTORD_CONFIG": str(state.parent / "config.toml")}
    (state.parent / "config.toml").touch()
    return typed(
        arguments, {"PATH": os.environ["PATH"], "HOME": str(state.parent), **places, **config, **env}
    )


def told(state: Path, *arguments: str) -> list[dict[str, object]]:
    """Ask with `--json`; return each line's object."""
    asked = ask(state, *arguments, "--json")
    assert (asked.returncode, asked.stderr) == (0, "")
    return [json.loads(line) for line in asked.stdout.splitlines()]


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """A state with a saved and a parked run, something waiting, a source, spend."""
    with Ledger.open(tmp_path / "state") as ledger:
        ledger.ranges.note_root("codex", "/home/a/.codex/sessions")
        for row in (ROW, PARKED):
            assert ledger.ranges.claim(row.agent, row.session, ["k1", "k2"], row.run, ledger.present(), NOW)
            ledger.runs.start(row)
            ledger.ranges.finish(row.run, row.outcome, NOW)
        refusal = Refusal(tool="Write", path="/memory/x", verdict="deny", rule="names", reason="no")
        ledger.audit.refused(ROW.run, "store", [refusal], "landlock 7", NOW)
        spent = Usage(prompt_tokens=1200, completion_tokens=80, dollars=0.9)
        ledger.runs.spend(ROW.run, spent, datetime.now(UTC), None)
        assert ledger.ranges.claim("pi", "s3", ["k1"], "01CCCC", ledger.present(), NOW)
        ledger.ranges.release("01CCCC", attempted=True, retry_at=None, reason="timeout")
    return tmp_path / "state"


def test_where_nothing_was_done_yet_status_says_so_and_makes_nothing(tmp_path: Path) -> None:
    asked = ask(tmp_path / "state", "status")
    assert (asked.returncode, asked.stderr) == (0, "")
    assert asked.stdout.splitlines() == [
        "daemon       not running: `extractord run` starts it",
        "last run     nothing yet",
        "today        0 of 200 requests, 0 of 2,000,000 tokens, 0.00 of 1.0 dollars",
    ]
    assert ask(tmp_path / "state", "runs", "list").stdout == (
        "nothing was run yet: `extractord run` watches, `extractord extract` reads what is there\n"
    )
    assert not (tmp_path / "state").exists()


def test_status_tells_a_person_how_things_stand(state: Path) -> None:
    asked = ask(state, "status")
    assert (asked.returncode, asked.stderr) == (0, "")
    assert asked.stdout.splitlines() == [
        "daemon       not running: `extractord run` starts it",
        "last run     saved (finished), 1 written, 1 held, 2 hours ago: 01AAAA",
        "today        1 of 200 requests, 1,280 of 2,000,000 tokens, 0.90 of 1.0 dollars",
        "             shop-0123456789abcdef with heuristic: 1 request, 0.9000 dollars",
        "             budget.day_dollars is nearly spent: 0.90 of 1.00",
        "waiting      1 exchange of pi s3, again at once; timeout",
        "parked       01BBBB: attempts spent\ufffd[31m; `extractord runs retry 01BBBB`",
        "confinement  landlock 7",
        "sources      no known agent has sessions on this machine",
    ]


def test_status_tells_a_script_the_same(state: Path) -> None:
    (found,) = told(state, "status")
    last = found.pop("last")
    parked = found.pop("parked")
    assert isinstance(last, dict)
    assert isinstance(parked, list)
    assert (last["run"], [row["run"] for row in parked]) == ("01AAAA", ["01BBBB"])
    assert found == {
        "daemon": {"running": False, "pid": None},
        "today": {
            "requests": {"spent": 1, "limit": 200},
            "tokens": {"spent": 1280, "limit": 2_000_000},
            "dollars": {"spent": 0.9, "limit": 1.0},
            "on": [
                {
                    "model": "heuristic",
                    "project": "shop-0123456789abcdef",
                    "requests": 1,
                    "tokens": 1280,
                    "dollars": 0.9,
                }
            ],
            "warning": "budget.day_dollars is nearly spent: 0.90 of 1.00",
        },
        "running": [],
        "waiting": [
            {
                "agent": "pi",
                "session": "s3",
                "exchanges": 1,
                "attempts": 1,
                "reason": "timeout",
                "retry_at": None,
            }
        ],
        "held": 0,
        "confinement": "landlock 7",
        "fleet": {"under_way": 0, "refused": 0, "inbox": 0},
        "bus": {"waiting": 0, "dropped": 0},
        "sources": [{"agent": "codex", "root": "/home/a/.codex/sessions"}],
    }


def test_status_sees_a_living_daemon_and_its_run(state: Path) -> None:
    with State.open(state) as held, Ledger.open(state) as ledger:
        held.lock()
        assert ledger.ranges.claim("pi", "s9", ["k1"], "01DDDD", ledger.present(), NOW)
        (found,) = told(state, "status")
    assert (found["daemon"], found["running"]) == ({"running": True, "pid": os.getpid()}, ["01DDDD"])


def test_a_run_that_went_with_its_process_is_not_called_running(state: Path) -> None:
    with Ledger.open(state) as ledger:
        ledger.runs.start(
            RunRow(
                run="01EE",
                agent="pi",
                session="s",
                project="",
                model="m",
                started_at=NOW - timedelta(hours=1, minutes=1),
            )
        )
    assert "last run     aborted (its process ended), 1 hour ago: 01EE" in ask(state, "status").stdout


def test_of_the_sources_those_are_listed_that_are_there(state: Path) -> None:
    with Ledger.open(state) as ledger:
        ledger.ranges.note_root("pi", str(state))
    assert f"sources      pi  {state}\n" in ask(state, "status").stdout
    (found,) = told(state, "status")
    assert found["sources"] == [
        {"agent": "codex", "root": "/home/a/.codex/sessions"},
        {"agent": "pi", "root": str(state)},
    ]


def test_a_run_is_told_in_one_shape(state: Path) -> None:
    newest, older = told(state, "runs", "list")
    assert older["run"] == "01BBBB"
    assert list(newest)[:13] == [
        "run", "agent", "session", "project", "outcome", "reason", "written", "removed", "held", "denied",
        "requests", "tokens", "ms",
    ]  # fmt: skip
    assert newest["tokens"] == {"prompt": 1200, "completion": 80}
    assert told(state, "runs", "list", "--limit", "1") == [newest]
    (shown,) = told(state, "runs", "show", "01A")
    refused = {
        "by": "store", "confinement": "landlock 7", "path": "/memory/x", "rule": "names", "tool": "Write",
        "verdict": "deny",
    }  # fmt: skip
    spent = {
        "prompt_tokens": 1200, "completion_tokens": 80, "cached_tokens": 0, "dollars": 0.9, "fault": None,
    }  # fmt: skip
    paid = shown.pop("spent")
    assert isinstance(paid, list)
    assert [one | {"at": ""} for one in paid] == [spent | {"at": ""}]
    assert shown == newest | {"refused": [refused]}


def test_runs_are_listed_for_a_person_and_obey_no_terminal_codes(state: Path) -> None:
    listed = ask(state, "runs", "list", NO_COLOR="1").stdout
    heads = [line.split()[0] for line in listed.splitlines() if not line.startswith(" ")]
    assert heads == ["01AAAA", "01BBBB"]
    assert "\x1b" not in listed
    shown = ask(state, "runs", "show", "01AAAA").stdout
    assert "tokens       1,200 prompt, 80 completion\n" in shown
    assert "refused      deny names: Write /memory/x (by store)\n" in shown


def test_a_parked_run_can_be_tried_again(state: Path) -> None:
    assert told(state, "runs", "retry", "01B") == [{"run": "01BBBB", "opened": 2}]
    assert told(state, "runs", "retry", "01B") == [{"run": "01BBBB", "opened": 0}]
    (found,) = told(state, "status")
    assert found["parked"] == []
    with Ledger.open(state) as ledger:
        states = ledger.ranges.states("pi", "s2")
    assert {key: (known.state, known.attempts) for key, known in states.items()} == {
        "k1": ("open", 0),
        "k2": ("open", 0),
    }


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["runs", "show", "02"], "no run, or more than one, begins with '02'"),
        (["runs", "show", "01"], "no run, or more than one, begins with '01'"),
        (["runs", "retry", "01AAAA"], "01AAAA is not parked, it ended as saved"),
        (["runs", "retry"], "name the parked runs"),
        (["runs", "retry", "01BBBB", "01AAAA"], "01AAAA is not parked"),
    ],
)
def test_what_cannot_be_meant_is_a_usage_error_and_changes_nothing(
    state: Path, arguments: list[str], said: str
) -> None:
    asked = ask(state, *arguments)
    assert (asked.returncode, asked.stdout) == (2, "")
    assert said in asked.stderr
    assert len(told(state, "runs", "retry", "01BBBB")) == 1


def test_a_damaged_ledger_is_named_and_is_no_crash(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "ledger.db").write_bytes(b"garbage" * 1000)
    asked = ask(tmp_path / "state", "status")
    assert (asked.returncode, asked.stdout) == (1, "")
    assert "ledger.db is damaged" in asked.stderr


def test_status_is_quick_over_many_runs(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "state") as ledger, ledger.transaction():
        rows = (
            (f"R{number:06}", "pi", "s", "p", "m", number, number, "saved", "", "[]", "[]", "[]", 0, 1, 9, 9,
             0.1, 5, "")
            for number in range(100_000)
        )  # fmt: skip
        ledger._connection.executemany(f"INSERT INTO runs VALUES ({','.join('?' * 19)})", rows)  # noqa: S608
        ledger._connection.execute(
            "INSERT INTO requests SELECT NULL, run, started_at, 9, 9, 0, 0.1, NULL FROM runs"
        )

    def took(state: Path) -> float:
        began = time.perf_counter()
        ask(state, "status")
        return time.perf_counter() - began

    many, none = list[float](), list[float]()
    while len(many) < 3 or (min(many) > min(none) + 0.2 and len(many) < 20):  # others work here too
        many.append(took(tmp_path / "state"))
        none.append(took(tmp_path / "empty"))
    assert min(many) <= min(none) + 0.2
    (found,) = told(tmp_path / "state", "status")
    assert isinstance(found["last"], dict)
    assert found["last"]["run"] == "R099999"
