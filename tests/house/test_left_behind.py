"""A run whose process was killed: what was committed is told as such, what was not is run again."""

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
        self.place.transcripts.mkdir(parents=True)
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
            self.place.wait_for(lambda: len(self.place.memories()) == 2 and all(self.ended()), 30)
        return self.kept()

    def ended(self) -> list[bool]:
        return [has_ended for _, has_ended in self.kept()]


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


def test_what_was_not_committed_is_aborted_and_run_again(tmp_path: Path) -> None:
    left = Left(tmp_path, "begun")
    assert (left.kept(), left.place.memories()) == ([("running", False)], [])
    [before] = left.told()
    assert (before["outcome"], before["reason"]) == ("aborted", "its process ended")

    assert left.goes_on() == [("saved", True), ("aborted", True)]
    assert left.told()[1]["ended_at"] is not None
