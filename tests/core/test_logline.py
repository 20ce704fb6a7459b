"""One line an event, in either form, whatever a stranger called his file."""

import json
from datetime import UTC, datetime

import pytest

from extractord.core.events import Event, Oversized, RunFinished, Skipped, SourceFound
from extractord.core.logline import jsonline, logline
from extractord.core.ports import RunRow

NOW = datetime(2026, 11, 30, 12, 0, 0, 5000, tzinfo=UTC)
ROW = RunRow(
    run="01AAAA",
    agent="codex",
    session="s1",
    project="shop-0123456789abcdef",
    model="heuristic",
    started_at=NOW,
    outcome="saved",
    written=("project/deploys.md",),
    requests=1,
    prompt_tokens=1200,
    completion_tokens=80,
    dollars=0.0125,
    ms=4200,
)
RAN = RunFinished(at=NOW, row=ROW, audit="abc")


def test_a_run_is_one_line_of_logfmt() -> None:
    assert logline(RAN, NOW) == (
        "time=2026-11-30T12:00:00.005+00:00 event=run/finished run=01AAAA agent=codex session=s1 "
        "project=shop-0123456789abcdef model=heuristic outcome=saved written=1 removed=0 held=0 denied=0 "
        "requests=1 prompt_tokens=1200 completion_tokens=80 dollars=0.0125 ms=4200 audit=abc"
    )


def test_the_same_run_is_one_object_of_json() -> None:
    assert json.loads(jsonline(RAN, NOW)) == {
        "time": "2026-11-30T12:00:00.005+00:00",
        "event": "run/finished",
        "run": "01AAAA",
        "agent": "codex",
        "session": "s1",
        "project": "shop-0123456789abcdef",
        "model": "heuristic",
        "outcome": "saved",
        "written": 1,
        "removed": 0,
        "held": 0,
        "denied": 0,
        "requests": 1,
        "prompt_tokens": 1200,
        "completion_tokens": 80,
        "dollars": 0.0125,
        "ms": 4200,
        "audit": "abc",
    }


@pytest.mark.parametrize(
    "event",
    [
        "a\nsecond line \x1b[31m",
        Oversized(at=NOW, agent="pi", path="/x/\udcff\n\u2028\u202e.jsonl", lines=1, bytes=2),
        SourceFound(at=NOW, agent="pi", root='/a "b"=c\\', transcripts=3),
        Skipped(at=NOW, agent="pi", session="s\r", exchange="e", reason="no_prose"),
    ],
    ids=lambda event: type(event).__name__,
)
def test_it_stays_one_line_and_shows_a_terminal_nothing_to_obey(event: Event | str) -> None:
    for line in (logline(event, NOW), jsonline(event, NOW)):
        assert all(character.isprintable() for character in line)
    assert json.loads(jsonline(event, NOW))["time"] == NOW.isoformat(timespec="milliseconds")
