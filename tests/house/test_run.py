"""The daemon as a process: it watches, remembers in time, and stops in order."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from living import FACTS, TUESDAY, Place, Session, append

from extractord.edges.store.lock import locked


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = Place(tmp_path)
    made.transcripts.mkdir(parents=True)
    (tmp_path / "config.toml").touch()
    return made


def test_a_transcript_that_comes_in_torn_pieces_is_a_memory_within_three_seconds(place: Place) -> None:
    session, path = Session(), place.transcripts / "0a0b0c0d-0000-4000-8000-000000000001.jsonl"
    with place.running():
        lines = session.exchange(TUESDAY)
        writer = (
            "import sys, time\n"
            "data = sys.stdin.buffer.read()\n"
            "for start in range(0, len(data), 97):\n"
            "    with open(sys.argv[1], 'ab', buffering=0) as file:\n"
            "        file.write(data[start:start + 97])\n"
            "    time.sleep(0.005)\n"
        )
        subprocess.run([sys.executable, "-c", writer, str(path)], input=lines, check=True)
        took = place.wait_for(place.memories, 10)
    assert took < 3, place.log()
    [memory] = place.memories()
    assert "Tuesdays" in memory.read_text()
    assert f"source: claude-code {session.name} 0a0b0c0d-0000-4000-8000-000000000001" in memory.read_text()
    index = memory.parent / "MEMORY.md"
    assert f"]({memory.name})" in index.read_text()


def test_what_was_there_before_the_first_start_is_not_read(place: Place) -> None:
    session, path = Session(), place.transcripts / "0a0b0c0d-0000-4000-8000-000000000001.jsonl"
    append(path, session.exchange(TUESDAY))
    with place.running():
        append(path, session.exchange("I prefer short answers without a summary at the end"))
        place.wait_for(place.memories, 10)
        time.sleep(1)
    assert [memory.name for memory in place.memories()] == ["prefer-short-answers-without-a-summary.md"]


def test_what_came_while_it_was_down_is_read_at_the_next_start(place: Place) -> None:
    session, path = Session(), place.transcripts / "0a0b0c0d-0000-4000-8000-000000000001.jsonl"
    with place.running():
        append(path, session.exchange("ok thanks"))
        place.wait_for(lambda: "no_prose" in place.log(), 10)
    append(path, session.exchange(TUESDAY))
    with place.running():
        place.wait_for(place.memories, 10)
    assert [run["outcome"] for run in place.runs()] == ["saved"]


def test_a_fast_conversation_costs_one_run_an_idle_moment(place: Place) -> None:
    session, path = Session(), place.transcripts / "0a0b0c0d-0000-4000-8000-000000000001.jsonl"
    with place.running():
        for number in range(40):
            append(path, session.exchange(f"Always call the service number {number} before you deploy it"))
        place.wait_for(lambda: len(place.memories()) >= 1, 20)
        place.wait_for(lambda: not _is_busy(place), 30)
    assert 1 <= len(place.runs()) <= 8


def _is_busy(place: Place) -> bool:
    before = len(place.log())
    time.sleep(1.5)
    return len(place.log()) != before


def test_sigterm_ends_it_clean_and_a_second_daemon_is_told_who_runs(place: Place) -> None:
    with place.running() as daemon:
        second = place.command("run")
        assert (second.returncode, str(daemon.pid) in second.stderr) == (75, True)
        daemon.send_signal(signal.SIGTERM)
        assert daemon.wait(10) == 0
    assert place.log().rstrip().endswith("stopped")


def test_killed_at_any_moment_it_goes_on_and_says_each_fact_once(place: Place) -> None:
    session, path = Session(), place.transcripts / "0a0b0c0d-0000-4000-8000-000000000001.jsonl"
    for number, fact in enumerate(FACTS):
        with place.running() as daemon:
            append(path, session.exchange(fact))
            time.sleep(0.3 * number)
            daemon.kill()
    with place.running():
        # where three kills in a row hit a run, its exchanges wait a minute
        place.wait_for(lambda: len(place.memories()) == len(FACTS), 100)
        place.wait_for(lambda: not _is_busy(place), 30)
    assert [_all(place).count(f"\n{fact}") for fact in FACTS] == [1] * len(FACTS)


def _all(place: Place) -> str:
    return "\n".join(memory.read_text() for memory in place.memories())


def test_the_daemon_and_its_child_never_import_litellm(place: Place) -> None:
    with place.running() as daemon:
        append(
            place.transcripts / "a.jsonl", Session("a0000000-0000-4000-8000-000000000001").exchange(TUESDAY)
        )
        place.wait_for(place.memories, 10)
        maps = [Path(f"/proc/{pid}/maps") for pid in _family(daemon.pid)]
        assert len(maps) >= 2
        assert not any("litellm" in each.read_text() or "tiktoken" in each.read_text() for each in maps)


def _family(pid: int) -> list[int]:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *(each for child in children for each in _family(int(child)))]


pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and /proc")


def test_while_another_process_holds_the_memories_the_daemon_goes_on_reading(place: Place) -> None:
    (place.home / "data/memory").mkdir(parents=True, mode=0o700)
    first, second = Session(), Session("0a0b0c0d-0000-4000-8000-000000000002")
    with place.running():
        with locked(place.home / "data/memory"):
            append(place.transcripts / f"{first.name}.jsonl", first.exchange(TUESDAY))
            time.sleep(1.0)
            append(place.transcripts / f"{second.name}.jsonl", second.exchange("ok"))
            took = place.wait_for(lambda: "skipped" in place.log(), 20)
            assert place.memories() == []
        assert took < 1.0
        place.wait_for(lambda: place.memories() != [], 20)
