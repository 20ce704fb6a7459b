"""`bench perf` as a process: its rows have one shape, whatever the figures are."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from extractord.cli.perf.claude import Session
from extractord.cli.perf.codex import Thread
from extractord.cli.perf.groups import GROUPS
from extractord.core.records import Origin
from extractord.core.transcripts import claude_code, codex
from extractord.core.transcripts.source import Opened

FIELDS = ["row", "name", "value", "unit", "against", "bound", "target", "met", "detail"]


def bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "extractord", "bench", "perf", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


def test_each_row_says_what_was_measured_against_what_and_whether_its_target_is_met(tmp_path: Path) -> None:
    done = bench("--quick", "--only", "judge,prompt", "--json", "--out", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [list(row) for row in rows] == [FIELDS] * 3
    assert [(row["row"], row["name"], row["unit"], row["bound"], row["target"]) for row in rows] == [
        ("judge", "a path", "µs", "≤", 50),
        ("judge", "an rm", "ms", "≤", 1),
        ("prompt", "fixed prompt", "tokens", "≤", 1500),
    ]
    assert all(row["value"] > 0 and row["met"] is (row["value"] <= row["target"]) for row in rows)
    assert (tmp_path / "out" / "perf.jsonl").read_text() == done.stdout
    assert (tmp_path / "out" / "perf.md").read_text().count("\n") == 5


def test_people_get_a_table() -> None:
    done = bench("--quick", "--only", "prompt")
    assert done.returncode == 0, done.stderr
    assert "fixed prompt" in done.stdout
    assert "1,500" in done.stdout


def test_an_unknown_row_is_refused_and_the_known_ones_are_named() -> None:
    done = bench("--only", "speed")
    assert done.returncode == 2
    assert "no rows are called speed" in done.stderr
    assert all(name in done.stderr for name in GROUPS)


def test_the_sessions_that_are_measured_are_read_whole_and_are_the_same_each_time() -> None:
    for source, first, second in (
        (claude_code.SOURCE, Session(1, "/home/dev/shop"), Session(1, "/home/dev/shop")),
        (codex.SOURCE, Thread(1, "/home/dev/shop"), Thread(1, "/home/dev/shop")),
    ):
        lines = list(first.lines(900_000))
        assert lines == list(second.lines(900_000))
        reader = source.reader(Opened(path="/home/dev/rollout-x.jsonl"))
        entries = [seen for line in lines for seen in reader.feed(line.removesuffix(b"\n"))]
        origins = [seen.origin for seen in entries if hasattr(seen, "origin")]
        assert origins.count(Origin.HUMAN) > 5
        assert sum(getattr(seen, "turn_end", False) for seen in entries) >= origins.count(Origin.HUMAN)
        assert not reader.unknown
