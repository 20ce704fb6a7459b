"""The rules about a path's text as a whole: what is checked is byte for byte what is used."""

from __future__ import annotations

from extractord.policy.cases import FOLDER, PROJECT, read, remove, write
from extractord.policy.characters import likeness, named, shown
from extractord.policy.denied import NAME_RULES
from extractord.policy.requests import Found, PathFacts, Read
from extractord.policy.rules import Place, Question, Rule, each_place
from extractord.policy.segments import SEGMENT_RULES
from extractord.policy.verdict import Allow


def _encoding(place: Place, _question: Question) -> str | None:
    try:
        place.path.encode()
    except UnicodeEncodeError as error:
        return f"{named(place.path[error.start])} cannot be written in UTF-8"
    return None


def _root(question: Question) -> str | Allow | None:
    if not question.places:
        return "No path is named"
    for place in question.places:
        if place.root is None:
            return f"{shown(place.path)} is under none of the memory roots"
        if not place.segments and not isinstance(question.request, Read):
            return f"{shown(place.path)} is a memory root itself"
    return Allow()


def _length(place: Place, question: Question) -> str | None:
    law = question.law
    below = len(place.below.encode(errors="replace"))
    if below > law.path_bytes:
        return f"The path is {below} bytes long below its root; at most {law.path_bytes}"
    if len(place.segments) > law.segments:
        return f"The path has {len(place.segments)} segments below its root; at most {law.segments}"
    for segment in place.segments:
        if len(segment.encode(errors="replace")) > law.segment_bytes:
            return f"{shown(segment)} is longer than {law.segment_bytes} bytes"
    return None


def _suffix(place: Place, question: Question) -> str | None:
    if not place.segments:
        return None
    *folders, last = place.segments
    for folder in folders:
        if likeness(folder).endswith(".md"):
            return f"{shown(folder)} is used as a folder"
    if last.endswith(".md") or (isinstance(question.request, Read) and _may_be_folder(question.found(place))):
        return None
    return f"{shown(last)} does not end in `.md`"


def _may_be_folder(found: PathFacts | None) -> bool:
    return found is None or found.found is Found.DIRECTORY


_WHOLE_RULES = (
    Rule(
        name="root",
        threat="paths that leave the memory roots, or look as if they did not",
        sentence="Use an absolute path below one of the run's roots, spelt as they are given.",
        find=_root,
        allows=(
            write("notes.md"),
            write("new/folder/notes.md"),
            read(PROJECT, FOLDER),
            remove("a.md", "b.md"),
        ),
        denies=(
            write("/memory/project-evil/x.md"),
            write("/memory/projects/x.md"),
            write("/MEMORY/project/x.md"),
            write("/etc/x.md"),
            write("//memory/project/x.md"),
            write("/memory/project"),
            write("/proc/self/cwd/x.md"),
            remove("a.md", "/memory/project"),
            remove(),
        ),
    ),
    Rule(
        name="encoding",
        threat="one path as text, another one as bytes",
        sentence="Write the name in plain letters.",
        find=each_place(_encoding),
        allows=(write("caf\u00e9.md"),),
        denies=(write("a\udc80b.md"),),
    ),
    Rule(
        name="length",
        threat="resolvers that give up on long paths",
        sentence="Take a shorter name, and fewer folders.",
        find=each_place(_length),
        allows=(write("a/b/c/d/e/f/g/notes.md"), write("n" * 197 + ".md")),
        denies=(
            write("a/b/c/d/e/f/g/h/notes.md"),
            write("n" * 198 + ".md"),
            write("\u00e9" * 99 + ".md"),
            write("/".join(["n" * 180] * 6) + "/x.md"),
        ),
    ),
)

_SUFFIX = Rule(
    name="suffix",
    threat="files that are not Markdown, and folders that look like memories",
    sentence="A memory's name ends in `.md`, a folder's does not.",
    find=each_place(_suffix),
    allows=(write("x.md.md"), read("sub", FOLDER)),
    denies=(
        write("x.txt"),
        write("x.MD"),
        write("x.md.exe"),
        write("x.md/y.md"),
        read("x.txt"),
        remove("x"),
    ),
)

PATH_RULES = (*_WHOLE_RULES, *SEGMENT_RULES, *NAME_RULES, _SUFFIX)
"""In the order in which their answers help most."""
