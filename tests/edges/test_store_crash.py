from pathlib import Path
from typing import cast

import pytest
from doubles import DictFolder
from storing import NAMES, PROJECT, SHOP_ROOT, USER, House, fact, said

from extractord.core.digesting import digest
from extractord.core.index import Listed, derive
from extractord.core.ports import Folder
from extractord.core.records import Change, Evidence, Outcome
from extractord.errors import StoreError
from extractord.policy.requests import RootKind

WORDS = "Service number 1 is gone, number 2 listens on port 9000 and I prefer tabs"
CITED = Evidence(entry="e9", quote=WORDS)


class Killed(BaseException):
    """The process is no more."""


class Intruder:
    """A folder into which somebody writes between the look and the write that goes back."""

    def __init__(self, folder: DictFolder, path: str, raw: bytes) -> None:
        self._folder = folder
        self._path = path
        self._raw = raw

    def __getattr__(self, name: str) -> object:
        if name == "write" and self._raw:
            self._folder.put(self._path, self._raw)
            self._raw = b""
        return getattr(self._folder, name)


def furnished(tmp_path: Path) -> House:
    house = House(tmp_path)
    house.project.put("MEMORY.md", b"# Mine\r\n* [The first](one.md) in my words")
    for number in range(1, 5):
        house.keep(PROJECT, f"{NAMES[number]}.md", f"Service number {number} listens on port 800{number}")
    return house


def changes_of(house: House) -> list[Change]:
    return [
        house.change(PROJECT, "one.md", None, CITED),
        house.change(PROJECT, "two.md", fact("two", "Service number 2 listens on port 9000"), CITED),
        house.change(PROJECT, "deep/new.md", fact("new", "number 2 listens on port 9000"), CITED),
        house.change(USER, "tabs.md", fact("tabs", "I prefer tabs", "user"), CITED),
    ]


def test_the_index_as_people_keep_it_is_kept(tmp_path: Path) -> None:
    house = furnished(tmp_path)
    assert house.project.files["MEMORY.md"].decode() == (
        "# Mine\r\n* [The first](one.md) in my words\r\n"
        "- [two](two.md) — Service number 2 listens on port 8002\r\n"
        "- [three](three.md) — Service number 3 listens on port 8003\r\n"
        "- [four](four.md) — Service number 4 listens on port 8004"
    )


def breakpoints() -> list[tuple[str, int]]:
    return [("user", call) for call in range(1, 3)] + [("project", call) for call in range(1, 5)]


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize(("root", "call"), breakpoints())
@pytest.mark.parametrize("fault", [Killed, StoreError])
def test_a_cut_anywhere_leaves_each_root_as_it_was_or_as_it_was_to_be(
    tmp_path: Path, root: str, call: int, fault: type[BaseException], after: bool
) -> None:
    house = furnished(tmp_path)
    before = house.files()
    context = house.context(said("e9", WORDS))
    folder: DictFolder = house.user if root == "user" else house.project
    folder.break_at(call, fault("cut"), after=after)
    with pytest.raises(fault):
        house.store.commit(changes_of(house), context)
    assert house.reopen().recover() == (fault is Killed)
    assert house.files() == before
    assert house.ledger.ranges.holds(context.run, context.owner)
    assert house.ledger.versions.made_by(context.run) == ()
    assert house.store.commit(changes_of(house), context).outcome is Outcome.SAVED
    assert set(house.project.files) == {"MEMORY.md", "deep/new.md", "two.md", "three.md", "four.md"}
    assert set(house.user.files) == {"MEMORY.md", "tabs.md"}
    for one in house.folders.values():
        assert one.temporary == []
    for root_name in house.folders:
        check_index(house, root_name)
    assert house.ledger.versions.open_intents() == ()


def check_index(house: House, root: str) -> None:
    rows = [Listed(path=row.path, title=row.title, hook=row.description) for row in house.store.survey(root)]
    index = house.folders[root].files["MEMORY.md"].decode()
    assert derive(index, rows) == index


def test_what_a_person_wrote_after_the_crash_stays(tmp_path: Path) -> None:
    house = furnished(tmp_path)
    before = house.files()
    context = house.context(said("e9", WORDS))
    house.project.break_at(3, Killed(), after=True)
    with pytest.raises(Killed):
        house.store.commit(changes_of(house), context)
    house.project.put("two.md", b"a person was here")
    assert house.reopen().recover() == 1
    assert house.project.files["two.md"] == b"a person was here"
    rest = {path: raw for path, raw in house.project.files.items() if path != "two.md"}
    assert rest == {
        path: raw for path, raw in before[f"projects/{context.project.slug}"].items() if path != "two.md"
    }


def test_recovery_itself_may_be_cut_short(tmp_path: Path) -> None:
    house = furnished(tmp_path)
    before = house.files()
    context = house.context(said("e9", WORDS))
    house.project.break_at(4, Killed(), after=True)
    with pytest.raises(Killed):
        house.store.commit(changes_of(house), context)
    house.project.break_at(1, Killed(), after=False)
    with pytest.raises(Killed):
        house.reopen().recover()
    assert house.reopen().recover() == 1
    assert house.files() == before
    assert house.project.temporary == []


@pytest.mark.parametrize("root", list(RootKind))
def test_a_root_that_is_full_fails_the_run_and_keeps_the_claim(tmp_path: Path, root: RootKind) -> None:
    house = furnished(tmp_path)
    before = house.files()
    context = house.context(said("e9", WORDS))
    (house.user if root is USER else house.project).break_at(1, StoreError("disk full"), after=False)
    with pytest.raises(StoreError, match="disk full"):
        house.store.commit(changes_of(house), context)
    assert house.files() == before
    assert house.ledger.ranges.holds(context.run, context.owner)


class Barred(dict[str, Folder]):
    """Folders of which one cannot be used, as long as it is barred."""

    barred = ""

    def __getitem__(self, root: str) -> Folder:
        if root == self.barred:
            raise StoreError(f"{root}: others may write in it")
        return super().__getitem__(root)


def test_a_root_that_cannot_be_used_is_put_right_when_it_can_and_stops_no_other(tmp_path: Path) -> None:
    house = furnished(tmp_path)
    before = house.files()
    context = house.context(said("e9", WORDS))
    house.project.break_at(1, Killed(), after=True)
    with pytest.raises(Killed):
        house.store.commit(changes_of(house), context)
    assert house.project.files != before[SHOP_ROOT]
    house.opened = barred = Barred(house.opened)
    barred.barred = SHOP_ROOT
    assert house.reopen().recover() == 0
    assert house.files()["user"] == before["user"]
    assert house.store.notice(["user"]) == ()
    with pytest.raises(StoreError, match="others may write in it"):
        house.store.notice([SHOP_ROOT])
    barred.barred = ""
    assert house.store.recover() == 1
    assert house.files() == before


@pytest.mark.parametrize(("root", "call"), breakpoints())
def test_what_a_person_wrote_in_the_moment_of_the_crash_goes_back(
    tmp_path: Path, root: str, call: int
) -> None:
    root = SHOP_ROOT if root == "project" else root
    house = furnished(tmp_path)
    house.keep(USER, "tabs.md", "I prefer spaces", "user")
    before = house.files()
    changes, context = changes_of(house), house.context(said("e9", WORDS))
    folder, edit = house.folders[root], b"* a person was here"
    folder.break_at(call, Killed(), after=True, edit=edit)
    with pytest.raises(Killed):
        house.store.commit(changes, context)
    house.reopen().recover()
    expected = {name: dict(files) for name, files in before.items()}
    expected[root].update(dict.fromkeys(folder.edited, edit))
    assert house.files() == expected
    assert folder.hidden == {}


def test_where_somebody_wrote_anew_since_the_crash_the_displaced_edit_is_in_the_history(
    tmp_path: Path,
) -> None:
    house = furnished(tmp_path)
    context, edit, newer = house.context(said("e9", WORDS)), b"a person was here", b"and here again"
    house.project.break_at(1, Killed(), after=True, edit=edit)
    with pytest.raises(Killed):
        house.store.commit(changes_of(house), context)
    (path,) = house.project.edited
    intruder = Intruder(house.project, path, newer)
    house.opened[SHOP_ROOT] = cast("Folder", intruder)
    house.reopen().recover()
    house.store.notice([SHOP_ROOT])
    assert house.project.files[path] == newer
    known = [version.sha256 for version in house.ledger.versions.history(SHOP_ROOT, path)]
    assert known[-2:] == [digest(edit), digest(newer)]
    assert house.ledger.versions.content(digest(edit)) == edit
