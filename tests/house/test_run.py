"""The daemon as a process: it watches, remembers in time, and stops in order."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from living import FACTS, TUESDAY, Place, Session, append
from supervising import family

from extractord.edges.store.lock import DEADLINE_S, locked


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


WRITER = """
import sys, time
data = sys.stdin.buffer.read()
for start in range(0, len(data), 97):
    with open(sys.argv[1], "ab", buffering=0) as file:
        file.write(data[start:start + 97])
    time.sleep(0.005)
"""


def test_a_transcript_that_comes_in_torn_pieces_is_a_memory_within_three_seconds(place: Place) -> None:
    with place.running():
        assert any(torn(place, number) < 3 for number in range(3)), place.log()  # others work here too


def torn(place: Place, number: int) -> float:
    """How long after its last piece a session is a memory, in seconds."""
    session = Session(f"{number}a0b0c0d-0000-4000-8000-000000000001")
    path, before = place.transcripts / f"{session.name}.jsonl", set(place.memories())
    lines = session.exchange(FACTS[number])
    subprocess.run([sys.executable, "-c", WRITER, str(path)], input=lines, check=True)
    took = place.wait_for(lambda: set(place.memories()) != before)
    [memory] = set(place.memories()) - before
    assert FACTS[number] in memory.read_text()
    assert f"source: claude-code {session.name} {session.name[:8]}-0000-4000-8000-000000000001" in (
        memory.read_text()
    )
    index = memory.parent / "MEMORY.md"
    place.wait_for(lambda: index.exists() and f"]({memory.name})" in index.read_text())
    return took


def test_what_was_there_before_the_first_start_is_not_read(place: Place) -> None:
    session, path = Session(), place.transcripts / "0a0b0c0d-0000-4000-8000-000000000001.jsonl"
    append(path, session.exchange(TUESDAY))
    with place.running():
        append(path, session.exchange("I prefer short answers without a summary at the end"))
        place.wait_for(place.memories)
        time.sleep(1)
    assert [memory.name for memory in place.memories()] == ["prefer-short-answers-without-a-summary.md"]


def test_what_came_while_it_was_down_is_read_at_the_next_start(place: Place) -> None:
    session, path = Session(), place.transcripts / "0a0b0c0d-0000-4000-8000-000000000001.jsonl"
    with place.running():
        append(path, session.exchange("ok thanks"))
        place.wait_for(lambda: "no_prose" in place.log())
    append(path, session.exchange(TUESDAY))
    with place.running():
        place.wait_for(place.memories)
    assert [run["outcome"] for run in place.runs()] == ["saved"]


def test_a_fast_conversation_costs_one_run_an_idle_moment(place: Place) -> None:
    session, path = Session(), place.transcripts / "0a0b0c0d-0000-4000-8000-000000000001.jsonl"
    with place.running():
        for number in range(40):
            append(path, session.exchange(f"Always call the service number {number} before you deploy it"))
        place.wait_for(lambda: len(place.memories()) >= 1)
        place.wait_for(lambda: not _is_busy(place))
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
        assert daemon.wait(120) == 0
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
        place.wait_for(lambda: not _is_busy(place))
    assert [_all(place).count(f"\n{fact}") for fact in FACTS] == [1] * len(FACTS)


def _all(place: Place) -> str:
    return "\n".join(memory.read_text() for memory in place.memories())


def test_the_daemon_and_its_child_never_import_litellm(place: Place) -> None:
    with place.running() as daemon:
        append(
            place.transcripts / "a.jsonl", Session("a0000000-0000-4000-8000-000000000001").exchange(TUESDAY)
        )
        place.wait_for(place.memories)
        maps = [_mapped(pid) for pid in family(daemon.pid)]
        assert sum(map(bool, maps)) >= 2
        assert not any("litellm" in each or "tiktoken" in each for each in maps)


def _mapped(pid: int) -> str:
    """The files that a process has mapped; none once it has ended."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/maps").read_text()
    return ""


pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and /proc")


def test_while_another_process_holds_the_memories_the_daemon_goes_on_reading(place: Place) -> None:
    """A daemon that waited for the lock itself would say nothing for all of DEADLINE_S, each time."""
    (place.home / "data/memory").mkdir(parents=True, mode=0o700)
    with place.running():
        assert any(silence(place, number) < DEADLINE_S * 0.75 for number in range(3)), place.log()


def silence(place: Place, number: int) -> float:
    """The longest that nothing is said of sessions that end while a memory waits to be written."""
    before, told, took = len(place.memories()), place.log().count("event=skipped"), list[float]()
    with locked(place.home / "data/memory"):
        said = Session(f"{number:04d}0000")
        append(place.transcripts / f"{said.name}.jsonl", said.exchange(FACTS[number]))
        began = time.monotonic()
        while time.monotonic() - began < DEADLINE_S:
            said = Session(f"{number:04d}{len(took) + 1:04d}")
            append(place.transcripts / f"{said.name}.jsonl", said.exchange("ok"))
            took.append(place.wait_for(lambda: place.log().count("event=skipped") > told + len(took)))
        assert len(place.memories()) == before
    place.wait_for(lambda: len(place.memories()) > before)
    return max(took)
