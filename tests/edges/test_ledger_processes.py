"""The ledger between real processes: one winner a claim, nothing acknowledged lost to kill -9."""

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

from extractord.core.ports import Owner
from extractord.edges.ledger import Ledger
from extractord.edges.ledger.owners import lives, present

NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)

RACE = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from extractord.edges.ledger import Ledger

print("ready", flush=True)
sys.stdin.readline()
won = []
with Ledger.open(Path(sys.argv[1])) as ledger:
    for number in range(40):
        keys = [f"{number} {part}" for part in range(3)]
        now = datetime.now(UTC)
        if ledger.ranges.claim("pi", "s1", keys, f"run {number} {sys.argv[2]}", ledger.present(), now):
            won.append(number)
    print(*won, flush=True)
    sys.stdin.readline()
"""

LOOP = """
import sys
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from extractord.edges.ledger import Ledger

with Ledger.open(Path(sys.argv[1])) as ledger:
    for number in count():
        now, session, run = datetime.now(UTC), sys.argv[2], f"{sys.argv[2]} {number}"
        keys = [f"one {number}", f"two {number}"]
        ledger.ranges.close("pi", session, [f"skip {number}"], "no_prose", now)
        assert ledger.ranges.claim("pi", session, keys, run, ledger.present(), now)
        with ledger.transaction():
            assert ledger.ranges.holds(run, ledger.present())
            ledger.audit.note("commit", run, {"number": number}, now)
            ledger.ranges.finish(run, "saved", now)
        print(number, flush=True)
"""


def start(script: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", script, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_of_processes_that_race_for_a_claim_exactly_one_wins(tmp_path: Path) -> None:
    racers = [start(RACE, str(tmp_path), str(number)) for number in range(4)]
    outs = [racer.stdout for racer in racers]
    ins = [racer.stdin for racer in racers]
    for out in outs:
        assert out is not None
        assert out.readline() == "ready\n"
    for pipe in ins:
        assert pipe is not None
        pipe.write("\n")
        pipe.flush()
    won = Counter(number for out in outs if out is not None for number in out.readline().split())
    with Ledger.open(tmp_path) as ledger:
        states = ledger.ranges.states("pi", "s1")
        assert len(ledger.standing.running()) == 40
        assert ledger.ranges.reap(NOW) == ()
    for racer in racers:
        assert racer.communicate("\n")[0] == ""
        assert racer.returncode == 0
    assert won == {str(number): 1 for number in range(40)}
    assert [len({states[f"{n} {part}"].run for part in range(3)}) for n in range(40)] == [1] * 40
    with Ledger.open(tmp_path) as ledger:
        assert len(ledger.ranges.reap(NOW)) == 40


def test_nothing_acknowledged_is_lost_to_kill_9_and_the_claims_of_the_dead_are_free(tmp_path: Path) -> None:
    chance = random.Random(20261130)  # noqa: S311
    reaped = 0
    for life in range(30):
        worker = start(LOOP, str(tmp_path), f"life {life}")
        assert worker.stdout is not None
        acknowledged = [worker.stdout.readline() for _ in range(chance.randrange(1, 4))]
        time.sleep(chance.random() * 0.02)
        worker.send_signal(signal.SIGKILL)
        acknowledged += worker.communicate()[0].splitlines()
        last = int(acknowledged[-1])
        with Ledger.open(tmp_path) as ledger:
            gone = ledger.ranges.reap(NOW)
            reaped += len(gone)
            assert len(gone) <= 1
            assert ledger.standing.running() == ()
            states = ledger.ranges.states("pi", f"life {life}")
            for number in range(last + 1):
                assert states[f"skip {number}"].reason == "no_prose"
                assert states[f"one {number}"].state == states[f"two {number}"].state == "closed"
            assert {state.state for state in states.values()} <= {"open", "closed"}
            committed = {row.subject for row in ledger.audit.recent(10**6)}
            finished = {state.run for state in states.values() if state.reason == "saved"}
            assert {run for run in committed if run.startswith(f"life {life} ")} == finished
            assert ledger._connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            assert ledger.audit.verify() == len(committed)
            key = f"one {last + 1}"
            if key in states and states[key].state == "open":
                assert ledger.ranges.claim("pi", f"life {life}", [key], "again", present(), NOW)
                ledger.ranges.release("again", attempted=False, retry_at=None)
    assert 0 < reaped <= 30


def test_this_process_lives_and_a_changed_start_or_boot_is_another(tmp_path: Path) -> None:
    me = present()
    assert me.pid == os.getpid()
    assert lives(me)
    assert not lives(Owner(pid=me.pid, started=me.started + 1, boot=me.boot))
    assert not lives(Owner(pid=me.pid, started=me.started, boot="another"))
    assert not lives(Owner(pid=2**22 + 1, started=me.started, boot=me.boot))
    assert list(tmp_path.iterdir()) == []


def test_a_process_that_is_dead_but_not_yet_waited_for_does_not_live() -> None:
    script = "import sys; from extractord.edges.ledger.owners import present as p; o = p(); print(o.started)"
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as ended:
        assert ended.stdout is not None
        owner = Owner(pid=ended.pid, started=int(ended.stdout.read()), boot=present().boot)
        os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
        assert not lives(owner)
