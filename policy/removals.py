"""The rule about how much a run removes, and what counts as a removal."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from extractord.policy.cases import STATED, during, memory, remove, write
from extractord.policy.header import body
from extractord.policy.requests import Remove, RootKind, RunFacts
from extractord.policy.rules import Question, Rule, in_run
from extractord.policy.verdict import Hold

REMOVALS = 5
"""A run removes at most so many memories of a root, and at most a quarter of them."""

_PIECE = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]|\\w+"
)


def keeps_half(before: str, after: str) -> bool:
    """Given a memory's whole text before and after, return True if at least half of its body stays.

    Counted in words, each as often as it stands there; in characters where a script has no spaces.
    """
    old, new = Counter(_PIECE.findall(body(before))), Counter(_PIECE.findall(body(after)))
    return 2 * (old & new).total() >= old.total()


def most_removals(memories: int) -> int:
    """Given the memories in a root, return how many of them a run may remove."""
    return min(REMOVALS, max(1, memories // 4))


def _many_removals(question: Question, run: RunFacts) -> str | None:
    if not isinstance(question.request, Remove) and not _halves(question):
        return None
    for kind in sorted({place.root.kind for place in question.places if place.root and place.root.kind}):
        removed, most = run.removals.get(kind, 0), most_removals(run.memories.get(kind, 0))
        if removed > most:
            return f"That makes {removed} removals from the {kind} root in one run; at most {most}"
    return None


def _halves(question: Question) -> bool:
    """True for a Write or Edit that keeps under half of a memory's body."""
    ground = question.found(question.places[0]) if question.places else None
    before, after = ground.text if ground is not None else None, question.result
    return before is not None and after is not None and not keeps_half(before, after)


_FIVE: dict[str, Mapping[RootKind, int]] = {
    "removals": {RootKind.PROJECT: 5},
    "memories": {RootKind.PROJECT: 20},
}
_SIX: dict[str, Mapping[RootKind, int]] = {
    "removals": {RootKind.PROJECT: 6},
    "memories": {RootKind.PROJECT: 200},
}
_TWO_OF_SEVEN: dict[str, Mapping[RootKind, int]] = {
    "removals": {RootKind.PROJECT: 2},
    "memories": {RootKind.PROJECT: 7},
}
_SHORT = memory("Other words.")

REMOVAL_RULES = (
    Rule(
        name="removals",
        threat="a run that empties the memory",
        sentence="A person will look at it. Remove less in one run.",
        find=in_run(_many_removals),
        gives=Hold,
        allows=(
            during(remove("a.md"), "the fifth of 20", **_FIVE),
            during(
                remove("a.md"), "the only one", removals={RootKind.PROJECT: 1}, memories={RootKind.PROJECT: 1}
            ),
            during(write("a.md", there=STATED), "all of it kept, after six", **_SIX),
            during(write("new.md"), "a new one, after six", **_SIX),
        ),
        holds=(
            during(remove("a.md"), "the sixth of 200", **_SIX),
            during(remove("a.md"), "the second of 7", **_TWO_OF_SEVEN),
            during(write("a.md", _SHORT, STATED), "under half kept, the sixth", **_SIX),
        ),
    ),
)
