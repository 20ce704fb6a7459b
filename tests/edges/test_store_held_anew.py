"""What was held once: the same words do not ask again, said anew they do."""

from datetime import timedelta
from pathlib import Path

import pytest
from storing import PROJECT, SHOP_ROOT, House, fact, said

from extractord.core.records import Evidence, Outcome
from extractord.edges.store import Committed, Keeping, Reviewing
from extractord.edges.store.lock import locked
from extractord.errors import ConflictError

WORDS = "Deploys happen on Tuesdays only"
CITED = Evidence(entry="e1", quote=WORDS)
HOUR = timedelta(hours=1)


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


def asks(house: House, words: str = WORDS) -> Committed:
    """The words are said now, and a run holds what it makes of them."""
    change = house.change(PROJECT, "deploys.md", fact("deploys", words), CITED)
    return house.commit([change], said("e1", WORDS, at=house.now), mode="ask")


def asks_again_with_the_same_words(house: House) -> Committed:
    now, house.now = house.now, house.now - 2 * HOUR
    try:
        return asks(house)
    finally:
        house.now = now


def test_what_was_rejected_is_held_again_only_when_it_is_said_anew(house: House) -> None:
    assert asks(house).outcome is Outcome.HELD
    Reviewing(house.store).reject(house.ledger.versions.held()[0])
    house.now += HOUR
    again = asks_again_with_the_same_words(house)
    assert [one.rule for one in again.refusals] == ["forgotten"]
    assert asks(house).outcome is Outcome.HELD
    assert [one.rule for one in asks(house).refusals] == ["already_held"]
    assert len(house.ledger.versions.held()) == 1


def test_what_was_accepted_and_forgotten_is_held_again_when_it_is_said_anew(house: House) -> None:
    for _ in range(3):
        assert asks(house).outcome is Outcome.HELD
        Reviewing(house.store).accept(house.ledger.versions.held()[0])
        assert asks_again_with_the_same_words(house).outcome is Outcome.NOTHING_TO_SAVE
        house.now += HOUR
        Keeping(house.store).forget(SHOP_ROOT, "deploys.md")
        house.now += HOUR


def test_what_was_decided_on_the_same_words_is_not_asked_again(house: House) -> None:
    house.keep(PROJECT, "deploys.md", "Deploys happen on Fridays only", label="e0")
    assert asks(house).outcome is Outcome.HELD
    Reviewing(house.store).accept(house.ledger.versions.held()[0])
    change = house.change(PROJECT, "deploys.md", fact("deploys", f"{WORDS}, always"), CITED)
    again = house.commit([change], said("e1", WORDS, at=house.now), mode="ask")
    assert [one.rule for one in again.refusals] == ["already_held"]
    later = house.commit([change], said("e1", WORDS, at=house.now + HOUR), mode="ask")
    assert later.outcome is Outcome.HELD


def test_what_can_only_be_rejected_makes_room_for_the_same_over_what_stands_there_now(house: House) -> None:
    house.keep(PROJECT, "deploys.md", "Deploys happen on Fridays only", label="e0")
    assert asks(house).outcome is Outcome.HELD
    house.project.put("deploys.md", fact("deploys", "Deploys happen on Mondays only").encode())
    house.now += HOUR
    assert asks(house).outcome is Outcome.HELD
    (held,) = house.ledger.versions.held()
    Reviewing(house.store).accept(held)
    assert house.text(PROJECT, "deploys.md") == fact("deploys", WORDS)


def test_a_rejection_waits_for_the_lock(house: House) -> None:
    asks(house)
    (held,) = house.ledger.versions.held()
    with locked(house.memory), pytest.raises(ConflictError, match="busy"):
        Reviewing(house.store).reject(held)
    assert house.ledger.versions.held() == (held,)
    assert Reviewing(house.store).reject(held) == (f"{SHOP_ROOT}/deploys.md",)
