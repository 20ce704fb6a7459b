"""How opinions become a verdict, and what the smaller parts say by themselves."""

from __future__ import annotations

import pytest

from extractord import policy
from extractord.policy import Rule, find_secrets, judge, keeps_half, most_removals
from extractord.policy.cases import memory, remove, write
from extractord.policy.characters import script
from extractord.policy.header import Header, body, read_header, split
from extractord.policy.requests import (
    VIRTUAL_ROOTS,
    Facts,
    Law,
    PathFacts,
    Root,
    RootKind,
    RunFacts,
    Trust,
    Write,
)
from extractord.policy.rules import find_place
from extractord.policy.verdict import Allow, Deny, Hold, strictness

LAW = Law(roots=VIRTUAL_ROOTS)
ASKED = write("a.md")


def rule(name: str, *, gives: type[Deny | Hold] = Deny, finds: str | Allow | None = "No") -> Rule:
    return Rule(name, "a threat", "Do otherwise.", lambda _question: finds, gives)


def decide(*rules: Rule) -> Allow | Hold | Deny:
    return judge(ASKED.request, ASKED.facts, LAW, rules)


def test_the_strictest_opinion_wins_whatever_the_order() -> None:
    allows, holds, denies = rule("a", finds=Allow()), rule("h", gives=Hold), rule("d")
    assert decide(allows) == Allow()
    assert decide(holds, allows) == decide(allows, holds) == Hold("h", "No. Do otherwise.")
    assert decide(holds, allows, denies) == decide(denies, holds) == Deny("d", "No. Do otherwise.")


def test_among_equals_the_first_wins() -> None:
    assert decide(rule("first"), rule("second")) == Deny("first", "No. Do otherwise.")
    assert decide(rule("first", gives=Hold), rule("second", gives=Hold)) == Hold("first", "No. Do otherwise.")


def test_no_opinion_at_all_is_deny() -> None:
    assert decide() == decide(rule("silent", finds=None)) == Deny("no-rule", "No rule allows it.")


def test_verdicts_are_ordered_and_have_words() -> None:
    verdicts = (Allow(), Hold("r", "s"), Deny("r", "s"))
    assert [strictness(verdict) for verdict in verdicts] == [0, 1, 2]
    assert [verdict.word for verdict in verdicts] == ["allow", "hold", "deny"]


def test_one_bad_path_of_several_denies_all() -> None:
    case = remove("a.md", "b.md", "CLAUDE.md")
    verdict = judge(case.request, case.facts, LAW)
    assert isinstance(verdict, Deny)
    assert verdict.rule == "instruction-file"


def test_a_path_belongs_to_the_longest_of_its_roots() -> None:
    law = Law(roots=(Root("/m"), Root("/m/inner", RootKind.USER)))
    assert find_place("/m/inner/a.md", law).root == Root("/m/inner", RootKind.USER)
    assert find_place("/m/inner.md", law).root == Root("/m")
    assert find_place("/mm/a.md", law).root is None


def test_a_root_of_no_kind_knows_no_types() -> None:
    request = Write("/m/a.md", memory(type_="user"))
    facts = Facts({"/m/a.md": PathFacts()}, RunFacts(Trust.STATED))
    assert judge(request, facts, Law(roots=(Root("/m"),))) == Allow()


def test_the_package_offers_what_it_names_and_nothing_else() -> None:
    assert all(hasattr(policy, name) for name in policy.__all__)
    with pytest.raises(AttributeError, match="no attribute 'allow_all'"):
        _ = policy.allow_all


@pytest.mark.parametrize(("memories", "most"), [(0, 1), (3, 1), (7, 1), (8, 2), (19, 4), (20, 5), (999, 5)])
def test_a_run_may_remove_a_quarter_and_at_most_five(memories: int, most: int) -> None:
    assert most_removals(memories) == most


def test_half_of_a_body_is_counted_in_words_and_in_characters_without_spaces() -> None:
    assert keeps_half(memory("one two three four"), memory("one two"))
    assert not keeps_half(memory("one two three four"), memory("one"))
    assert keeps_half(memory("\u65e5\u672c\u8a9e\u3067"), memory("\u65e5\u672c"))
    assert not keeps_half(memory("\u65e5\u672c\u8a9e\u3067"), memory("\u65e5"))
    assert keeps_half(memory(""), memory("new"))
    assert not keeps_half("one two three four", "four more of them")


def test_the_front_matter_is_what_every_reader_sees() -> None:
    assert split("---\na: 1\n---\nbody\n") == ("a: 1\n", "body\n")
    assert split("---\r\na: 1\r\n---\r\nbody\n") == ("a: 1\r\n", "body\n")
    assert split("a: 1\n---\nbody\n") is None
    assert split("---\na: 1\n") is None
    assert split("---\na: 1\n--- \n---\nbody\n") is None
    assert body("no front matter") == "no front matter"


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("name: 12\ndescription: yes\ntype: user\n", Header("12", "True", "user")),
        ("name: a\nmetadata: x\ntype: user\n", Header("a", "", "user")),
        ("name: [a]\nmetadata:\n  type: user\n", Header("", "", "user")),
        ("name: a\nmetadata:\n  type: user\ntype: project\n", "The front matter has two types"),
        ("- a\n", "The front matter is no mapping"),
        ("", "The front matter is no mapping"),
        ("? [a]\n: b\n", "The front matter has a key that is no plain word"),
        ("a: 1\nb: {a: 1, a: 2}\n", "The front matter has one key twice"),
        ("a: [1, {a: 1}, {a: 2}]\n", Header()),
        ("a: 'b\n", "The front matter is no valid YAML at its line 2"),
        ("a: \udc80\n", "The front matter is no valid YAML"),
        ("a: 0x_\n", "The front matter is no valid YAML"),
    ],
)
def test_a_header_is_read_or_its_fault_named(raw: str, expected: Header | str) -> None:
    assert read_header(raw) == expected


def test_scripts_are_told_by_names() -> None:
    assert [script(char) for char in "a\u0430\u65e5\u3042\u30a2\ud55c1\u0301\u02bc"] == [
        *["LATIN", "CYRILLIC", "CJK", "CJK", "CJK", "CJK"],
        *[None, None, None],
    ]
    assert script("\U00010300") == "OLD ITALIC"
    assert script("\u0661") == script("\u06f1") == script("\u0627") == "ARABIC"
    assert script("\ue000") == "UNNAMED"


def test_a_letter_that_is_two_in_lower_case_moves_no_offset() -> None:
    text = "\u0130\u0130 password = Tr0ub4dor"
    (hit,) = find_secrets(text)
    assert text[hit.start : hit.end] == "Tr0ub4dor"
