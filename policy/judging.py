"""The judgement: every rule is asked, the strictest opinion wins, and none at all is Deny."""

from __future__ import annotations

from extractord.policy.conduct import CONDUCT_RULES
from extractord.policy.content import CONTENT_RULES
from extractord.policy.ground import GROUND_RULES
from extractord.policy.links import LINK_RULES
from extractord.policy.paths import PATH_RULES
from extractord.policy.removals import REMOVAL_RULES
from extractord.policy.requests import Facts, Law, Request
from extractord.policy.rules import Rule, take_apart
from extractord.policy.verdict import Deny, Verdict, strictness
from extractord.policy.wording import WORDING_RULES

PLACE_RULES = PATH_RULES + GROUND_RULES
"""What is asked of a path and of what stands there, whatever is to be written."""

TEXT_RULES = CONTENT_RULES + LINK_RULES + WORDING_RULES
"""What is asked of a whole text."""

RULES = PLACE_RULES + TEXT_RULES + CONDUCT_RULES + REMOVAL_RULES
"""The law's rules, in the order in which their answers help most."""


def judge(request: Request, facts: Facts, law: Law, rules: tuple[Rule, ...] = RULES) -> Verdict:
    """Given a request, what was found out about its paths, and the law, return the verdict.

    The strictest opinion of the rules; among equals the first; Deny where none has one. Never
    raises, whatever the text. With `PATH_RULES` alone the facts may be empty: that says whether
    a path may be looked at.
    """
    question = take_apart(request, facts, law)
    strictest: Verdict | None = None
    for rule in rules:
        opinion = rule.opinion(question)
        if isinstance(opinion, Deny):
            return opinion
        if opinion is not None and (strictest is None or strictness(opinion) > strictness(strictest)):
            strictest = opinion
    return strictest or Deny("no-rule", "No rule allows it.")
