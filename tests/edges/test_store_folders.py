"""One contract for every folder: the dictionary and the disk."""

from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest
from doubles import DictFolder
from storing import PROJECT, SHOP_ROOT, House, fact, said

from extractord.core.ports import Folder
from extractord.core.records import Evidence, Outcome
from extractord.edges import folder as disk
from extractord.errors import StoreError
from extractord.policy.requests import Found


@pytest.fixture(params=["dictionary", "disk"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Folder]:
    if request.param == "dictionary":
        yield DictFolder()
        return
    tmp_path.chmod(0o700)
    opened = disk.Folder.create(tmp_path / "root", tmp_path)
    yield opened
    opened.close()


def test_what_is_written_is_read_listed_and_seen(folder: Folder) -> None:
    folder.write("b.md", b"one")
    folder.write("a/deep/c.md", "zwölf".encode())
    assert folder.names() == ("a/deep/c.md", "b.md")
    assert folder.read("a/deep/c.md", 100) == "zwölf".encode()
    assert (folder.facts("b.md").found, folder.facts("b.md").size) == (Found.FILE, 3)
    assert folder.facts("a/deep").found is Found.DIRECTORY
    assert folder.facts("none.md").found is Found.NOTHING
    assert folder.stat("none.md") is None


def test_stats_are_those_of_each_file_and_change_with_it(folder: Folder) -> None:
    folder.write("b.md", b"one")
    folder.write("a/c.md", b"three")
    before = folder.stats()
    assert list(before.items()) == [(path, folder.stat(path)) for path in folder.names()]
    folder.write("b.md", b"two")
    after = folder.stats()
    assert after["a/c.md"] == before["a/c.md"]
    assert after["b.md"] != before["b.md"]


def test_a_file_is_replaced_and_removed_with_the_folders_that_it_leaves_empty(folder: Folder) -> None:
    folder.write("a/c.md", b"one")
    folder.write("a/c.md", b"")
    assert folder.read("a/c.md", 0) == b""
    folder.remove("a/c.md")
    assert folder.names() == ()
    assert folder.facts("a").found is Found.NOTHING
    folder.sweep()


def test_a_twin_is_seen_and_another_name_is_none(folder: Folder) -> None:
    folder.write("Deploys.md", b"one")
    assert folder.facts("deploys.md").twin is not None
    assert folder.facts("Deploys.md").twin is None
    assert folder.facts("tabs.md").twin is None


def test_what_is_not_there_or_too_long_is_an_error_that_names_the_file(folder: Folder) -> None:
    folder.write("long.md", b"12345")
    assert folder.read("long.md", 5) == b"12345"
    with pytest.raises(StoreError, match=r"long\.md"):
        folder.read("long.md", 4)
    with pytest.raises(StoreError, match=r"none\.md"):
        folder.read("none.md", 4)
    with pytest.raises(StoreError, match=r"none\.md"):
        folder.remove("none.md")


class Killed(BaseException):
    """The process is no more."""


class Cut:
    """A folder of the disk, whose n-th mutating call is the process's last."""

    def __init__(self, whole: disk.Folder, call: int, *, after: bool) -> None:
        self.whole = whole
        self.left = call
        self.after = after

    def __getattr__(self, name: str) -> object:
        return getattr(self.whole, name)

    def write(self, path: str, data: bytes, over: bytes | None = None, token: str = "") -> None:
        self._cut(lambda: self.whole.write(path, data, over, token))

    def remove(self, path: str, over: bytes, token: str = "") -> None:
        self._cut(lambda: self.whole.remove(path, over, token))

    def _cut(self, change: object) -> None:
        self.left -= 1
        assert callable(change)
        if self.left != 0 or self.after:
            change()
        if self.left == 0:
            raise Killed


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("call", range(1, 5))
def test_a_process_killed_at_any_change_to_the_disk_leaves_it_as_it_was(
    tmp_path: Path, call: int, *, after: bool
) -> None:
    tmp_path.chmod(0o700)
    (tmp_path / "projects").mkdir(mode=0o700)
    house = House(tmp_path)
    whole = disk.Folder.create(tmp_path / SHOP_ROOT, tmp_path)
    house.opened[SHOP_ROOT] = whole
    house.reopen()
    words = "The port is nine thousand and tabs are gone"
    kept = {
        "port.md": fact("port", "The port is eight thousand").encode(),
        "tabs.md": fact("tabs", "tabs are used").encode(),
    }
    for path, raw in kept.items():
        shown = said("e1", raw.decode().splitlines()[-1])
        change = house.change(PROJECT, path, raw.decode(), Evidence(entry="e1", quote=shown.text))
        assert house.commit([change], shown).outcome is Outcome.SAVED
    place = tmp_path / SHOP_ROOT
    before = {path.name: path.read_bytes() for path in place.iterdir()}
    bases = {path: before[path] for path in kept}
    house.project.files = dict(bases)
    cited = Evidence(entry="e9", quote=words)
    changes = [
        house.change(PROJECT, "port.md", fact("port", "The port is nine thousand"), cited),
        house.change(PROJECT, "new/port.md", fact("number", "The port is nine thousand"), cited),
        house.change(PROJECT, "tabs.md", None, cited),
    ]
    context = house.context(said("e9", words))
    cut = Cut(whole, call, after=after)
    house.opened[SHOP_ROOT] = cast("Folder", cut)
    house.reopen()
    with pytest.raises(Killed):
        house.store.commit(changes, context)
    house.opened[SHOP_ROOT] = whole
    assert house.reopen().recover() == 1
    assert {path.name: path.read_bytes() for path in place.iterdir()} == before
    assert house.store.commit(changes, context).outcome is Outcome.SAVED
    assert {str(path.relative_to(place)) for path in place.rglob("*.md")} == {
        "MEMORY.md",
        "port.md",
        "new/port.md",
    }
    whole.close()
