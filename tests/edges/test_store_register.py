"""The file of tombstones after a crash in the middle of a line."""

from pathlib import Path

import pytest
from storing import START, House

from extractord.core.versions import Tombstone
from extractord.edges.store.register import Register
from extractord.errors import StoreError


def stone(name: str) -> Tombstone:
    return Tombstone(root="user", name=name, fingerprint=("a",), key="k", made_at=START, why="forgotten")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "tombstones.jsonl"


def test_after_any_cut_in_the_last_line_what_is_added_can_be_read_and_nothing_else_is_lost(
    place: Path,
) -> None:
    register = Register(place)
    register.add([stone("one"), stone("two")])
    whole = place.read_bytes()
    second = whole.index(b"\n") + 1
    for cut in range(second, len(whole) + 1):
        place.write_bytes(whole[:cut])
        register.add([stone("three")])
        names = [one.name for one in register.all()]
        assert names == (["one", "two", "three"] if cut >= len(whole) - 1 else ["one", "three"])
        assert place.read_bytes().endswith(b"}\n")


def test_half_a_last_line_is_passed_over_with_a_warning_and_a_whole_one_without(place: Path) -> None:
    register = Register(place)
    assert (register.all(), register.torn()) == ((), "")
    register.add([stone("one")])
    assert register.torn() == ""
    place.write_bytes(place.read_bytes().removesuffix(b"\n"))
    assert (register.all(), register.torn()) == ((stone("one"),), "")
    place.write_bytes(place.read_bytes()[:-5])
    assert register.all() == ()
    assert "the last line was cut short" in register.torn()


def test_a_bad_line_that_is_not_the_last_is_an_error(place: Path) -> None:
    register = Register(place)
    place.write_bytes(b'{"root": "us\n')
    with pytest.raises(StoreError, match="damaged"):
        register.all()


def test_a_torn_line_is_said_at_the_start(tmp_path: Path) -> None:
    house = House(tmp_path)
    house.register.write_bytes(b'{"root": "us')
    said: list[str] = []
    house.store.recover(said.append)
    assert said == [f"{house.register}: the last line was cut short (12 bytes); it is passed over"]
