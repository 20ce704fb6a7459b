"""What a run and a day may cost, and whether the next request still fits."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from msgspec import Struct

from extractord.core.ports import Spent

Unlimited = Literal["unlimited"]
Count = int | Unlimited
Dollars = float | Unlimited
"""0 means zero; that there is no limit is written out."""


class Limits(Struct, frozen=True, kw_only=True):
    """Every limit on what runs spend; `run_s` is in seconds, a day is the calendar's."""

    turns: int = 5
    run_s: float = 120.0
    run_requests: Count = 8
    run_tokens: Count = 200_000
    day_requests: Count = 200
    day_tokens: Count = 2_000_000
    day_dollars: Dollars = 1.0
    soft: float = 0.8
    """The part of a day's limit from which on there is a warning."""


@dataclass(frozen=True, slots=True)
class Go:
    """The next request fits."""


@dataclass(frozen=True, slots=True)
class Warn:
    """It fits, and a day's limit is near: `reason` names it."""

    reason: str


@dataclass(frozen=True, slots=True)
class Stop:
    """It does not fit. `until` is when it may again; None where that is the run's own end."""

    until: datetime | None
    reason: str


def judge_spend(
    limits: Limits, spent_today: Spent, spent_run: Spent, now: datetime, asked_tokens: int = 0
) -> Go | Warn | Stop:
    """Given what was spent since midnight and by this run, return whether one more request fits.

    `asked_tokens` is what the request itself is at least: one that alone would pass the run's
    tokens is not made. A child that was turned chooses how much it asks.
    `now` is aware, in the zone whose midnight begins a day. The embedded model makes no request
    and spends nothing: it is not asked about.
    """
    run: tuple[tuple[str, float, Dollars], ...] = (
        ("run_requests", spent_run.requests, limits.run_requests),
        ("run_tokens", spent_run.tokens, limits.run_tokens),
    )
    day: tuple[tuple[str, float, Dollars], ...] = (
        ("day_requests", spent_today.requests, limits.day_requests),
        ("day_tokens", spent_today.tokens, limits.day_tokens),
        ("day_dollars", spent_today.dollars, limits.day_dollars),
    )
    for name, spent, limit in day:
        if limit != "unlimited" and spent >= limit:
            return Stop(_midnight(now), f"budget.{name} is spent: {_amount(spent)} of {_amount(limit)}")
    for name, spent, limit in run:
        if limit != "unlimited" and spent >= limit:
            return Stop(None, f"budget.{name} is spent: {_amount(spent)} of {_amount(limit)}")
    if limits.run_tokens != "unlimited" and spent_run.tokens + asked_tokens > limits.run_tokens:
        return Stop(
            None, f"budget.run_tokens of {_amount(limits.run_tokens)} would be passed by a request of its own"
        )
    for name, spent, limit in day:
        if limit != "unlimited" and spent >= limits.soft * limit:
            return Warn(f"budget.{name} is nearly spent: {_amount(spent)} of {_amount(limit)}")
    return Go()


def _amount(amount: float) -> str:
    return f"{amount:,.2f}" if isinstance(amount, float) else f"{amount:,}"


def _midnight(now: datetime) -> datetime:
    """The next midnight in the zone of `now`."""
    return (now + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
