"""What runs may spend, whatever becomes of them: a real house and ledger, a host that never answers."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from extractord.batch import drained
from extractord.cli.runs import show
from extractord.cli.status import lines, look
from extractord.config import Settings, load_settings
from extractord.config.settings import Run
from extractord.core.budget import Limits
from extractord.core.ports import Spent
from extractord.core.records import (
    Entry,
    Exchange,
    Message,
    Origin,
    Outcome,
    Project,
    Reply,
    Role,
    Tool,
    Usage,
    Window,
)
from extractord.core.wire import Price
from extractord.errors import ConfigError, ModelError
from extractord.house import House, opened
from extractord.spending import Spending

TRIES = 5
START = datetime(2026, 11, 30, 8, tzinfo=UTC)


class Failing:
    """A host whose provider never answers: it tries five times where it may, and keeps no count."""

    def __init__(self) -> None:
        self.made = 0

    async def complete(
        self, _messages: Sequence[Message], _tools: Sequence[Tool], most: int = 0
    ) -> tuple[Reply, int]:
        tries = min(TRIES, most) if most else TRIES
        for _ in range(tries):
            self.made += 1
            await asyncio.sleep(0)
        raise ModelError("overloaded", fault="transient", tries=tries)


def window(number: int) -> Window:
    said = Entry(
        id=f"u{number}", agent="pi", session=f"s{number}", role=Role.USER, origin=Origin.HUMAN,
        text="we deploy only on Tuesdays",
    )  # fmt: skip
    project = Project(slug=f"p{number % 50}", identity=f"p{number % 50}", directory=f"/srv/p{number % 50}")
    exchange = Exchange(agent="pi", session=said.session, key=said.id, entries=(said,), ended=True)
    return Window(agent="pi", session=said.session, project=project, exchanges=(exchange,))


def failing(house: House, host: Failing, limits: Limits, now: datetime) -> House:
    def clock() -> datetime:
        return now

    spending = Spending(house.ledger.runs, host, house.means.redaction, limits, clock)
    extraction = replace(
        house.extraction, spending=spending, clock=clock, embedded=False, parked_after=3
    )  # fmt: skip
    return replace(house, extraction=extraction, clock=clock)


async def test_a_thousand_sessions_that_fail_for_ever_spend_no_more_than_the_cap(tmp_path: Path) -> None:
    settings = Settings(
        confinement="off", data_dir=tmp_path / "data", state_dir=tmp_path / "state", run=Run(concurrency=8)
    )
    limits, host = Limits(day_requests=40, run_requests=8, day_dollars="unlimited"), Failing()
    sessions = [window(number) for number in range(1000)]
    async with opened(settings, warn=print) as house:
        for hours in (0, 1, 5):
            now = START + timedelta(hours=hours)
            rows = [row async for row in drained(failing(house, host, limits, now), sessions, None)]
            assert {row.outcome for row in rows} <= {Outcome.FAILED, Outcome.DEFERRED, Outcome.PARKED}
            assert host.made <= 40
        assert house.ledger.runs.spent(START - timedelta(days=1)).requests == host.made == 40
        async for _ in drained(failing(house, host, limits, START + timedelta(days=1)), sessions, None):
            pass
        assert host.made <= 2 * 40


async def test_the_tries_of_one_reply_end_where_a_run_may_make_no_more_requests(tmp_path: Path) -> None:
    settings = Settings(confinement="off", data_dir=tmp_path / "data", state_dir=tmp_path / "state")
    host = Failing()
    async with opened(settings, warn=print) as house:
        limits = Limits(run_requests=3, day_requests="unlimited", day_dollars="unlimited")
        rows = [row async for row in drained(failing(house, host, limits, START), [window(1)], None)]
        assert [row.requests for row in rows] == [3]
        assert host.made == 3


async def test_status_and_a_run_say_what_was_spent_on_what(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = Settings(confinement="off", data_dir=tmp_path / "data", state_dir=tmp_path / "state")
    async with opened(settings, warn=print) as house:
        limits = Limits(run_requests=2, day_requests="unlimited")
        rows = [row async for row in drained(failing(house, Failing(), limits, START), [window(7)], None)]
        house.ledger.runs.spend(rows[0].run, Usage(prompt_tokens=900, dollars=0.25), START, None)
    found = look(settings.state_dir, limits, START)
    assert [(one.model, one.project, one.spent) for one in found.on] == [
        ("heuristic", "p7", Spent(requests=3, tokens=900, dollars=0.25))
    ]
    assert ("", "p7 with heuristic: 3 requests, 0.2500 dollars") in list(lines(found, limits, START))
    monkeypatch.setenv("EXTRACTORD_STATE_DIR", str(settings.state_dir))
    show(rows[0].run)
    said = capsys.readouterr().out
    assert said.count("failed: transient") == 2
    assert "900 + 0 tokens, 0.2500 dollars" in said
    show(rows[0].run, json=True)
    told = msgspec.json.decode(capsys.readouterr().out)
    assert [one["dollars"] for one in told["spent"]] == [0.0, 0.0, 0.25]


def test_a_price_of_a_persons_own_counts_cached_tokens_by_themselves() -> None:
    usage = Usage(prompt_tokens=1_000_000, completion_tokens=500_000, cached_tokens=400_000)
    assert Price(input=1.0, output=4.0).dollars(usage) == pytest.approx(3.0)
    assert Price(input=1.0, output=4.0, cached=0.1).dollars(usage) == pytest.approx(0.6 + 0.04 + 2.0)


def test_prices_are_read_from_the_configuration_and_bad_ones_refused(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    environ = {"EXTRACTORD_CONFIG": str(file)}
    file.write_text('[model.prices."openai/x"]\ninput = 1\noutput = 2.5\n')
    assert load_settings(environ).model.prices == {"openai/x": Price(input=1.0, output=2.5)}
    for wrong in ("input = 1", "input = -1\noutput = 1", "input = 1\noutput = 1\ncolour = 3"):
        file.write_text(f'[model.prices."openai/x"]\n{wrong}\n')
        with pytest.raises(ConfigError, match=r"model\.prices"):
            load_settings(environ)
