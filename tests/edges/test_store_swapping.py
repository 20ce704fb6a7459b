"""Compare and swap on the disk: what somebody put there meanwhile stays, whole."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from extractord.edges.folder import Folder
from extractord.edges.folder.renaming import exchange, rename_new
from extractord.edges.folder.swapping import replaced, taken
from extractord.errors import ConflictError, StoreError


@pytest.fixture
def place(tmp_path: Path) -> Path:
    tmp_path.chmod(0o700)
    return tmp_path / "root"


@pytest.fixture
def folder(place: Path) -> Iterator[Folder]:
    opened = Folder.create(place, place.parent)
    yield opened
    opened.close()


def listed(place: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in place.rglob("*") if file.is_file()}


def test_what_is_as_expected_is_replaced_created_and_removed(folder: Folder, place: Path) -> None:
    folder.write("a.md", b"one", None)
    folder.write("a.md", b"two", b"one")
    assert listed(place) == {"a.md": b"two"}
    folder.write("deep/b.md", b"b", None)
    folder.remove("deep/b.md", b"b")
    folder.remove("a.md", b"two")
    assert [*place.iterdir()] == []


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: folder.write("a.md", b"ours", None),
        lambda folder: folder.write("a.md", b"ours", b"other"),
        lambda folder: folder.remove("a.md", b"other"),
    ],
)
def test_what_somebody_changed_meanwhile_stays_as_it_is(
    folder: Folder, place: Path, change: Callable[[Folder], None]
) -> None:
    (place / "a.md").write_bytes(b"theirs")
    inode = (place / "a.md").stat().st_ino
    with pytest.raises(ConflictError, match="changed meanwhile"):
        change(folder)
    assert listed(place) == {"a.md": b"theirs"}
    assert (place / "a.md").stat().st_ino == inode


def test_what_somebody_removed_meanwhile_is_not_brought_back(folder: Folder, place: Path) -> None:
    with pytest.raises(ConflictError):
        folder.write("a.md", b"ours", b"gone")
    with pytest.raises(StoreError):
        folder.remove("a.md", b"gone")
    assert listed(place) == {}


def test_names_trade_places_and_a_new_one_must_be_free(folder: Folder, place: Path) -> None:
    (place / "a").write_bytes(b"a")
    (place / "b").write_bytes(b"b")
    if not exchange(folder.fileno(), "a", "b"):
        pytest.skip("this file system cannot let names trade places")
    assert listed(place) == {"a": b"b", "b": b"a"}
    with pytest.raises(FileExistsError):
        rename_new(folder.fileno(), "a", "b")
    with pytest.raises(FileNotFoundError):
        exchange(folder.fileno(), "a", "none")


def test_what_is_taken_and_not_as_expected_is_put_back(folder: Folder, place: Path) -> None:
    (place / "a.md").write_bytes(b"theirs")
    here = folder.fileno()
    assert not taken(here, "a.md", ".tmp-1", b"other")
    assert listed(place) == {"a.md": b"theirs"}
    assert taken(here, "a.md", ".tmp-1", b"theirs")
    assert listed(place) == {".tmp-1": b"theirs"}
    assert not taken(here, "a.md", ".tmp-2", b"theirs")
    (place / ".tmp-3").write_bytes(b"new")
    assert not replaced(here, ".tmp-3", "a.md", b"theirs")
    assert replaced(here, ".tmp-3", "a.md", None)
    assert os.listdir(place).count("a.md") == 1
