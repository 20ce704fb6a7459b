"""Every rule's own cases, asked of the rule and of the whole law."""

from __future__ import annotations

import pytest

from extractord.policy import RULES, judge
from extractord.policy.requests import VIRTUAL_ROOTS, Law
from extractord.policy.rules import Case, Rule
from extractord.policy.verdict import Allow, Deny, Hold

LAW = Law(roots=VIRTUAL_ROOTS)


def cases(kind: str) -> list[object]:
    return [
        pytest.param(rule, case, id=ascii(f"{rule.name}: {case.shown}")[1:90])
        for rule in RULES
        for case in getattr(rule, kind)
    ]


@pytest.mark.parametrize(("rule", "case"), cases("denies"))
def test_denies(rule: Rule, case: Case) -> None:
    opinion = rule.opinion(case.question())
    assert isinstance(opinion, Deny)
    assert opinion.rule == rule.name
    assert isinstance(judge(case.request, case.facts, LAW), Deny)


@pytest.mark.parametrize(("rule", "case"), cases("holds"))
def test_holds(rule: Rule, case: Case) -> None:
    opinion = rule.opinion(case.question())
    assert isinstance(opinion, Hold)
    assert opinion.rule == rule.name
    assert isinstance(judge(case.request, case.facts, LAW), Hold)


@pytest.mark.parametrize(("rule", "case"), cases("allows"))
def test_still_allows(rule: Rule, case: Case) -> None:
    assert rule.opinion(case.question()) in (None, Allow())
    assert judge(case.request, case.facts, LAW) == Allow()


def test_every_rule_has_a_neighbour_for_each_case_that_it_stops() -> None:
    assert [rule.name for rule in RULES if not rule.allows] == []
    assert [rule.name for rule in RULES if rule.gives is Deny and not rule.denies] == []
    assert [rule.name for rule in RULES if rule.gives is Hold and not rule.holds] == []


def test_rule_names_are_unique() -> None:
    assert len({rule.name for rule in RULES}) == len(RULES)
