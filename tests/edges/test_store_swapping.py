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


class Racing:
    """Somebody who acts between two steps of a swap: where the bytes are looked at once out of reach."""

    def __init__(self, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.acts: list[Callable[[], None]] = []
        opened = os.open

        def open_(path: object, *rest: object, **more: object) -> int:
            if str(path).startswith(".tmp-") and more.get("dir_fd") is not None and self.acts:
                self.acts.pop(0)()
            return opened(path, *rest, **more)  # type: ignore[arg-type]

        monkeypatch.setattr(os, "open", open_)
        self.place = place

    def puts(self, text: bytes) -> Callable[[], None]:
        """Another file takes the name, as editors do."""

        def act() -> None:
            (self.place / "new").write_bytes(text)
            (self.place / "new").replace(self.place / "a.md")

        return act


def nothing() -> None:
    """Nobody does anything."""


def fails() -> None:
    raise OSError(5, "Input/output error")


@pytest.fixture
def racing(place: Path, folder: Folder, monkeypatch: pytest.MonkeyPatch) -> Racing:
    (place / "a.md").write_bytes(b"theirs")
    (place / ".tmp-1").write_bytes(b"ours")
    if not exchange(folder.fileno(), "a.md", ".tmp-1"):
        pytest.skip("this file system cannot let names trade places")
    exchange(folder.fileno(), "a.md", ".tmp-1")
    return Racing(place, monkeypatch)


def test_what_cannot_be_looked_at_goes_back(folder: Folder, place: Path, racing: Racing) -> None:
    racing.acts = [nothing, fails]
    with pytest.raises(OSError, match="Input/output"):
        replaced(folder.fileno(), ".tmp-1", "a.md", b"other")
    assert listed(place) == {"a.md": b"theirs", ".tmp-1": b"ours"}
    racing.acts = [fails]
    with pytest.raises(OSError, match="Input/output"):
        taken(folder.fileno(), "a.md", ".tmp-2", b"other")
    assert listed(place) == {"a.md": b"theirs", ".tmp-1": b"ours"}


def test_what_was_written_anew_meanwhile_stays_and_what_it_displaced_is_named(
    folder: Folder, place: Path, racing: Racing
) -> None:
    racing.acts = [nothing, racing.puts(b"newest")]
    with pytest.raises(StoreError, match=r"kept beside it as a\.md\.displaced-") as raised:
        replaced(folder.fileno(), ".tmp-1", "a.md", b"other")
    kept = str(raised.value).rpartition(" ")[2]
    assert listed(place) == {"a.md": b"newest", kept: b"theirs"}
    (place / kept).unlink()
    racing.acts = [racing.puts(b"even newer")]
    with pytest.raises(StoreError, match="kept beside it") as raised:
        taken(folder.fileno(), "a.md", ".tmp-2", b"other")
    kept = str(raised.value).rpartition(" ")[2]
    assert listed(place) == {"a.md": b"even newer", kept: b"newest"}
    folder.sweep()
    assert folder.names() == ("a.md",)
    assert (place / kept).exists()


def test_what_was_removed_meanwhile_is_there_again_with_its_last_words(
    folder: Folder, place: Path, racing: Racing
) -> None:
    racing.acts = [nothing, (place / "a.md").unlink]
    assert not replaced(folder.fileno(), ".tmp-1", "a.md", b"other")
    assert listed(place) == {"a.md": b"theirs"}


def test_what_a_change_that_was_cut_short_displaced_is_found_by_its_token_and_kept(
    folder: Folder, place: Path
) -> None:
    folder.write("deep/a.md", b"ours")
    (place / "deep/.tmp-17").write_bytes(b"theirs")
    (place / "deep/.tmp-18").write_bytes(b"half of ou")
    assert folder.displaced("deep/a.md", "17") == b"theirs"
    assert folder.displaced("deep/a.md", "19") is None
    assert folder.displaced("gone/a.md", "17") is None
    folder.sweep({"17"})
    assert listed(place) == {"a.md": b"ours", ".tmp-17": b"theirs"}
    folder.sweep()
    assert listed(place) == {"a.md": b"ours"}


def test_folders_that_are_empty_go_and_others_stay(folder: Folder, place: Path) -> None:
    folder.write("a/kept.md", b"kept")
    (place / "a/b/c").mkdir(parents=True)
    folder.prune("a/b/c/d.md")
    assert sorted(str(path.relative_to(place)) for path in place.rglob("*")) == ["a", "a/kept.md"]
    folder.prune("none/d.md")
