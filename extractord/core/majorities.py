"""What a fact, or one sentence of it, comes to by whose words the most of it are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

from extractord.core.attribution import WindowWords
from extractord.policy.requests import Trust

Opinion = tuple[Trust, str]
"""A trust and, where it is below `stated`, what is wrong, a colon, and what to do about it."""
Whose = Callable[[str], Trust | None]
"""The best trust at which a stem occurs; None where it occurs nowhere."""

_LEAST_KNOWN = 6
"""One in so many of a fact's words has to occur in the session at all."""
_LEAST_ADDED = 2
_LEAST_NOBODYS = 3
_NO_OBJECTION: Opinion = (Trust.STATED, "")


def best(one: Trust | None, other: Trust | None) -> Trust | None:
    """The higher of two trusts, either of which may be missing."""
    return max((trust for trust in (one, other) if trust is not None), default=None)


def of_fact(stems: Iterable[str], whose: Whose) -> Opinion:
    """Given a fact's distinct stems, return what the majority of those that occur comes to.

    Words that occur nowhere are nobody's: over five in six of them make it `untrusted`.
    """
    owned = [(stem, whose(stem)) for stem in stems]
    known = [trust for _, trust in owned if trust is not None]
    if not known or len(known) * _LEAST_KNOWN < len(owned):
        return (
            Trust.UNTRUSTED,
            "Hardly a word of it occurs in the session: keep the words that were said.",
        )
    foreign = _listed(stem for stem, trust in owned if trust is not None and trust < Trust.STATED)
    if 2 * sum(trust >= Trust.INFERRED for trust in known) < len(known):
        return (
            Trust.UNTRUSTED,
            f"Most of its words are tool output's, a page's or a paste's ({foreign}): keep to the person's.",
        )
    if 2 * sum(trust >= Trust.STATED for trust in known) < len(known):
        return (
            Trust.INFERRED,
            f"Most of its words are the agent's ({foreign}): keep to the person's words.",
        )
    return _NO_OBJECTION


def of_nobody(stems: Iterable[str], whose: Whose) -> Opinion:
    """Given a fact's distinct stems, return `inferred` if over half of them, and three, were never said."""
    owned = [(stem, whose(stem)) for stem in stems]
    nobodys = [stem for stem, trust in owned if trust is None]
    if len(nobodys) < _LEAST_NOBODYS or 2 * len(nobodys) <= len(owned):
        return _NO_OBJECTION
    return (
        Trust.INFERRED,
        f"Most of its words were said by nobody ({_listed(nobodys)}): keep the words that were said.",
    )


def of_sentence(stems: Sequence[str], whose: Whose, window: WindowWords, in_old: Trust | None) -> Opinion:
    """Given a sentence's stems in order, return what it comes to by itself.

    It is `untrusted` where most of its words that occur are untrusted text's alone, where two of them
    follow one another as they do there, or where it stands there as a whole and
    nowhere better; `inferred` where the agent says it so, or where it has no word of the person's and
    most of the agent's stand in untrusted text too. `in_old` is the trust of the memory being edited
    if that holds the stems in this order.
    """
    known = {stem: trust for stem in stems if (trust := whose(stem)) is not None}
    foreign = [stem for stem, trust in known.items() if trust is Trust.UNTRUSTED]
    if 2 * len(foreign) > len(known):
        return _foreign(foreign)
    copied = [
        pair
        for pair in pairwise(stems)
        if all(known.get(stem) is Trust.UNTRUSTED for stem in pair)
        and window.trust_in_order(pair) is Trust.UNTRUSTED
    ]
    if copied:
        return _foreign(copied[0])
    found = best(window.trust_in_order(stems), in_old)
    if found is Trust.UNTRUSTED:
        return _foreign(stems)
    repeated = [stem for stem in known if stem in window.foreign]
    spoken = any(trust >= Trust.STATED for trust in known.values())
    if found is Trust.INFERRED or (not spoken and 2 * len(repeated) > len(known)):
        return (
            Trust.INFERRED,
            f"A sentence of it ({_listed(stems)}) is the agent's, after a tool's or a page's: leave it out.",
        )
    return _NO_OBJECTION


def of_addition(stems: Iterable[str], whose: Whose) -> Opinion:
    """Given a few stems (a label's, what an edit adds to a sentence), return what they come to.

    One word is let pass: names and joining words are the model's own.
    """
    known = {stem: trust for stem in stems if (trust := whose(stem)) is not None}
    foreign = [stem for stem, trust in known.items() if trust is Trust.UNTRUSTED]
    if len(foreign) >= _LEAST_ADDED and 2 * len(foreign) > len(known):
        return _foreign(foreign)
    return _NO_OBJECTION


def _foreign(stems: Iterable[str]) -> Opinion:
    return (
        Trust.UNTRUSTED,
        f"A sentence of it ({_listed(stems)}) is tool output's, a page's or a paste's: leave it out.",
    )


def _listed(stems: Iterable[str]) -> str:
    return ", ".join(f"{stem}…" for stem in sorted(set(stems))[:5])
