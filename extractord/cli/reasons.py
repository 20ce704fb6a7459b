"""Why something waits, in a sentence for the person who decides: without what the law advises a model."""

from __future__ import annotations

import re

_ADVICE = ". A person will look at it"
"""Begins what a rule that holds tells the model."""
_WHY_THAT_TRUST = re.compile(r"\((?P<found>.*?)(?:: [^:]*)?\)\Z", re.DOTALL)
"""What was found of the evidence, and after the last colon what a model should do about it."""
_OF_EVIDENCE = {
    "untrusted": "Nothing shows that you or the agent said this",
    "unstated": "It is about you or what you want, and nothing shows that you typed it",
    "outranked": "It would change what rests on better evidence than its own",
}
"""The rules that ask who said something."""


def why(rule: str, reason: str) -> str:
    """Given the rule that holds a change and its reason, return why a person is asked."""
    if not rule:
        return "It waits with what it belongs to: accepted or rejected as one."
    found = _found(reason)
    if rule not in _OF_EVIDENCE:
        return f"{found}."
    trust = _WHY_THAT_TRUST.search(found)
    return _OF_EVIDENCE[rule] + (f": {_begun_small(trust['found'])}." if trust else ".")


def why_withheld(withheld: str) -> str:
    """Given why a file is withheld, rule and reason, return why a person is asked."""
    rule, _, reason = withheld.partition(": ")
    told = _begun_small(why(rule, reason)) if reason else f"{rule}."
    return f"It is on the disk, but no agent is shown it: {told}"


def _found(reason: str) -> str:
    """What a rule found, half a sentence."""
    found, cut, _ = reason.rpartition(_ADVICE)
    return found if cut else reason.removesuffix(".")


def _begun_small(text: str) -> str:
    """As the text goes on behind a colon."""
    return text[:1].lower() + text[1:]
