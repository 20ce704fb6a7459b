"""The rules about a run: where its facts belong, and what its evidence carries."""

from __future__ import annotations

from dataclasses import replace

from extractord.policy.cases import FILE, STATED, USER, during, edit, memory, remove, write
from extractord.policy.characters import shown
from extractord.policy.header import read_header, split
from extractord.policy.requests import Edit, RootKind, RunFacts, Trust
from extractord.policy.rules import Question, Rule, in_run
from extractord.policy.verdict import Hold


def _type_of(text: str | None) -> str:
    """Given a memory's text, return the type that it says; nothing where it says none."""
    parts = split(text) if text is not None else None
    header = read_header(parts[0]) if parts is not None else ""
    return "" if isinstance(header, str) else header.type


def _no_project(question: Question, run: RunFacts) -> str | None:
    kinds = {place.root.kind for place in question.places if place.root is not None}
    return "This session belongs to no project" if RootKind.PROJECT in kinds and not run.has_project else None


def _wrong_root(question: Question, _run: RunFacts) -> str | None:
    place = question.places[0] if question.places else None
    if place is None or place.root is None or place.root.kind is None:
        return None
    kind = _type_of(question.result)
    ground = question.found(place)
    if isinstance(question.request, Edit) and ground is not None and kind == _type_of(ground.text):
        return None
    if kind == "user" and place.root.kind is not RootKind.USER:
        return "Facts of type user belong to the person, not to a project: write it below /memory/user"
    if kind in {"project", "reference"} and place.root.kind is not RootKind.PROJECT:
        return f"Facts of type {kind} belong to a project: write it below /memory/project"
    return None


def _untrusted(_question: Question, run: RunFacts) -> str | None:
    return f"The evidence is {run.trust.word}{_why(run)}" if run.trust is Trust.UNTRUSTED else None


def _unstated(question: Question, run: RunFacts) -> str | None:
    kind = _type_of(question.result)
    if kind in {"user", "feedback"} and run.trust < Trust.STATED:
        return f"Type {kind} needs the person's own words, and the evidence is {run.trust.word}{_why(run)}"
    return None


def _outranked(question: Question, run: RunFacts) -> str | None:
    for place in question.places:
        ground = question.found(place)
        if ground is not None and ground.trust is not None and run.trust < ground.trust:
            weaker = f"the evidence only {run.trust.word}{_why(run)}"
            return f"{shown(place.below)} is {ground.trust.word}, and {weaker}"
    return None


def _of_a_person(question: Question, _run: RunFacts) -> str | None:
    for place in question.places:
        ground = question.found(place)
        if ground is not None and (ground.foreign or ground.trust is Trust.CONFIRMED):
            whose = "not written by a run" if ground.foreign else "accepted by a person"
            return f"{shown(place.below)} was {whose}"
    return None


def _why(run: RunFacts) -> str:
    return f" ({run.reason})" if run.reason else ""


_REVIEW = "A person will look at it."
_PREFERENCE = memory("Prefers short answers.", type_="user")
CONDUCT_RULES = (
    Rule(
        name="no-project",
        threat="facts of nowhere in particular that become a project's",
        sentence="Only facts about the person (type user or feedback) can be kept, below /memory/user.",
        find=in_run(_no_project),
        allows=(
            during(write(f"{USER}/a.md", _PREFERENCE), "no project", has_project=False),
            during(write("a.md"), "in a project"),
        ),
        denies=(
            during(write("a.md"), "no project", has_project=False),
            during(remove("a.md"), "no project", has_project=False),
        ),
    ),
    Rule(
        name="type-and-root",
        threat="one project's facts in every other project, and the person's facts in one",
        sentence="Feedback may stand in either.",
        find=in_run(_wrong_root),
        allows=(
            during(write(f"{USER}/a.md", _PREFERENCE), "type user"),
            during(write("a.md", memory(type_="reference")), "type reference"),
            during(write("a.md", memory(type_="feedback")), "type feedback"),
            during(write(f"{USER}/a.md", memory(type_="feedback")), "type feedback"),
            during(
                edit("Edit of a user fact in the project", _PREFERENCE, "short", "long"), "type unchanged"
            ),
        ),
        denies=(
            during(write("a.md", _PREFERENCE), "type user"),
            during(write(f"{USER}/a.md"), "type project"),
            during(write(f"{USER}/a.md", memory(type_="reference")), "type reference"),
            during(edit("Edit of the type", memory(), "type: project", "type: user"), "project to user"),
        ),
    ),
    Rule(
        name="untrusted",
        threat="poisoned documents: text of tools, pages and files that becomes memory",
        sentence=f"{_REVIEW} Cite the person's or the agent's own words, and keep to them.",
        find=in_run(_untrusted),
        gives=Hold,
        allows=(during(write("a.md"), "inferred", Trust.INFERRED),),
        holds=(
            during(write("a.md"), "untrusted", Trust.UNTRUSTED),
            during(remove("a.md"), "untrusted", Trust.UNTRUSTED),
            during(edit("Edit", memory(), "Tuesdays", "Fridays"), "untrusted", Trust.UNTRUSTED),
        ),
    ),
    Rule(
        name="unstated",
        threat="preferences that the person never had",
        sentence=f"{_REVIEW} Cite where the person says it.",
        find=in_run(_unstated),
        gives=Hold,
        allows=(
            during(write(f"{USER}/a.md", _PREFERENCE), "type user, stated"),
            during(write("a.md"), "type project, inferred", Trust.INFERRED),
        ),
        holds=(
            during(write(f"{USER}/a.md", _PREFERENCE), "type user, inferred", Trust.INFERRED),
            during(write("a.md", memory(type_="feedback")), "type feedback, inferred", Trust.INFERRED),
        ),
    ),
    Rule(
        name="outranked",
        threat="weak evidence that changes what rests on strong evidence",
        sentence=f"{_REVIEW} Cite evidence of at least that trust.",
        find=in_run(_outranked),
        gives=Hold,
        allows=(
            during(write("a.md", there=STATED), "stated over stated"),
            during(remove("a.md", there=STATED), "stated over stated"),
        ),
        holds=(
            during(write("a.md", there=STATED), "inferred over stated", Trust.INFERRED),
            during(remove("a.md", there=STATED), "inferred over stated", Trust.INFERRED),
        ),
    ),
    Rule(
        name="persons-memory",
        threat="runs that change what a person wrote or accepted",
        sentence=_REVIEW,
        find=in_run(_of_a_person),
        gives=Hold,
        allows=(
            during(write("a.md", there=STATED), "stated"),
            write("a.md", there=replace(STATED, foreign=True)),
        ),
        holds=(
            during(write("a.md", there=replace(STATED, foreign=True)), "foreign"),
            during(remove("a.md", there=replace(FILE, trust=Trust.CONFIRMED)), "confirmed", Trust.CONFIRMED),
        ),
    ),
)
