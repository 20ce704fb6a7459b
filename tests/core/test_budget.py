"""When the next request still fits."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from extractord.core.budget import Go, Limits, Stop, Warn, judge_spend
from extractord.core.ports import Spent

NOW = datetime(2026, 11, 30, 22, 30, tzinfo=timezone(timedelta(hours=1)))
MIDNIGHT = datetime(2026, 11, 30, 23, 0, tzinfo=UTC)
NOTHING = Spent()


def test_a_fresh_day_has_room() -> None:
    assert judge_spend(Limits(), NOTHING, NOTHING, NOW) == Go()


@pytest.mark.parametrize(
    ("today", "name"),
    [
        (Spent(requests=200), "budget.day_requests is spent: 200 of 200"),
        (Spent(tokens=2_000_001), "budget.day_tokens is spent: 2,000,001 of 2,000,000"),
        (Spent(dollars=1.0), "budget.day_dollars is spent: 1.00 of 1.00"),
    ],
)
def test_a_spent_day_stops_until_midnight(today: Spent, name: str) -> None:
    stop = judge_spend(Limits(), today, NOTHING, NOW)
    assert stop == Stop(datetime(2026, 12, 1, tzinfo=NOW.tzinfo), name)
    assert stop.until == MIDNIGHT


def test_a_spent_run_stops_by_itself() -> None:
    assert judge_spend(Limits(), NOTHING, Spent(requests=8), NOW) == Stop(
        None, "budget.run_requests is spent: 8 of 8"
    )
    assert judge_spend(Limits(), NOTHING, Spent(requests=7), NOW) == Go()


def test_near_a_days_limit_there_is_a_warning() -> None:
    assert judge_spend(Limits(), Spent(requests=160), NOTHING, NOW) == Warn(
        "budget.day_requests is nearly spent: 160 of 200"
    )
    assert judge_spend(Limits(), Spent(requests=159), NOTHING, NOW) == Go()


def test_zero_means_zero_and_unlimited_is_written_out() -> None:
    assert judge_spend(Limits(day_dollars=0), NOTHING, NOTHING, NOW) == Stop(
        datetime(2026, 12, 1, tzinfo=NOW.tzinfo), "budget.day_dollars is spent: 0.00 of 0"
    )
    free = Limits(day_dollars="unlimited", day_requests="unlimited", day_tokens="unlimited")
    assert judge_spend(free, Spent(requests=10**6, tokens=10**9, dollars=1e6), NOTHING, NOW) == Go()
