"""The daemon under a supervisor: ready, watched over, reread, ended; by real signals and a real socket."""

from __future__ import annotations

import itertools
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from person import EXTRACTORD, Person
from supervising import Supervised, family, is_alive, supervised

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="systemd is Linux's")

CLAUDE = ".claude/projects/-home-dev-shop"
MANY = 1000
"""Sessions that take some seconds to look through, even if whoever waits for that stands still meanwhile."""


@pytest.fixture
def person(tmp_path: Path) -> Person:
    made = Person(tmp_path)
    (tmp_path / CLAUDE).mkdir(parents=True)
    return made


@contextmanager
def served(person: Person, watchdog_s: float = 0.0, **more: str) -> Iterator[Supervised]:
    environ = person.environ(EXTRACTORD_RUN__SETTLE_S="1", **more)
    with supervised([*EXTRACTORD, "run"], environ, person.home, watchdog_s) as service:
        service.wait_for(lambda: service.said("READY"))
        yield service


def configured(person: Person, text: str) -> None:
    (person.home / "config.toml").write_text(text)


def says(person: Person, words: str, number: int = 1) -> None:
    """A person types this to Claude Code, and the agent ends its turn."""
    session = f"0a0b0c0d-0000-4000-8000-{number:012d}"
    records = [
        {"type": "user", "promptSource": "typed", "message": {"role": "user", "content": words}},
        {
            "type": "assistant",
            "message": {
                "id": f"msg_{number}",
                "role": "assistant",
                "content": [{"type": "text", "text": "Noted."}],
                "stop_reason": "end_turn",
            },
        },
    ]
    with (person.home / CLAUDE / f"{session}.jsonl").open("ab", buffering=0) as file:
        for count, record in enumerate(records):
            whole = {
                "parentUuid": None if count == 0 else f"{number:08d}-0000-4000-8000-000000000000",
                "isSidechain": False,
                "uuid": f"{number:08d}-0000-4000-8000-{count:012d}",
                "timestamp": f"2026-11-30T10:00:0{count}.000Z",
                "cwd": str(person.shop),
                "sessionId": session,
                "version": "2.1.332",
                **record,
            }
            file.write(json.dumps(whole).encode() + b"\n")


def test_it_is_ready_when_it_watches_and_says_how_it_is_and_that_it_ends(person: Person) -> None:
    with served(person) as service:
        assert "watching" in service.log.read_text()
        says(person, "We deploy only on Tuesdays.")
        service.wait_for(lambda: any("saved" in each for each in service.said("STATUS")))
        assert service.stop(60) == (0, False)
    assert service.said("READY") == ["1"]
    assert service.said("STOPPING") == ["1"]
    assert service.words[-1][1].startswith("STOPPING=1")


def test_an_abstract_socket_is_reached_from_the_confined_daemon(person: Person) -> None:
    name = f"@extractord-test-{os.getpid()}"
    environ, place = person.environ(NOTIFY_SOCKET=name), person.home / "log"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard, place.open("w") as log:
        heard.bind(f"\0{name[1:]}")
        heard.settimeout(90)
        with subprocess.Popen([*EXTRACTORD, "run"], env=environ, stderr=log) as daemon:
            try:
                assert heard.recv(4096).startswith(b"READY=1")
            finally:
                daemon.terminate()
    assert daemon.returncode == 0, place.read_text()


def test_the_watchdog_hears_it_while_it_goes_on_and_not_while_it_stands_still(person: Person) -> None:
    with served(person, watchdog_s=5.0) as service:
        service.wait_for(lambda: len(service.said("WATCHDOG")) >= 4)
        beats = [when for when, word in service.words if word == "WATCHDOG=1"]
        assert max(after - before for before, after in itertools.pairwise(beats)) < 5.0
        service.process.send_signal(signal.SIGSTOP)
        time.sleep(0.5)
        count = len(service.said("WATCHDOG"))
        time.sleep(3.5)
        assert len(service.said("WATCHDOG")) == count
        service.process.send_signal(signal.SIGCONT)
        service.wait_for(lambda: len(service.said("WATCHDOG")) > count)


def test_a_part_that_is_slower_than_the_watchdog_costs_the_beat_though_the_loop_lives(person: Person) -> None:
    with served(person, watchdog_s=0.4) as service:  # watch and clock go round once a second
        service.wait_for(lambda: "stands still: " in service.log.read_text())
        began, before = time.monotonic(), len(service.said("WATCHDOG"))
        time.sleep(4)
        ticks = (time.monotonic() - began) / 0.2
        assert len(service.said("WATCHDOG")) - before < 0.8 * ticks
        assert service.stop(60) == (0, False)


def test_a_signal_to_the_main_process_alone_ends_all_and_a_kill_leaves_nothing(person: Person) -> None:
    with served(person) as service:
        all_of_it = family(service.process.pid)
        assert len(all_of_it) >= 2
        assert service.stop(60) == (0, False)
        service.wait_for(lambda: not any(map(is_alive, all_of_it)))
    with served(person) as service:
        all_of_it = family(service.process.pid)[1:]
        service.process.kill()
        service.process.wait(60)
        service.wait_for(lambda: not any(map(is_alive, all_of_it)))


def test_sighup_makes_a_changed_configuration_count_and_says_what(person: Person) -> None:
    with served(person) as service:
        configured(person, 'mode = "ask"\nlog = "json"\n[memory]\ndir = "/elsewhere"\n')
        service.process.send_signal(signal.SIGHUP)
        service.wait_for(lambda: len(service.said("READY")) == 2)
        assert len(service.said("RELOADING")) == len(service.said("MONOTONIC_USEC")) == 1
        says(person, "We deploy only on Tuesdays.")
        service.wait_for(lambda: "run/finished" in service.log.read_text())
        assert service.stop(60) == (0, False)
    log = service.log.read_text()
    assert 'msg="configuration reread: log, mode changed"' in log
    assert 'msg="configuration reread: memory.dir needs a restart"' in log
    [ran] = [json.loads(line) for line in log.splitlines() if "run/finished" in line]
    assert (ran["outcome"], ran["held"], ran["written"]) == ("held", 1, 0)


def test_a_bad_configuration_is_refused_with_every_problem_and_the_old_one_stays(person: Person) -> None:
    with served(person) as service:
        configured(person, 'mode = "asc"\nbugdet = 1\n[agents.nobody]\nenabled = true\n')
        service.process.send_signal(signal.SIGHUP)
        service.wait_for(lambda: len(service.said("READY")) == 2)
        log = service.log.read_text()
        assert "unknown setting `bugdet`: did you mean `budget`?" in log
        assert "`mode` is 'asc'" in log
        assert "the one in force stays" in log
        configured(person, "[agents.nobody]\nenabled = true\n")
        service.process.send_signal(signal.SIGHUP)
        service.wait_for(lambda: len(service.said("READY")) == 3)
        assert "`agents.nobody` is not an agent that can be read" in service.log.read_text()
        says(person, "We deploy only on Tuesdays.")
        service.wait_for(lambda: "outcome=saved" in service.log.read_text())


def test_a_setting_from_the_environment_outlives_a_rereading_though_keys_are_wiped(person: Person) -> None:
    with served(person, EXTRACTORD_BUDGET__DAY_TOKENS="77", SOME_TOKEN="hunter2") as service:  # noqa: S106
        configured(person, 'mode = "ask"\n')
        service.process.send_signal(signal.SIGHUP)
        service.wait_for(lambda: len(service.said("READY")) == 2)
        assert "reread: mode changed" in service.log.read_text()
        assert b"hunter2" not in Path(f"/proc/{service.process.pid}/environ").read_bytes()


def test_a_source_that_is_switched_off_and_on_again_is_followed(person: Person) -> None:
    with served(person) as service:
        configured(person, "[agents.claude-code]\nenabled = false\n")
        service.process.send_signal(signal.SIGHUP)
        service.wait_for(lambda: len(service.said("READY")) == 2)
        says(person, "We deploy only on Tuesdays.")
        time.sleep(2)
        assert "outcome=" not in service.log.read_text()
        configured(person, "")
        service.process.send_signal(signal.SIGHUP)
        service.wait_for(lambda: "outcome=saved" in service.log.read_text())


def test_twenty_signals_at_once_change_nothing_and_end_nothing(person: Person) -> None:
    with served(person) as service:
        for number in range(20):
            configured(person, f"[run]\nconcurrency = {number % 3 + 1}\n")
            service.process.send_signal(signal.SIGHUP)
        says(person, "We deploy only on Tuesdays.")
        service.wait_for(lambda: "outcome=saved" in service.log.read_text())
        assert service.stop(60) == (0, False)


def test_to_stop_or_to_reread_does_not_wait_for_all_that_is_unread_and_loses_none_of_it(
    person: Person,
) -> None:
    with served(person) as service:
        assert service.stop(60) == (0, False)
    for number in range(MANY):
        says(person, "ok thanks", number)
    with served(person) as service:
        assert service.stop(60) == (0, False)
        assert len(skipped(service)) < MANY
    with served(person) as service:
        configured(person, "[run]\nconcurrency = 2\n")
        service.process.send_signal(signal.SIGHUP)
        service.wait_for(lambda: len(service.said("READY")) == 2)
        assert len(skipped(service)) < MANY
        service.wait_for(lambda: len(skipped(service)) >= MANY, 180)
        assert service.stop(60) == (0, False)
    assert len(skipped(service)) == len(set(skipped(service))) == MANY


def skipped(service: Supervised) -> list[str]:
    """The session of each exchange that was skipped, in every life so far."""
    lines = service.log.read_text().splitlines()
    return [line.partition("session=")[2].split()[0] for line in lines if "event=skipped" in line]
