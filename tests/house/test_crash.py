"""The short form of `tests/crashing.py`: some twenty points, kills and failures."""

import shutil
import sys

import pytest
from crashing import Tally, failures, ground, kills, may_trace, thinned

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="strace is Linux's"),
    pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed"),
    pytest.mark.skipif(not may_trace(), reason="this place lets nobody trace a process"),
]


def test_a_commit_that_is_killed_or_fails_anywhere_leaves_before_or_after() -> None:
    with ground() as made:
        calls, tally = made.calls(), Tally()
        for point in [*thinned(kills(calls), 13), *thinned(failures(calls), 9)]:
            made.strike(point, tally)
        made.intrude(calls)
    assert tally.faults == []
    assert tally.points >= 20
    assert sum(count for end, count in tally.ends.items() if end.startswith("killed")) >= 12


def test_a_merge_of_two_projects_that_is_killed_or_fails_anywhere_leaves_before_or_after() -> None:
    with ground("merge") as made:
        calls, tally = made.calls(), Tally()
        goes = [point for point in kills(calls) if point.call == "rmdir"]  # the old root last of all
        for point in [*thinned(kills(calls), 9), *thinned(failures(calls), 6), *goes]:
            made.strike(point, tally)
    assert tally.faults == []
    assert {"killed → before", "killed → after"} <= set(tally.ends)
