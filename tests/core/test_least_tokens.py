"""What a request is at least, before it is made."""

from __future__ import annotations

from datetime import UTC, datetime

from extractord.core.budget import Go, Limits, Stop, judge_spend
from extractord.core.ports import Spent
from extractord.core.records import Call, Message
from extractord.spending import least_tokens

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def test_messages_and_arguments_count_and_many_small_ones_are_not_free() -> None:
    said = Message(
        role="assistant", content="n" * 600, calls=(Call(id="1", name="Read", arguments="x" * 60),)
    )
    assert least_tokens((said,), ()) == 111
    assert least_tokens((Message(role="user"),) * 1000, ()) == 1000


def test_a_request_that_alone_would_pass_the_runs_tokens_is_not_made() -> None:
    limits = Limits(run_tokens=1000)
    assert judge_spend(limits, Spent(), Spent(tokens=900), NOW, 100) == Go()
    assert judge_spend(limits, Spent(), Spent(tokens=900), NOW, 101) == Stop(
        None, "budget.run_tokens of 1,000 would be passed by a request of its own"
    )
    assert judge_spend(Limits(run_tokens="unlimited"), Spent(), Spent(), NOW, 10**9) == Go()
