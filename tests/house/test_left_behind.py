"""A run whose process was killed: what was committed is told as such, what was not is run again."""

import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from living import TUESDAY, Place, Session, append
from person import Person

from extractord.edges.ledger import Ledger

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the run's process is killed from within")
DYING = Path(__file__).parents[1] / "dying.py"


class Left:
    """A home that the daemon knows, with a session in it whose run's process was killed."""

    def __init__(self, home: Path, when: str) -> None:
        self.person, self.place = Person(home), Place(home)
        with self.place.running():
            pass
        self.session = Session()
        self.transcript = self.place.transcripts / f"{self.session.name}.jsonl"
        self.transcript.write_bytes(self.session.exchange(TUESDAY))
        command = [sys.executable, str(DYING), str(home), str(self.transcript), when]
        died = subprocess.run(command, env=self.person.environ(), capture_output=True, text=True, check=False)
        assert died.returncode == -signal.SIGKILL, died.stderr

    def kept(self) -> list[tuple[str, bool]]:
        """Each run's row as the ledger has it: its outcome, and whether it ended."""
        with Ledger.open(self.place.home / "state", readonly=True) as ledger:
            return [(row.outcome, row.ended_at is not None) for row in ledger.runs.recent(9)]

    def told(self) -> list[dict[str, Any]]:
        return self.person.told("runs", "list")

    def goes_on(self) -> list[tuple[str, bool]]:
        """The daemon's next life, in which one thing more is said: what has ended when that is known."""
        append(self.transcript, self.session.exchange("Always write commit messages in English."))
        with self.place.running():
            self.place.wait_for(lambda: len(self.place.memories()) == 2 and all(self.ended()))
        return self.kept()

    def ended(self) -> list[bool]:
        return [has_ended for _, has_ended in self.kept()]


def said(place: Place) -> list[tuple[str, str]]:
    """Each run that the log says ended, and how."""
    return re.findall(r"event=run/finished run=(\S+) .*outcome=(\S+)", place.log())


def test_what_was_committed_is_saved_though_nobody_lived_to_say_so(tmp_path: Path) -> None:
    left = Left(tmp_path, "committed")
    [memory] = left.place.memories()
    written = [f"/memory/project/{memory.name}"]
    assert left.kept() == [("running", False)]
    [before] = left.told()
    assert (before["outcome"], before["written"], before["reason"]) == ("saved", written, "")
    [status] = left.person.told("status")
    assert (status["running"], status["waiting"], status["last"]) == ([], [], before)

    assert left.goes_on() == [("saved", True), ("saved", True)]
    assert left.told()[1] == before
    assert memory in left.place.memories()
    [status] = left.person.told("status")
    assert (status["running"], status["waiting"]) == ([], [])


def test_a_run_that_was_killed_before_it_could_be_said_is_said_once_it_is_known(tmp_path: Path) -> None:
    for when, outcome in (("committed", "saved"), ("begun", "aborted")):
        left = Left(tmp_path / when, when)
        [before] = left.told()
        left.goes_on()
        with left.place.running():
            pass
        assert said(left.place)[0] == (before["run"], outcome)
        assert len(said(left.place)) == 2, "that of the next life is said too, and none again"


def test_a_run_that_was_closed_and_not_said_is_said_by_the_next_life(tmp_path: Path) -> None:
    place = Place(Person(tmp_path).home)
    with place.running():
        place.said(TUESDAY)
        place.wait_for(lambda: "event=run/finished" in place.log())
    [run] = [row["run"] for row in place.runs()]
    with Ledger.open(tmp_path / "state") as ledger:
        assert ledger.runs.unsaid() == ()
        ledger.runs.leave_to_say(str(run))  # as after a kill between the row and the word
    with place.running():
        pass
    assert said(place) == [(run, "saved"), (run, "saved")]


def test_what_a_person_extracts_is_told_on_the_spot_and_not_by_a_daemon_later(tmp_path: Path) -> None:
    place = Place(Person(tmp_path).home)
    place.said(TUESDAY)
    assert '"saved"' in place.command("extract", "--json").stdout
    with place.running():
        pass
    assert said(place) == []


def test_what_was_not_committed_is_aborted_and_run_again(tmp_path: Path) -> None:
    left = Left(tmp_path, "begun")
    assert (left.kept(), left.place.memories()) == ([("running", False)], [])
    [before] = left.told()
    assert (before["outcome"], before["reason"]) == ("aborted", "its process ended")

    assert left.goes_on() == [("saved", True), ("aborted", True)]
    assert left.told()[1]["ended_at"] is not None
