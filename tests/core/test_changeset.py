import hashlib
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extractord.core.changeset import ChangeSet
from extractord.core.records import Change, Evidence
from extractord.errors import StoreError
from extractord.policy.requests import Found, PathFacts, RootKind

USER, PROJECT = RootKind.USER, RootKind.PROJECT
OLD = b"---\nname: tabs\nmetadata:\n  type: user\n  trust: stated\n---\nTabs, never spaces.\n"
UNSTAMPED = "---\nname: tabs\nmetadata:\n  type: user\n---\nTabs, never spaces.\n"
BASE = hashlib.sha256(OLD).hexdigest()
SAID = Evidence(entry="e1", quote="tabs, never spaces")
AGAIN = Evidence(entry="e2", quote="still tabs please")


class DictView:
    def __init__(self, files: Mapping[tuple[RootKind, str], bytes]) -> None:
        self.files = dict(files)
        self.others: dict[tuple[RootKind, str], PathFacts] = {}

    def names(self, root: RootKind) -> tuple[str, ...]:
        return tuple(sorted(path for where, path in self.files if where is root))

    def read(self, root: RootKind, path: str) -> bytes:
        return self.files[root, path]

    def facts(self, root: RootKind, path: str) -> PathFacts:
        raw = self.files.get((root, path))
        return (
            self.others.get((root, path), PathFacts())
            if raw is None
            else PathFacts(found=Found.FILE, size=len(raw))
        )


def changes_of(files: Mapping[tuple[RootKind, str], bytes]) -> ChangeSet:
    return ChangeSet(DictView(files))


def test_a_memory_is_read_without_our_stamps_and_nothing_is_a_change() -> None:
    changes = changes_of({(USER, "tabs.md"): OLD})
    assert changes.read(USER, "tabs.md") == UNSTAMPED
    assert changes.read(PROJECT, "tabs.md") is None
    assert changes.changes() == ()


def test_an_edit_is_laid_over_the_view_and_keeps_its_base_and_evidence() -> None:
    changes = changes_of({(USER, "tabs.md"): OLD})
    assert changes.edit(USER, "tabs.md", "never", "not", [SAID]) == 1
    assert changes.edit(USER, "tabs.md", "Tabs", "TABS", [SAID, AGAIN]) == 1
    text = UNSTAMPED.replace("Tabs, never", "TABS, not")
    assert changes.read(USER, "tabs.md") == text
    assert changes.changes() == (
        Change(root=USER, path="tabs.md", text=text, base=BASE, evidence=(SAID, AGAIN)),
    )


@pytest.mark.parametrize(("old", "matches"), [("absent", 0), ("", 0), ("s", 5), ("\n-", 1)])
def test_an_edit_is_made_where_its_text_stands_once(old: str, matches: int) -> None:
    changes = changes_of({(USER, "tabs.md"): OLD})
    assert changes.edit(USER, "tabs.md", old, old + "!") == matches
    assert len(changes.changes()) == (matches == 1)


def test_overlapping_places_are_counted() -> None:
    changes = changes_of({(USER, "a.md"): b"aaa"})
    assert changes.edit(USER, "a.md", "aa", "b") == 2
    assert changes.changes() == ()


def test_forged_stamps_never_come_in() -> None:
    changes = changes_of({})
    changes.write(USER, "a.md", OLD.decode().replace("stated", "confirmed"))
    assert changes.read(USER, "a.md") == UNSTAMPED
    changes.edit(USER, "a.md", "  type: user\n", "  type: user\n  run: forged\n")
    assert changes.read(USER, "a.md") == UNSTAMPED


def test_what_is_created_and_removed_vanishes_and_what_is_put_back_is_no_change() -> None:
    changes = changes_of({(USER, "tabs.md"): OLD})
    changes.write(PROJECT, "new.md", "words")
    changes.remove(PROJECT, "new.md")
    changes.remove(USER, "tabs.md", [SAID])
    assert changes.changes() == (Change(root=USER, path="tabs.md", text=None, base=BASE, evidence=(SAID,)),)
    changes.write(USER, "tabs.md", UNSTAMPED)
    assert changes.changes() == ()


def test_names_and_facts_are_those_that_the_run_left() -> None:
    changes = changes_of({(USER, "tabs.md"): OLD, (USER, "MEMORY.md"): b"x", (USER, "b.md"): b"b"})
    changes.write(USER, "a/new.md", "né")
    changes.remove(USER, "tabs.md")
    assert changes.names(USER) == ("a/new.md", "b.md")
    assert changes.facts(USER, "a/new.md") == PathFacts(found=Found.FILE, size=3, text="né")
    assert changes.facts(USER, "tabs.md") == PathFacts()
    assert changes.facts(USER, "b.md") == PathFacts(found=Found.FILE, size=1, text="b")
    assert changes.memories() == {USER: 2, PROJECT: 0}


def test_removals_and_halving_rewrites_are_counted_by_root_with_the_trial() -> None:
    files = {(USER, f"{n}.md"): b"---\nname: a\n---\none two three four\n" for n in range(3)}
    changes = changes_of(files)
    changes.remove(USER, "0.md")
    changes.write(USER, "1.md", "---\nname: a\n---\nthree four and more\n")
    assert changes.removals() == {USER: 1, PROJECT: 0}
    trial = [(USER, "2.md", "---\nname: one two three four\n---\nfour\n"), (PROJECT, "x.md", None)]
    assert changes.removals(trial) == {USER: 2, PROJECT: 0}
    assert changes.removals() == {USER: 1, PROJECT: 0}


def test_what_is_not_utf8_is_an_error_that_names_the_file_and_never_empty() -> None:
    changes = changes_of({(USER, "bad.md"): b"a\xff"})
    with pytest.raises(StoreError, match=r"^bad\.md: byte 1 is not UTF-8; the file is left as it is$"):
        changes.read(USER, "bad.md")


def test_a_name_that_is_anothers_twin_in_the_same_run_is_seen() -> None:
    changes = changes_of({(USER, "b.md"): b"b"})
    changes.write(USER, "Ops/a.md", "words")
    changes.write(PROJECT, "ops/a.md", "words")
    assert changes.names(USER) == ("Ops/a.md", "b.md")
    assert changes.facts(USER, "ops/b.md").twin == "Ops/a.md"
    assert changes.facts(USER, "Ops/b.md").twin is None
    assert changes.facts(USER, "Other/a.md").twin is None


def test_what_is_no_file_is_seen_as_the_view_sees_it() -> None:
    view = DictView({})
    folder = PathFacts(found=Found.DIRECTORY)
    view.others[USER, "sub"] = folder
    twin = PathFacts(twin="A.md")
    view.others[USER, "a.md"] = twin
    changes = ChangeSet(view)
    assert changes.facts(USER, "sub") == folder
    assert changes.facts(USER, "a.md") == twin


_paths = st.sampled_from(["a.md", "b.md", "c/d.md"])
_steps = st.tuples(st.sampled_from(RootKind), _paths, st.one_of(st.none(), st.text("ab", max_size=3)))


@given(st.dictionaries(_paths, st.text("ab", max_size=3)), st.lists(_steps, max_size=8))
@settings(max_examples=150)
def test_the_changes_laid_over_the_base_give_what_is_read(
    before: dict[str, str], steps: list[tuple[RootKind, str, str | None]]
) -> None:
    files = {(USER, path): text.encode() for path, text in before.items()}
    changes = changes_of(files)
    want: dict[tuple[RootKind, str], str] = {(USER, path): text for path, text in before.items()}
    for root, path, text in steps:
        if text is None:
            changes.remove(root, path)
            want.pop((root, path), None)
        else:
            changes.write(root, path, text)
            want[root, path] = text
    got = {place: raw.decode() for place, raw in files.items()}
    for change in changes.changes():
        there = files.get((change.root, change.path))
        assert change.base == (None if there is None else hashlib.sha256(there).hexdigest())
        if change.text is None:
            del got[change.root, change.path]
        else:
            assert got.get((change.root, change.path)) != change.text
            got[change.root, change.path] = change.text
    assert got == want
