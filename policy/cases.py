"""How a rule writes its cases: short words for whole questions."""

from __future__ import annotations

from dataclasses import replace

from extractord.policy.requests import (
    VIRTUAL_ROOTS,
    Edit,
    Facts,
    Found,
    PathFacts,
    Read,
    Remove,
    RunFacts,
    Trust,
    Write,
)
from extractord.policy.rules import Case

PROJECT = VIRTUAL_ROOTS[1].prefix
USER = VIRTUAL_ROOTS[0].prefix
FILE = PathFacts(found=Found.FILE)
FOLDER = PathFacts(found=Found.DIRECTORY)


def memory(body: str = "Deploys happen on Tuesdays only.", *, type_: str = "project", head: str = "") -> str:
    """Given a body, return a whole memory for a case; `head` is more lines of front matter."""
    return (
        "---\nname: deploys-on-tuesdays\ndescription: When deploys happen, and why\n"
        f"{head}metadata:\n  type: {type_}\n---\n{body}\n"
    )


STATED = replace(FILE, text=memory(), trust=Trust.STATED)
"""A memory that a person stated."""

_STANDS = {
    Found.NOTHING: "nothing there",
    Found.FILE: "",
    Found.DIRECTORY: "a folder",
    Found.SYMLINK: "a link",
    Found.SPECIAL: "a pipe or device",
    Found.BLOCKED: "behind a link",
}


def _said(verb: str, path: str, there: PathFacts | None) -> str:
    """Given what is asked of a path and what stands there, return both in words."""
    if there is None:
        return f"{verb} {path}".rstrip()
    remarks = (
        _STANDS[there.found],
        "a hard link" if there.links > 1 else "",
        "" if there.own else "somebody else's",
        "" if there.same_device else "a mount",
        f"beside {there.twin}" if there.twin else "",
        "pinned" if there.pinned else "",
        f"{there.size} bytes" if there.size else "",
    )
    said = ", ".join(remark for remark in remarks if remark)
    return f"{verb} {path} ({said})" if said else f"{verb} {path}".rstrip()


def write(path: str, content: str | None = None, there: PathFacts | None = None) -> Case:
    """A case that writes below the project's root, or to an absolute path."""
    full = path if path.startswith("/") else f"{PROJECT}/{path}"
    text = memory() if content is None else content
    return Case(_said("Write", path, there), Write(full, text), Facts({full: there or PathFacts()}))


def content(shown: str, text: str) -> Case:
    """A case that writes a whole text, shown in words."""
    return replace(write("notes.md", text), shown=shown)


def edit(shown: str, before: str | None, old: str, new: str) -> Case:
    """A case that edits a memory which holds `before`."""
    path = f"{PROJECT}/notes.md"
    return Case(shown, Edit(path, old, new), Facts({path: replace(FILE, text=before)}))


def read(path: str, there: PathFacts = FILE) -> Case:
    """A case that reads below the project's root, or at an absolute path."""
    full = path if path.startswith("/") else f"{PROJECT}/{path}"
    return Case(_said("Read", path, there), Read(full), Facts({full: there}))


def remove(*paths: str, there: PathFacts = FILE) -> Case:
    """A case that removes memories below the project's root, or at absolute paths."""
    full = tuple(path if path.startswith("/") else f"{PROJECT}/{path}" for path in paths)
    return Case(_said("Remove", " ".join(paths), there), Remove(full), Facts(dict.fromkeys(full, there)))


def during(case: Case, words: str, trust: Trust = Trust.STATED, /, **known: object) -> Case:
    """Given a case, return it as asked by a run whose evidence comes to `trust`."""
    run = RunFacts(trust, **known)  # type: ignore[arg-type]
    return Case(f"{case.shown}: {words}", case.request, replace(case.facts, run=run))
