"""The short form of `tests/soaking.py`: forty sessions, a week in half a minute."""

import sys
from pathlib import Path

import pytest
from soaking import FAKETIME, soak

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="/proc, and libfaketime as it is there"),
    pytest.mark.skipif(not FAKETIME, reason="libfaketime is not installed"),
]

CAP = 5
"""Requests a day, for some fifty facts in a week: it binds on most days."""


def test_a_week_of_failures_loses_and_doubles_nothing_and_keeps_to_the_cap(tmp_path: Path) -> None:
    told = soak(tmp_path, sessions=40, seconds=30, cap=CAP, patience_s=200)
    assert told["memories"] == told["facts said"]
    assert (told["lost"], told["doubled"]) == (0, 0)
    assert told["runs that the broker's subscriber missed"] in (0, "no broker")
    happened = told["happened"]
    assert isinstance(happened, dict)
    assert sum(happened.values()) >= 8
    put_off = told["put off till midnight by the cap, and run then"]
    assert isinstance(put_off, int)
    assert put_off > 0
    days = told["days"]
    assert isinstance(days, dict)
    assert CAP in days.values()
