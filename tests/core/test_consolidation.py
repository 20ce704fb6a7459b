from datetime import UTC, date, datetime

import pytest
from msgspec.structs import replace

from extractord.core.consolidation import Kept, fitting, rendered, says_all, session_of, shown, suspects
from extractord.core.records import Origin, Role
from extractord.core.survey import survey
from extractord.policy.requests import RootKind, Trust

TODAY = date(2026, 11, 30)
WORDS = "We deploy on Tuesdays, since the warehouse counts stock on Mondays"


def kept(
    name: str,
    words: str,
    *,
    root: RootKind = RootKind.USER,
    trust: Trust = Trust.STATED,
    pinned: bool = False,
) -> Kept:
    text = f"---\nname: {name}\ndescription: {words}\nmetadata:\n  type: user\n---\n{words}\n"
    row = replace(survey(f"{name}.md", text.encode(), 1), trust=trust, pinned=pinned)
    return Kept(root=root, row=row, text=text, said_at=datetime(2026, 11, 1, tzinfo=UTC))


def looked_at(*memories: Kept) -> list[str]:
    return [one.row.name for one in suspects(memories, TODAY)]


def test_memories_that_may_say_the_same_or_contradict_are_looked_at_and_others_are_not() -> None:
    assert looked_at(kept("a", WORDS), kept("b", "We deploy on Tuesdays"), kept("c", "Tabs, not spaces")) == [
        "a",
        "b",
    ]
    assert looked_at(kept("a", "Releases go out on Thursdays"), kept("b", "Releases go out on Fridays")) == [
        "a",
        "b",
    ]
    assert looked_at(kept("a", "仓库在周一盘点库存"), kept("b", "仓库在周二盘点库存")) == ["a", "b"]
    assert looked_at(kept("a", "Tabs, not spaces"), kept("b", "Short answers without a summary")) == []
    assert looked_at() == []


def test_memories_of_two_roots_and_pinned_ones_are_left_alone() -> None:
    assert looked_at(kept("a", WORDS), kept("b", WORDS, root=RootKind.PROJECT)) == []
    assert looked_at(kept("a", WORDS), kept("b", WORDS, pinned=True)) == []


@pytest.mark.parametrize(
    ("words", "ended"),
    [
        ("The code freeze lasts until 2026-11-20", True),
        ("The code freeze lasts until 2027-01-20", False),
        ("The freeze expires 20 November 2026 and not by 2027-02-01", False),
        ("We moved to Postgres on 2026-11-20", False),
        ("Deploys wait until Tuesday", False),
    ],
)
def test_what_names_an_end_that_is_past_has_run_out(words: str, ended: bool) -> None:
    assert looked_at(kept("a", words)) == (["a"] if ended else [])


def test_one_that_has_every_word_and_number_of_another_says_all_of_it() -> None:
    assert says_all(WORDS, "We deploy on Tuesdays")
    assert not says_all("We deploy on Tuesdays", WORDS)
    assert not says_all("We keep 3 backups of the disk", "We keep 5 backups of the disk")
    assert not says_all("anything", "the of and")


def test_the_session_is_the_same_for_the_same_bytes_and_mode() -> None:
    one, other = kept("a", WORDS), kept("b", "We deploy on Tuesdays")
    assert session_of([one, other], "ask") == session_of([other, one], "ask")
    assert session_of([one], "ask") != session_of([one, other], "ask")
    assert session_of([one], "ask") != session_of([one], "auto")


def test_what_a_memory_says_is_as_good_as_the_memory_and_no_better() -> None:
    memories = [
        kept("a", WORDS),
        kept("b", "We deploy", trust=Trust.INFERRED),
        kept("c", "x", trust=Trust.CONFIRMED),
        kept("d", "x", trust=Trust.UNTRUSTED),
    ]
    entries = shown(memories)
    assert [(one.label, one.entry.role, one.entry.origin) for one in entries] == [
        ("e1", Role.USER, Origin.HUMAN),
        ("e2", Role.ASSISTANT, Origin.SYNTHETIC),
        ("e3", Role.USER, Origin.HUMAN),
        ("e4", Role.TOOL, Origin.SYNTHETIC),
    ]
    assert (
        rendered(memories[:1], entries[:1]) == f"[e1 /memory/user/a.md stated 2026-11-01]\n{WORDS}\n\n{WORDS}"
    )


def test_a_brief_takes_what_fits_and_never_less_than_a_pair() -> None:
    memories = [kept(f"m{number}", f"{WORDS} {number}") for number in range(50)]
    assert 2 < len(fitting(memories, 1_000)) < 50
    assert fitting(memories, 0) == tuple(memories[:2])
    assert fitting(memories, 100_000) == tuple(memories)
