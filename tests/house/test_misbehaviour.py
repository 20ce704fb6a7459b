"""A model that was turned, through the whole house: the roots afterwards are what the law allows."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from house.misbehaviours import MISBEHAVIOURS, SECRETS, SEEDS, Misbehaviour

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the house confines itself as Linux can")
HERE = Path(__file__).parent
AUDITED = 200


@dataclass(frozen=True, slots=True)
class Done:
    """What the process said of each case, its log, and where its state is."""

    cases: dict[str, dict[str, Any]]
    last: dict[str, Any]
    log: str
    state: Path
    memory: Path


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Done:
    home = tmp_path_factory.mktemp("house")
    (home / "config.toml").touch()
    environ = {
        "HOME": str(home),
        "EXTRACTORD_CONFIG": str(home / "config.toml"),
        "EXTRACTORD_DATA_DIR": str(home / "data"),
        "EXTRACTORD_STATE_DIR": str(home / "state"),
        "EXTRACTORD_MODEL__NAME": "scripted",
        "PROVIDER_API_KEY": "hunter2",
        "PYTHONPATH": str(HERE.parent),
    }
    ran = subprocess.run(
        [sys.executable, str(HERE / "misbehaving.py")],
        env=environ,
        capture_output=True,
        text=True,
        check=False,
        timeout=1200,
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    *cases, last = map(json.loads, ran.stdout.splitlines())
    return Done(
        cases={case["name"]: case for case in cases},
        last=last,
        log=ran.stderr,
        state=home / "state",
        memory=home / "data" / "memory",
    )


def outcome_of(case: Misbehaviour) -> str:
    if case.outcome:
        return case.outcome
    return "saved" if case.changes or case.user else "held" if case.held else "nothing_to_save"


def without_index(texts: dict[str, str]) -> dict[str, str]:
    return {name: text for name, text in texts.items() if not name.endswith("MEMORY.md")}


def test_there_are_at_least_a_hundred_and_no_name_twice() -> None:
    names = [case.name for case in MISBEHAVIOURS]
    assert len(names) == len(set(names)) >= 100


def test_what_comes_of_each_is_what_the_law_allows(done: Done) -> None:
    seen, allowed = {}, {}
    for case in MISBEHAVIOURS:
        said = done.cases[case.name]
        project = {**without_index(said["before"]), **case.changes}
        seen[case.name] = (
            said["outcome"],
            without_index(said["after"]),
            without_index(said["user_after"]),
            said["seeded"],
        )
        allowed[case.name] = (
            outcome_of(case),
            {name: text for name, text in project.items() if text is not None},
            {**without_index(said["user_before"]), **case.user},
            ["saved", len(SEEDS), ""],
        )
    assert seen == allowed


def test_every_refusal_is_counted_and_the_first_200_are_rows(done: Done) -> None:
    seen, expected = {}, {}
    for case in MISBEHAVIOURS:
        said = done.cases[case.name]
        seen[case.name] = (
            [row[2] for row in said["audit"] if row[0] == "child"],
            sorted([row[3], row[2]] for row in said["audit"] if row[0] == "store"),
            said["denied"],
        )
        expected[case.name] = (
            list(case.refused),
            sorted([os.path.normpath(f"/memory/project/{path}"), rule] for path, rule in case.held),
            len(case.refused) if case.denied is None else case.denied,
        )
    assert seen == expected
    assert max(len(rules) for rules, _, _ in seen.values()) == AUDITED


def test_each_ran_in_a_confined_child(done: Done) -> None:
    assert {said["confinement"] for said in done.cases.values()}.isdisjoint({"none", ""})


def test_no_run_passes_its_turns_and_none_its_tokens(done: Done) -> None:
    assert max(seen["requests"] for seen in done.cases.values()) == 5
    assert done.cases["requests that cost all that a run has"]["requests"] == 2


def test_the_index_names_what_is_there_and_nothing_that_was_refused_or_held(done: Done) -> None:
    for seen in done.cases.values():
        files = set(without_index(seen["after"]))
        lines = seen["after"]["MEMORY.md"].splitlines()
        assert {line.partition("](")[2].partition(")")[0] for line in lines} <= files
        assert "evil" not in seen["after"]["MEMORY.md"]


def test_no_secret_is_left_in_memories_ledger_audit_or_log(done: Done) -> None:
    places = [path for path in done.memory.rglob("*") if path.is_file()]
    texts = {str(path): path.read_bytes() for path in places}
    with sqlite3.connect(done.state / "ledger.db") as ledger:
        texts["ledger"] = "\n".join(ledger.iterdump()).encode()
    texts["log"] = done.log.encode()
    assert len(texts) > len(MISBEHAVIOURS)
    found = [
        (place, secret) for place, text in texts.items() for secret in SECRETS if secret.encode() in text
    ]
    assert found == []


def test_the_daemon_itself_writes_nowhere_else_and_has_no_key_in_its_environment(done: Done) -> None:
    assert {key: done.last[key] for key in ("refused", "has_key", "has_home")} == {
        "refused": [True] * 4,
        "has_key": False,
        "has_home": True,
    }


def test_the_audit_is_whole(done: Done) -> None:
    assert done.last["rows"] > len(MISBEHAVIOURS)


def test_nothing_of_the_transcript_is_logged(done: Done) -> None:
    assert not [word for word in ("Tuesdays", "warehouse", "evil", "Lyon") if word in done.log]
