"""A person is told why something waits, and nothing of what a model should do about it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from storing import said

from extractord.cli.reasons import why, why_withheld
from extractord.core.records import Change, Evidence, Origin
from extractord.core.trust import assess
from extractord.policy import RULES
from extractord.policy.cases import during, memory, write
from extractord.policy.requests import RootKind, Trust
from extractord.policy.rules import Rule
from extractord.policy.verdict import Hold

_FOR_A_MODEL = re.compile(
    r"A person will|[Cc]ite |: (?:quote|leave|keep|copy|give) |\be1\b|trust\b", re.ASCII
)


def _held() -> Iterator[tuple[Rule, Hold]]:
    for rule in RULES:
        for case in rule.holds:
            opinion = rule.opinion(case.question())
            assert isinstance(opinion, Hold)
            yield rule, opinion


@pytest.mark.parametrize(("rule", "held"), list(_held()))
def test_no_rule_that_holds_gives_a_person_advice_for_a_model(rule: Rule, held: Hold) -> None:
    told = why(rule.name, held.reason)
    assert not _FOR_A_MODEL.search(told)
    assert told.endswith(".")
    assert not told.endswith("..")
    assert why_withheld(f"{rule.name}: {held.reason}").startswith("It is on the disk, but no agent ")


def _of(trust: Trust, origin: Origin, quote: str | None, text: str) -> str:
    """What a person is told of a change that rests on a quote of the one entry that there is."""
    evidence = () if quote is None else (Evidence(entry="e1", quote=quote),)
    change = Change(root=RootKind.PROJECT, path="a.md", text=text, base=None, evidence=evidence)
    found = assess(change, [said("e1", "We deploy on Tuesdays only", origin=origin)])
    assert found.trust is trust
    case = during(write("a.md", memory(type_="user")), "", found.trust, reason=found.reason)
    rule = next(
        rule for rule in RULES if rule.name == ("untrusted" if trust is Trust.UNTRUSTED else "unstated")
    )
    opinion = rule.opinion(case.question())
    assert isinstance(opinion, Hold)
    return why(rule.name, opinion.reason)


def test_what_was_found_of_the_evidence_is_told_without_labels_and_advice() -> None:
    nothing, unsaid = (
        "Nothing shows that you or the agent said this",
        "It is about you or what you want, and nothing shows that you typed it",
    )
    tuesdays = memory("We deploy on Tuesdays only.")
    other = memory("We deploy on Tuesdays only, with `npm-ci`.")
    words = "We deploy on Tuesdays only"
    assert [
        _of(Trust.UNTRUSTED, Origin.SYNTHETIC, words, tuesdays),
        _of(Trust.UNTRUSTED, Origin.HUMAN, None, tuesdays),
        _of(Trust.UNTRUSTED, Origin.HUMAN, "We deploy on Fridays only", tuesdays),
        _of(Trust.UNTRUSTED, Origin.HUMAN, "We deploy", tuesdays),
        _of(Trust.UNTRUSTED, Origin.HUMAN, words, other),
        _of(Trust.INFERRED, Origin.HEADLESS, words, tuesdays),
    ] == [
        f"{nothing}: its quote is a tool's, a page's or a paste's.",
        f"{nothing}: no evidence was given.",
        f"{nothing}: its quote does not stand there word for word.",
        f"{nothing}: its quote is too short.",
        f"{nothing}: `npm-ci` occurs nowhere in the session.",
        f"{unsaid}: its quote is the agent's or a program's.",
    ]


def test_what_waits_for_another_reason_says_which() -> None:
    assert why("", "") == "It waits with what it belongs to: accepted or rejected as one."
    assert (
        why("ask", "Every change waits for a person's review.") == "Every change waits for a person's review."
    )
    assert (
        why(
            "duplicate", "/memory/user/a.md is nearly equal. A person will look at it; edit that one instead."
        )
        == "/memory/user/a.md is nearly equal."
    )
