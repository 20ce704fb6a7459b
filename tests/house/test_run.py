"""The daemon as a process: it watches, remembers in time, and stops in order."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

EXTRACTORD = [sys.executable, "-m", "extractord"]
TUESDAY = "We deploy only on Tuesdays because the warehouse counts stock on Mondays."
FACTS = (
    "We deploy only on Tuesdays.",
    "I prefer short answers without a summary at the end.",
    "In this repository we indent with four spaces.",
    "Always write commit messages in English.",
)


@dataclass
class Place:
    """A home of its own, with everything that a daemon needs below it."""

    home: Path

    @property
    def environ(self) -> dict[str, str]:
        return {
            "HOME": str(self.home),
            "EXTRACTORD_CONFIG": str(self.home / "config.toml"),
            "EXTRACTORD_DATA_DIR": str(self.home / "data"),
            "EXTRACTORD_STATE_DIR": str(self.home / "state"),
            "EXTRACTORD_RUN__SETTLE_S": "1",
        }

    @property
    def transcripts(self) -> Path:
        return self.home / ".claude/projects/-home-dev-shop"

    def memories(self) -> list[Path]:
        found = (self.home / "data/memory").rglob("*.md")
        return sorted(path for path in found if path.name != "MEMORY.md")

    def command(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*EXTRACTORD, *arguments], env=self.environ, capture_output=True, text=True, check=False
        )

    def runs(self) -> list[dict[str, object]]:
        return [json.loads(line) for line in self.command("runs", "list", "--json").stdout.splitlines()]

    @contextlib.contextmanager
    def running(self) -> Iterator[subprocess.Popen[str]]:
        """The daemon, from its first word that it watches until it has ended."""
        with (self.home / "log").open("a") as log:
            daemon = subprocess.Popen([*EXTRACTORD, "run"], env=self.environ, stderr=log, text=True)
            try:
                self.wait_for(lambda: "watching" in self.log(), 20)
                yield daemon
            finally:
                if daemon.poll() is None:
                    daemon.terminate()
                daemon.wait(30)

    def log(self) -> str:
        return (self.home / "log").read_text()

    def wait_for(self, claim: object, seconds: float) -> float:
        """Wait until a claim holds; return how long that took, in seconds."""
        began = time.monotonic()
        assert callable(claim)
        while not claim():
            assert time.monotonic() - began < seconds, self.log()
            time.sleep(0.02)
        return time.monotonic() - began


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = Place(tmp_path)
    made.transcripts.mkdir(parents=True)
    (tmp_path / "config.toml").touch()
    return made


class Session:
    """A session of Claude Code's shape, a record at a time."""

    def __init__(self, name: str = "0a0b0c0d-0000-4000-8000-000000000001") -> None:
        self.name = name
        self._count = 0
        self._parent: str | None = None

    def _record(self, **fields: object) -> bytes:
        self._count += 1
        uuid = f"{self.name[:8]}-0000-4000-8000-{self._count:012d}"
        record = {
            "parentUuid": self._parent,
            "isSidechain": False,
            "uuid": uuid,
            "timestamp": f"2026-11-30T10:{self._count // 60:02d}:{self._count % 60:02d}.000Z",
            "cwd": "/home/dev/shop",
            "sessionId": self.name,
            "version": "2.1.332",
            **fields,
        }
        self._parent = uuid
        return json.dumps(record, ensure_ascii=False).encode() + b"\n"

    def said(self, text: str) -> bytes:
        message = {"role": "user", "content": text}
        return self._record(type="user", promptSource="typed", message=message)

    def answered(self, text: str) -> bytes:
        message = {
            "id": f"msg_{self._count}",
            "role": "assistant",
            "content": [{"type": "text", "text": text}],
            "stop_reason": "end_turn",
        }
        return self._record(type="assistant", message=message)

    def exchange(self, text: str) -> bytes:
        return self.said(text) + self.answered("Noted.")


def append(path: Path, data: bytes) -> None:
    with path.open("ab", buffering=0) as file:
        file.write(data)


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
        place.wait_for(lambda: len(place.memories()) == len(FACTS), 30)
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
