"""What a rule is: a named opinion on a question, with the threat it answers and its own cases."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import assert_never

from extractord.policy.header import hidden_words
from extractord.policy.requests import (
    VIRTUAL_ROOTS,
    Edit,
    Facts,
    Law,
    PathFacts,
    Read,
    Remove,
    Request,
    Root,
    RunFacts,
    Write,
)
from extractord.policy.verdict import Allow, Deny, Hold, Verdict


@dataclass(frozen=True, slots=True)
class Place:
    """Where a path lies, by its text alone."""

    path: str
    root: Root | None
    """None where it is under no root of the law."""
    segments: tuple[str, ...]
    """Below the root; none for the root itself."""

    @property
    def below(self) -> str:
        """The path below the root, with `/`."""
        return "/".join(self.segments)


@dataclass(frozen=True, slots=True)
class Question:
    """A request with all that is known; taken apart once, then asked of every rule."""

    request: Request
    facts: Facts
    law: Law
    places: tuple[Place, ...]
    result: str | None
    """The whole text after a Write or Edit; None where there is none or it cannot be known."""
    hidden: tuple[str, ...] = ()
    """What YAML escapes in the result's front matter come to."""

    def found(self, place: Place) -> PathFacts | None:
        """What stands at the place; None where nobody looked."""
        return self.facts.paths.get(place.path)


MATCHES_COUNTED = 100
"""More matches than these are as many as these."""


def count_matches(text: str, wanted: str) -> int:
    """Given a text, return how often `wanted` stands in it, overlapping matches included."""
    found, at = 0, text.find(wanted) if wanted else -1
    while at >= 0 and found < MATCHES_COUNTED:
        found, at = found + 1, text.find(wanted, at + 1)
    return found


def find_place(path: str, law: Law) -> Place:
    """Given a path, return its place under the root with the longest prefix of whole components."""
    under = [root for root in law.roots if path == root.prefix or path.startswith(root.prefix + "/")]
    if not under:
        return Place(path, None, ())
    root = max(under, key=lambda root: len(root.prefix))
    below = path[len(root.prefix) + 1 :]
    return Place(path, root, () if path == root.prefix else tuple(below.split("/")))


def take_apart(request: Request, facts: Facts, law: Law) -> Question:
    """Given a request and the facts, return the question that the rules are asked."""
    result: str | None = None
    match request:
        case Remove(paths=paths):
            pass
        case Write(path=path, content=content):
            paths, result = (path,), content
        case Edit(path=path, old=old, new=new):
            paths = (path,)
            before = facts.paths.get(path, PathFacts()).text
            if before is not None and count_matches(before, old) == 1:
                result = before.replace(old, new)
        case Read(path=path):
            paths = (path,)
        case _:
            assert_never(request)
    places = tuple(find_place(path, law) for path in paths)
    return Question(request, facts, law, places, result, hidden_words(result) if result else ())


@dataclass(frozen=True, slots=True)
class Case:
    """An example that a rule brings: what is asked, what is known, and how the table shows it."""

    shown: str
    request: Request
    facts: Facts

    def question(self) -> Question:
        """The question that the case asks under the usual law."""
        return take_apart(self.request, self.facts, Law(roots=VIRTUAL_ROOTS))


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of the law.

    `find` gives what speaks against the question as half a sentence, Allow where the rule
    vouches for it, or None for no opinion. `sentence` tells model and person what to do.
    """

    name: str
    threat: str
    sentence: str
    find: Callable[[Question], str | Allow | None]
    gives: type[Deny | Hold] = Deny
    allows: tuple[Case, ...] = ()
    holds: tuple[Case, ...] = ()
    denies: tuple[Case, ...] = ()

    def opinion(self, question: Question) -> Verdict | None:
        """Given a question, return the rule's verdict or None."""
        found = self.find(question)
        if found is None or isinstance(found, Allow):
            return found
        return self.gives(self.name, f"{found}. {self.sentence}")


def each_segment(find: Callable[[str], str | None]) -> Callable[[Question], str | None]:
    """Given what to find in a segment, return what to find in a question: the first of it."""

    def find_in_question(question: Question) -> str | None:
        for place in question.places:
            for segment in place.segments:
                found = find(segment)
                if found is not None:
                    return found
        return None

    return find_in_question


def each_place(find: Callable[[Place, Question], str | None]) -> Callable[[Question], str | None]:
    """Given what to find in a place, return what to find in a question: the first of it."""

    def find_in_question(question: Question) -> str | None:
        for place in question.places:
            found = find(place, question)
            if found is not None:
                return found
        return None

    return find_in_question


def in_result(find: Callable[[str], str | None]) -> Callable[[Question], str | None]:
    """Given what to find in a text, return what to find in a question: in the text as it would be."""

    def find_in_question(question: Question) -> str | None:
        found = None if question.result is None else find(question.result)
        for hidden in question.hidden:
            within = find(hidden) if found is None else None
            found = found if within is None else f"Written out, the front matter has this: {within}"
        return found

    return find_in_question


def in_run(find: Callable[[Question, RunFacts], str | None]) -> Callable[[Question], str | None]:
    """Given what to find in a run's change, return what to find in a question: nothing in a Read."""

    def find_in_question(question: Question) -> str | None:
        run = question.facts.run
        return None if run is None or isinstance(question.request, Read) else find(question, run)

    return find_in_question
