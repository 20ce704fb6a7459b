"""`doctor`: every check can fail, and says what to do; a sound path says so."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace as with_fields
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from broking import HAS_BROKER, Mosquitto
from msgspec.structs import replace
from person import EXTRACTORD, SHOP_ROOT, Person
from standin import openai_reply, serving
from storing import PROJECT, fact

from extractord.cli.checks.finding import Finding, Health, Patient
from extractord.cli.doctor import CHECKS, examined
from extractord.config import Settings
from extractord.config.settings import Agent, Budget, Model, Mqtt, Run
from extractord.core.ports import RunRow
from extractord.core.records import Usage
from extractord.edges.ledger import Ledger
from extractord.edges.state import State
from extractord.edges.tail import mark
from extractord.storeroom import now

OK, WARN, FAIL = Health
CLAUDE = ".claude/projects/-home-dev-shop"
SESSION = "0a0b0c0d-0000-4000-8000-000000000001"


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Person:
    made = Person(tmp_path)
    for name, value in made.environ(XDG_CONFIG_HOME="").items():
        monkeypatch.setenv(name, value)
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    return made


def found(person: Person, check: str, settings: Settings | None = None, **fields: Any) -> list[Finding]:
    with examined(settings or person.settings, is_online=False) as patient:
        return list(CHECKS[check](with_fields(patient, **fields)))


def worst(findings: list[Finding]) -> tuple[Health, str, str]:
    """The first finding of the worst kind."""
    order = list(Health)
    one = max(findings, key=lambda each: order.index(each.health))
    return one.health, one.says, one.remedy


def transcript(person: Person, *records: dict[str, object], days: float = 0.0) -> Path:
    place = person.home / CLAUDE / f"{SESSION}.jsonl"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("".join(json.dumps(record) + "\n" for record in records))
    then = now().timestamp() - days * 86_400
    os.utime(place, (then, then))
    return place


def prompt(words: str) -> dict[str, object]:
    return {
        "type": "user",
        "promptSource": "typed",
        "uuid": "00000001-0000-4000-8000-000000000001",
        "parentUuid": None,
        "isSidechain": False,
        "timestamp": "2026-11-30T10:00:00.000Z",
        "sessionId": SESSION,
        "cwd": "/home/dev/shop",
        "version": "2.1.332",
        "message": {"role": "user", "content": words},
    }


def test_sources_names_agent_count_and_version_and_fails_where_there_is_none(person: Person) -> None:
    assert worst(found(person, "sources"))[0] is FAIL
    transcript(person, prompt("hello you there"))
    [one] = found(person, "sources")
    assert (one.health, one.says) == (
        OK, "claude-code: 1 transcript, the newest written just now by version 2.1.332"
    )  # fmt: skip


def test_a_folder_that_is_named_and_not_there_is_said(person: Person) -> None:
    transcript(person, prompt("hello you there"))
    settings = replace(person.settings, agents={"codex": Agent(paths=("/nowhere",))})
    assert worst(found(person, "sources", settings))[:2] == (
        WARN, "agents.codex.paths names /nowhere, which is not a folder"
    )  # fmt: skip


def test_a_format_that_changed_is_said_and_one_that_is_understood_is_not(person: Person) -> None:
    transcript(person, prompt("hello you there"))
    assert worst(found(person, "format"))[0] is OK
    changed: list[dict[str, object]] = [
        {"kind": "user", "body": f"words {n}", "role": "user"} for n in range(8)
    ]
    transcript(person, *changed)
    health, says, remedy = worst(found(person, "format"))
    assert (health, "format may have changed" in says, "--diagnose" in remedy) == (WARN, True, True)


def test_an_exchange_that_was_read_is_named_and_a_transcript_left_behind_is_said(person: Person) -> None:
    place = transcript(person, prompt("hello you there"), days=1)
    with Ledger.open(person.state) as ledger:
        ledger.ranges.close("claude-code", SESSION, ["k"], "no_prose", now())
    health, says, remedy = worst(found(person, "exchange"))
    assert (health, "1 transcripts hold what was not read" in says) == (WARN, True)
    assert "extractord extract" in remedy
    with Ledger.open(person.state) as ledger:
        cursor = mark(str(place), place.stat().st_size)
        ledger.ranges.save_cursor(str(place), "claude-code", SESSION, cursor.encode())
    assert worst(found(person, "exchange"))[:2] == (
        OK, f"the newest, of claude-code {SESSION}, ended as no_prose just now"
    )  # fmt: skip


@pytest.mark.parametrize(("days", "health"), [(26.0, WARN), (40.0, WARN), (20.0, OK)])
def test_what_an_agent_purges_soon_and_nobody_read_is_said(
    person: Person, days: float, health: Health
) -> None:
    transcript(person, prompt("hello you there"), days=days)
    assert worst(found(person, "purge"))[0] is health


def test_the_daemon_that_does_not_run_is_a_break(person: Person) -> None:
    assert worst(found(person, "daemon"))[0] is FAIL
    with State.open(person.state) as state:
        state.lock()
        assert worst(found(person, "daemon"))[:2] == (OK, f"the daemon runs, process {os.getpid()}")
        assert worst(found(person, "daemon", replace(person.settings, mode="recall")))[0] is WARN


@pytest.fixture
def supervisor(person: Person, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A systemctl that says what the file `says` holds."""
    folder = person.home / "bin"
    folder.mkdir()
    for name in ("systemctl", "systemd-run", "unshare"):
        (folder / name).write_text(f"#!/bin/sh\ncat {folder}/says\n")
        (folder / name).chmod(0o755)
    (folder / "says").write_text("running\n")
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return folder / "says"


def test_a_unit_that_is_installed_has_to_run_and_to_wait_long_enough(
    person: Person, supervisor: Path
) -> None:
    assert worst(found(person, "units"))[0] is OK
    done = person.types("install", "systemd", "--yes", PATH=os.environ["PATH"])
    assert done.returncode == 0, done.stderr
    supervisor.write_text("failed\n")
    assert worst(found(person, "units"))[:2] == (FAIL, "extractord.service is failed")
    supervisor.write_text("active\n")
    assert worst(found(person, "units"))[:2] == (OK, "extractord.service is active")
    longer = replace(person.settings, run=Run(drain_s=100.0))
    health, says, _ = worst(found(person, "units", longer))
    assert (health, "75 s to stop, and run.drain_s wants 115" in says) == (WARN, True)
    (person.home / ".config/systemd/user/extractord.service").unlink()
    assert "is gone" in worst(found(person, "units"))[1]


def test_an_agent_of_launchds_has_to_run_and_to_wait_long_enough(person: Person, supervisor: Path) -> None:
    tool = supervisor.with_name("launchctl")
    tool.write_text(f"#!/bin/sh\ncat {supervisor}\n")
    tool.chmod(0o755)
    assert worst(found(person, "units"))[0] is OK
    done = person.types("install", "launchd", "--yes", PATH=os.environ["PATH"])
    assert done.returncode == 0, done.stderr
    supervisor.write_text("\tstate = running\n\tpid = 7\n")
    assert worst(found(person, "units"))[:2] == (OK, "launchd's agent is running")
    longer = replace(person.settings, run=Run(drain_s=100.0))
    health, says, _ = worst(found(person, "units", longer))
    assert (health, "75 s to stop, and run.drain_s wants 115" in says) == (WARN, True)
    supervisor.write_text("\tstate = spawn scheduled\n")
    assert worst(found(person, "units"))[:2] == (FAIL, "launchd's agent is spawn scheduled")
    tool.write_text("#!/bin/sh\nexit 113\n")
    health, says, remedy = worst(found(person, "units"))
    assert (health, says) == (FAIL, "launchd knows of no such agent")
    assert remedy.startswith(f"`launchctl bootstrap gui/{os.getuid()} {person.home}/Library/LaunchAgents/")


ROW = RunRow(run="01AAAA", agent="codex", session="s1", project="p", model="m", started_at=now())


@pytest.mark.parametrize(
    ("outcome", "health"), [("saved", OK), ("failed", WARN), ("deferred", WARN), ("parked", WARN)]
)
def test_a_run_that_came_to_nothing_is_said_with_its_reason(
    person: Person, outcome: str, health: Health
) -> None:
    with Ledger.open(person.state) as ledger:
        assert ledger.ranges.claim("codex", "s1", ["k"], "01AAAA", ledger.present(), now())
        ledger.runs.start(ROW)
        ledger.runs.finish(replace(ROW, outcome=outcome, reason="why", ended_at=now()))
        ledger.ranges.finish("01AAAA", outcome, now())
    rows = found(person, "runs")
    assert worst(rows)[0] is health
    assert f"the last run ended as {outcome} just now: why" in [row.says for row in rows]
    assert ("`extractord runs retry 01AAAA`" in [row.remedy for row in rows]) is (outcome == "parked")


def test_what_waits_to_be_tried_again_is_said(person: Person) -> None:
    with Ledger.open(person.state) as ledger:
        ledger.ranges.claim("codex", "s1", ["k"], "01AAAA", ledger.present(), now())
        ledger.ranges.release("01AAAA", attempted=True, retry_at=now() + timedelta(hours=1), reason="quota")
    assert "1 session to be tried again, codex s1 first: quota" in [row.says for row in found(person, "runs")]


def test_what_was_spent_is_held_against_the_limits(person: Person) -> None:
    with Ledger.open(person.state) as ledger:
        ledger.runs.spend("01AAAA", Usage(prompt_tokens=900, dollars=0.9), now(), None)
    assert worst(found(person, "spend"))[0] is WARN
    richer = replace(person.settings, budget=Budget(day_dollars=10.0))
    assert worst(found(person, "spend", richer))[:2] == (OK, "1 requests, 900 tokens, 0.90 dollars today")
    broke = replace(person.settings, budget=Budget(day_requests=1))
    assert "budget.day_requests is spent" in worst(found(person, "spend", broke))[1]


def test_a_child_is_let_try_and_without_confinement_that_is_said(person: Person) -> None:
    health, says, _ = worst(found(person, "confinement"))
    assert (health, "none of what it tried succeeded" in says) == (OK, True)
    off = replace(person.settings, confinement="off")
    assert worst(found(person, "confinement", off))[0] is WARN


def test_a_key_is_there_and_nobody_elses_to_read(person: Person) -> None:
    key = person.home / "key"
    settings = replace(person.settings, model=Model(name="openai/x", key_file=str(key)))
    assert "cannot be read" in worst(found(person, "model", settings))[1]
    key.write_text("sk-1")
    key.chmod(0o644)
    assert worst(found(person, "model", settings))[1:] == (
        f"`model.key_file` names {key}, which others can read",
        f"run `chmod 600 {key}`",
    )
    key.chmod(0o600)
    assert worst(found(person, "model", settings))[0] is OK
    key.write_text("")
    assert "is empty" in worst(found(person, "model", settings))[1]


@pytest.mark.parametrize(("is_right", "health"), [(True, "ok"), (False, "fail")], ids=["right", "wrong"])
async def test_online_the_model_is_asked_once_and_that_is_counted(
    person: Person, is_right: bool, health: str
) -> None:
    def script(_body: object, _before: int) -> object:
        wrong = {
            "error": {
                "message": "Incorrect API key",
                "type": "invalid_request_error",
                "code": "invalid_api_key",
            }
        }
        return openai_reply("ready") if is_right else web.json_response(wrong, status=401)

    async with serving(script) as standin:
        asked = await asyncio.to_thread(
            person.types, "doctor", "--online", "--json",
            EXTRACTORD_MODEL__NAME="openai/stand-in", EXTRACTORD_MODEL__BASE_URL=f"{standin.url}/v1",
            OPENAI_API_KEY="sk-stand-in",
        )  # fmt: skip
    told = {row["check"]: row for row in map(json.loads, asked.stdout.splitlines())}
    assert told["model"]["health"] == health, told["model"]
    assert sum(standin.asked.values()) == 1
    with Ledger.open(person.state, readonly=True) as ledger:
        spent = ledger.runs.spent(now() - timedelta(hours=1))
    assert (spent.requests, spent.tokens) == (1, 120 if is_right else 0)
    assert "sk-stand-in" not in asked.stdout


def test_memories_of_another_state_are_a_break(person: Person) -> None:
    assert worst(found(person, "memory"))[0] is OK
    with State.open(person.state) as state:
        state.claim_memory(person.memory)
    assert worst(found(person, "memory"))[0] is OK
    (person.memory / ".extractord").write_text("0" * 32 + "\n")
    health, says, remedy = worst(found(person, "memory"))
    assert (health, "belongs to the state 00000000" in says) == (FAIL, True)
    assert "adopt" in remedy
    person.memory.chmod(0o755)
    assert any("can be read by others" in row.says for row in found(person, "memory"))


def kept(person: Person) -> Path:
    words = "We deploy on Tuesdays"
    assert person.run([(PROJECT, "deploys.md", fact("deploys", words))], words).written
    return person.memory / SHOP_ROOT


def test_an_index_and_its_files_have_to_agree(person: Person) -> None:
    root = kept(person)
    assert worst(found(person, "index"))[0] is OK
    text = (root / "MEMORY.md").read_text()
    (root / "MEMORY.md").write_text(text + "- [Gone](gone.md)\n")
    health, says, _ = worst(found(person, "index"))
    assert (health, "(1 lines have none)" in says) == (WARN, True)
    (root / "MEMORY.md").write_text(text)
    (root / "bad.md").write_bytes(b"\xff\xfe")
    assert any("bad.md" in row.says for row in found(person, "index"))


def test_a_damaged_ledger_is_a_break_and_the_other_checks_go_on(person: Person) -> None:
    kept(person)
    assert worst(found(person, "ledger"))[0] is OK
    place = person.state / "ledger.db"
    raw = bytearray(place.read_bytes())
    raw[100:200] = b"\xff" * 100
    for path in person.state.glob("ledger.db*"):
        path.unlink()
    place.write_bytes(raw)
    assert worst(found(person, "ledger"))[0] is FAIL
    asked = person.types("doctor", "--json")
    told = [json.loads(line) for line in asked.stdout.splitlines()]
    assert asked.returncode == 1, asked.stderr
    assert {row["check"] for row in told} == CHECKS.keys()
    unknown = [row for row in told if row["check"] in ("exchange", "runs", "spend", "audit", "clock")]
    assert {(row["health"], row["remedy"]) for row in unknown} == {("warn", "repair the ledger first")}
    (person.state / "ledger.db.damaged-1").touch()
    assert any("set aside" in row.says for row in found(person, "ledger"))


def test_an_audit_that_was_changed_is_a_break(person: Person) -> None:
    kept(person)
    assert worst(found(person, "audit"))[0] is OK
    with closing(sqlite3.connect(person.state / "ledger.db")) as raw, raw:
        raw.execute("DROP TRIGGER audit_is_never_changed")
        raw.execute("UPDATE audit SET subject = 'else' WHERE id = 1")
    assert worst(found(person, "audit"))[0] is FAIL


def test_a_project_whose_directory_is_gone_is_named(person: Person) -> None:
    kept(person)
    health, says, remedy = worst(found(person, "projects"))
    assert (health, "no known session" in says, "project move" in remedy) == (WARN, True, True)


def test_what_a_crash_left_is_said(person: Person) -> None:
    root = kept(person)
    assert worst(found(person, "orphans"))[0] is OK
    (root / ".tmp-1").touch()
    assert worst(found(person, "orphans"))[0] is OK
    os.utime(root / ".tmp-1", (0, 0))
    assert worst(found(person, "orphans"))[0] is WARN


def test_a_place_that_is_no_folder_is_a_break(person: Person) -> None:
    assert worst(found(person, "places"))[0] is OK
    (person.home / "file").touch()
    settings = replace(person.settings, data_dir=person.home / "file")
    assert worst(found(person, "places", settings))[0] is FAIL


def test_room_on_the_disk_is_said(person: Person) -> None:
    health, says, _ = worst(found(person, "disk"))
    assert (health in Health, "GiB free" in says) == (True, True)


@pytest.mark.skipif(not os.access("/dev/full", os.W_OK) or os.geteuid() != 0, reason="mounts need root")
def test_a_full_disk_is_a_break(person: Person) -> None:
    small = person.home / "small"
    small.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(small)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("this place mounts nothing")
    try:
        settings = replace(person.settings, data_dir=small, state_dir=small)
        assert worst(found(person, "disk", settings))[0] is FAIL
    finally:
        subprocess.run(["umount", str(small)], check=True)


@pytest.mark.parametrize(("limit", "health"), [("2", FAIL), ("4", WARN), ("10000", OK)])
def test_the_systems_limit_of_watches_is_held_against_the_need(
    person: Person, limit: str, health: Health
) -> None:
    transcript(person, prompt("hello you there"))  # projects and one below it; todos are no source
    (person.home / ".claude/projects/other").mkdir()
    (person.home / "proc/fs/inotify").mkdir(parents=True)
    (person.home / "proc/fs/inotify/max_user_watches").write_text(limit)
    assert worst(found(person, "inotify", system=person.home / "proc"))[0] is health
    polling = replace(person.settings, run=Run(polling=True))
    assert worst(found(person, "inotify", polling, system=person.home / "proc"))[0] is OK


def test_an_agent_that_is_used_and_not_given_the_memories_is_named(person: Person) -> None:
    assert worst(found(person, "agents"))[0] is OK
    transcript(person, prompt("hello you there"))
    assert worst(found(person, "agents"))[2] == "`extractord install claude-code`"
    assert person.types("install", "claude-code", "--yes").returncode == 0
    assert worst(found(person, "agents"))[:2] == (OK, "given the memories: claude-code")
    (person.home / ".claude/settings.json").write_text("{}")
    assert "is not as it was installed" in worst(found(person, "agents"))[1]


def test_a_broker_that_is_configured_is_called(person: Person) -> None:
    assert worst(found(person, "broker"))[:2] == (OK, "no broker is configured")
    away = replace(person.settings, mqtt=Mqtt(url="mqtt://localhost:1", outbox=4))
    with Ledger.open(person.state) as ledger:
        for number in range(3):
            ledger.outbox.put(f"t/{number}", b"{}", now(), 4)
    health, says, _ = worst(found(person, "broker", away))
    assert (health, "localhost:1 cannot be reached" in says) == (WARN, True)
    assert "3 events wait for the broker" in [row.says for row in found(person, "broker", away)]


@pytest.mark.skipif(not HAS_BROKER, reason="mosquitto is not installed")
def test_a_broker_that_lets_us_in_is_ok(person: Person, tmp_path: Path) -> None:
    with Mosquitto(tmp_path / "broker") as running:
        there = replace(person.settings, mqtt=Mqtt(url=running.url))
        assert worst(found(person, "broker", there))[:2] == (OK, f"localhost:{running.port} lets us in")


def test_a_clock_that_went_back_is_said(person: Person) -> None:
    kept(person)
    assert worst(found(person, "clock"))[0] is OK
    health, says, _ = worst(found(person, "clock", now=now() - timedelta(days=2)))
    assert (health, "behind the ledger" in says) == (WARN, True)


def test_a_configuration_that_cannot_be_used_is_a_row_a_problem(person: Person) -> None:
    (person.home / "config.toml").write_text('mode = "x"\nbugdet = 1\n')
    done = person.types("doctor", "--json")
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert (done.returncode, [(row["check"], row["health"]) for row in told]) == (
        1, [("configuration", "fail")] * 2,
    )  # fmt: skip


@contextmanager
def daemon(person: Person) -> Iterator[None]:
    with (person.home / "log").open("w") as log:
        running = subprocess.Popen([*EXTRACTORD, "run"], env=person.environ(), stderr=log)
        try:
            while "watching" not in (person.home / "log").read_text():
                assert running.poll() is None
            yield
        finally:
            running.send_signal(signal.SIGTERM)
            running.wait(120)


def test_a_sound_path_ends_with_0_and_makes_nothing(person: Person) -> None:
    transcript(person, prompt("hello you there"))
    with daemon(person):
        before = sorted(str(path) for path in person.home.rglob("*"))
        done = person.types("doctor")
        assert done.returncode == 0, done.stdout
        assert "fail " not in done.stdout
        assert sorted(str(path) for path in person.home.rglob("*")) == before


def test_every_patient_is_seen_by_every_check(person: Person) -> None:
    with examined(person.settings, is_online=False) as patient:
        assert isinstance(patient, Patient)
        assert list(CHECKS) == [name for name, check in CHECKS.items() if list(check(patient)) is not None]
