"""What a fleet's machines keep: windows until they are confirmed, in order until they are run, once each."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from extractord.edges.ledger import Ledger
from extractord.edges.ledger.fleet import Arrived, Sent

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.fixture
def ledger() -> Iterator[Ledger]:
    with Ledger.in_memory() as ledger:
        yield ledger


def arrived(number: str, previous: str = "", slug: str = "shop", person: str = "ann") -> Arrived:
    return Arrived(
        person=person, id=number, slug=slug, forwarder="f", previous=previous, payload=number.encode()
    )


def ready(ledger: Ledger, now: datetime = NOW, gap_wait: timedelta = DAY) -> list[str]:
    return [each.id for each in ledger.inbox.ready(now, 100, gap_wait)]


def test_a_window_waits_for_the_one_before_it_however_they_come(ledger: Ledger) -> None:
    ledger.inbox.put([arrived("3", "2"), arrived("2", "1"), arrived("x", slug="other")], NOW)
    assert ready(ledger) == ["x"]
    ledger.inbox.put([arrived("1")], NOW)
    assert ready(ledger) == ["x", "1"]
    ledger.inbox.done(arrived("1"), "saved")
    assert ready(ledger) == ["2", "x"]
    ledger.inbox.later(arrived("2", "1"), NOW + DAY / 2)
    assert ready(ledger) == ["x"], "what comes after it waits too"
    assert ready(ledger, NOW + DAY / 2) == ["2", "x"]


def test_one_whose_predecessor_never_came_runs_after_a_day(ledger: Ledger) -> None:
    ledger.inbox.put([arrived("2", "lost")], NOW)
    assert ready(ledger, NOW + DAY) == []
    assert ready(ledger, NOW + DAY + timedelta(seconds=1)) == ["2"]


def test_where_nothing_more_is_taken_in_no_window_waits_for_another(ledger: Ledger) -> None:
    later = NOW + timedelta(seconds=1)
    ledger.inbox.put([arrived(str(number), "lost", person="eve") for number in range(9)], NOW)
    assert ready(ledger, later) == []
    assert ready(ledger, later, timedelta()) == ["0"]


def test_one_project_that_floods_keeps_no_other_from_its_turn(ledger: Ledger) -> None:
    ledger.inbox.put([arrived(str(number), person="eve") for number in range(900)], NOW)
    ledger.inbox.put([arrived("mine"), arrived("another", slug="other")], NOW)
    assert [each.id for each in ledger.inbox.ready(NOW, 3, DAY)] == ["0", "mine", "another"]


def test_what_came_before_is_not_kept_again_run_or_not(ledger: Ledger) -> None:
    ledger.inbox.put([arrived("1"), arrived("1")], NOW)
    ledger.inbox.put([arrived("1", person="bob")], NOW)
    assert ledger.inbox.waiting() == 2
    ledger.inbox.done(arrived("1"), "saved")
    ledger.inbox.put([arrived("1")], NOW)
    assert [each.person for each in ledger.inbox.ready(NOW, 9, DAY)] == ["bob"]


def test_of_windows_run_long_ago_the_newest_of_a_project_stays(ledger: Ledger) -> None:
    ledger.inbox.put([arrived("1"), arrived("2", "1")], NOW)
    for number in ("1", "2"):
        ledger.inbox.done(arrived(number), "saved")
    ledger.inbox.forget(NOW + 31 * DAY)
    ledger.inbox.put([arrived("1"), arrived("3", "2")], NOW + 31 * DAY)
    assert ready(ledger, NOW + 31 * DAY) == ["1"], "the first is forgotten, its successor known"
    ledger.inbox.done(arrived("1"), "saved")
    assert ready(ledger, NOW + 31 * DAY) == ["3"]


def test_what_nobody_confirms_is_sent_again_ever_later_and_what_is_refused_no_more(ledger: Ledger) -> None:
    windows = ledger.windows
    for number in ("1", "2", "3"):
        windows.sent("shop", Sent(number, "t", b"w"), NOW + timedelta(seconds=5))
    assert windows.tip("shop") == "3"
    assert windows.tip("other") == ""
    windows.received(["1", "not ours"])
    assert windows.refused({"2": "no", "not ours": "no"}) == ("2",)
    assert windows.refused({"2": "no"}) == ()
    assert windows.under_way() == (1, 1)
    assert windows.due(NOW, 9) == ()
    now, waits = NOW + timedelta(seconds=5), []
    for _ in range(14):
        assert [each.id for each in windows.due(now, 9)] == ["3"]
        windows.sent_again(["3"], now, 5.0)
        began = now
        while not windows.due(now, 9):
            now += timedelta(seconds=5)
        waits.append((now - began).total_seconds())
    assert waits[:4] == [10, 20, 40, 80]
    assert waits[-1] == timedelta(hours=6).total_seconds()


def test_a_broker_that_forgot_is_told_again_what_is_newer_than_what_it_knows(ledger: Ledger) -> None:
    published = ledger.published
    assert published.note({"m/a/x": "1", "m/a/y": "2"}) == 1
    assert published.note({"m/a/x": None, "m/b/x": "3"}) == 2
    assert published.below("m/a/") == {"m/a/x": None, "m/a/y": "2"}
    assert published.lost(2) == 0
    assert published.lost(1) == 2
    assert published.below("m/a/") == {"m/a/x": "lost", "m/a/y": "2"}
    assert published.below("m/b/") == {"m/b/x": "lost"}
