"""The rules about what stands on the disk, as descriptors saw it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from extractord.policy.cases import FILE, FOLDER, PROJECT, read, remove, write
from extractord.policy.characters import shown
from extractord.policy.requests import Edit, Found, PathFacts, Read, Remove, Write
from extractord.policy.rules import Place, Question, Rule


def _each_ground(
    find: Callable[[PathFacts, Question], str | None],
) -> Callable[[Question], str | None]:
    """Given what to find on a path's ground, return what to find in a question, with its path."""

    def find_in_question(question: Question) -> str | None:
        for place in question.places:
            facts = question.found(place)
            found = find(facts, question) if facts is not None else None
            if found is not None:
                return f"{_name(place)} {found}"
        return None

    return find_in_question


def _name(place: Place) -> str:
    return shown(place.segments[-1] if place.segments else place.path)


def _unknown(question: Question) -> str | None:
    for place in question.places:
        if question.found(place) is None:
            return f"Nobody looked what stands at {_name(place)}"
    return None


def _link(facts: PathFacts, _question: Question) -> str | None:
    match facts.found:
        case Found.SYMLINK:
            return "is a symbolic link"
        case Found.BLOCKED:
            return "lies behind a link, a file, a mount or somebody else's folder"
        case _:
            return (
                "has a second name (a hard link)" if facts.found is Found.FILE and facts.links != 1 else None
            )


def _special(facts: PathFacts, _question: Question) -> str | None:
    return "is no regular file" if facts.found is Found.SPECIAL else None


def _owner(facts: PathFacts, _question: Question) -> str | None:
    if facts.found in {Found.NOTHING, Found.SYMLINK, Found.SPECIAL, Found.BLOCKED}:
        return None
    if not facts.own:
        return "belongs to somebody else"
    return None if facts.same_device else "is on another device than its root"


def _twin(facts: PathFacts, _question: Question) -> str | None:
    return f"has the twin {shown(facts.twin)}" if facts.twin is not None else None


def _missing(facts: PathFacts, question: Question) -> str | None:
    wanted = isinstance(question.request, Read | Edit | Remove)
    return "is not there" if wanted and facts.found is Found.NOTHING else None


def _folder(facts: PathFacts, question: Question) -> str | None:
    changes = isinstance(question.request, Write | Edit | Remove)
    return "is a folder" if changes and facts.found is Found.DIRECTORY else None


def _pinned(facts: PathFacts, question: Question) -> str | None:
    return "is pinned" if facts.pinned and not isinstance(question.request, Read) else None


def _read_size(facts: PathFacts, question: Question) -> str | None:
    if (
        isinstance(question.request, Read)
        and facts.found is Found.FILE
        and facts.size > question.law.read_bytes
    ):
        return f"has {facts.size} bytes; at most {question.law.read_bytes} are read"
    return None


GROUND_RULES = (
    Rule(
        name="unknown-ground",
        threat="a path that was judged without being looked at",
        sentence="Whoever asks has to find out first.",
        find=_unknown,
        allows=(write("new.md"),),
        denies=(
            replace(
                write("new.md"), facts=replace(write("new.md").facts, paths={}), shown="Write x.md, no facts"
            ),
        ),
    ),
    Rule(
        name="link",
        threat="links that lead out of the root, or to a second name of a file outside",
        sentence="Choose another name.",
        find=_each_ground(_link),
        allows=(write("notes.md", there=FILE), write("new.md")),
        denies=(
            write("notes.md", there=PathFacts(Found.SYMLINK)),
            write("link/x.md", there=PathFacts(Found.BLOCKED)),
            write("hard.md", there=replace(FILE, links=2)),
            remove("link.md", there=PathFacts(Found.SYMLINK)),
            read("hard.md", replace(FILE, links=2)),
        ),
    ),
    Rule(
        name="special-file",
        threat="pipes that block, devices that act",
        sentence="Choose another name.",
        find=_each_ground(_special),
        allows=(read("notes.md"),),
        denies=(read("pipe.md", PathFacts(Found.SPECIAL)), write("null.md", there=PathFacts(Found.SPECIAL))),
    ),
    Rule(
        name="owner",
        threat="files and mounts of other people",
        sentence="Choose another name.",
        find=_each_ground(_owner),
        allows=(write("notes.md", there=FILE),),
        denies=(
            write("theirs.md", there=replace(FILE, own=False)),
            read("mount.md", replace(FILE, same_device=False)),
        ),
    ),
    Rule(
        name="twin",
        threat="one name in two spellings, which some file systems take for one file",
        sentence="Use that name, or a clearly different one.",
        find=_each_ground(_twin),
        allows=(write("notes.md"),),
        denies=(
            write("notes.md", there=PathFacts(twin="Notes.md")),
            remove("a.md", there=replace(FILE, twin="A.md")),
        ),
    ),
    Rule(
        name="missing",
        threat="a change to something that is not there",
        sentence="List the folder to see what is.",
        find=_each_ground(_missing),
        allows=(write("new.md"), remove("notes.md")),
        denies=(remove("new.md", there=PathFacts()), read("new.md", PathFacts())),
    ),
    Rule(
        name="folder",
        threat="whole folders changed at once",
        sentence="Name the memories in it, one by one.",
        find=_each_ground(_folder),
        allows=(read(PROJECT, FOLDER), remove("notes.md")),
        denies=(remove("sub.md", there=FOLDER), write("sub.md", there=FOLDER)),
    ),
    Rule(
        name="pinned",
        threat="memories that a person wants as they are",
        sentence="A person pinned it; write a memory of your own beside it.",
        find=_each_ground(_pinned),
        allows=(write("notes.md", there=FILE), read("notes.md", replace(FILE, pinned=True))),
        denies=(
            write("notes.md", there=replace(FILE, pinned=True)),
            remove("notes.md", there=replace(FILE, pinned=True)),
        ),
    ),
    Rule(
        name="read-size",
        threat="files that fill the model's window",
        sentence="Search in it instead.",
        find=_each_ground(_read_size),
        allows=(read("notes.md", replace(FILE, size=262_144)),),
        denies=(read("notes.md", replace(FILE, size=262_145)),),
    ),
)
