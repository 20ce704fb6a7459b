"""What an agent's tools are told of the memories: by virtual paths, framed as reference, every cut marked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote, unquote

from extractord.core.changeset import INDEX
from extractord.core.index import one_line
from extractord.core.injection import LIMIT_CHARS, escaped, reference
from extractord.core.records import Project
from extractord.core.survey import Surveyed, kinds_of, root_of
from extractord.edges.store.roots import Roots
from extractord.errors import UsageError
from extractord.policy.requests import RootKind
from extractord.recall import Found, search

Scope = Literal["both", "user", "project"]

SCHEME = "extractord://"
_BEFORE = "/memory/"
_LISTED = 200
_ROOM = LIMIT_CHARS - 1_000
"""Characters of an answer, its frame and markers left out."""

Open = Callable[[], AbstractContextManager[tuple[Roots, Sequence[str]]]]
"""The roots and the names of those there are, as they stand at the time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A memory as a resource is listed."""

    uri: str
    title: str
    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """For the agents of one project: the person's memories and the project's, no other's.

    What is held, withheld or at fault is not told of. Each raises UsageError, a sentence for the
    model, where the question cannot be answered.
    """

    project: Project
    open: Open
    warn: Callable[[str], None]

    def search(self, words: str, scope: Scope = "both", limit: int = 10) -> str:
        """Return the memories that have the words, the best first, as many as there is room for."""
        with self.open() as (roots, there):
            names = self._names(there, scope)
            found = search(roots, list(names), words, limit=limit, warn=self.warn)
        told, shown = _fitting("\n".join(_found(one, names[one.root])) for one in found.found)
        left = found.left_out + len(found.found) - shown
        if left:
            told.append(f"[extractord: {left} more memories have one of the words: ask for more of them]")
        return reference("\n\n".join(told) or "No memory has any of the words.")

    def read(self, path: str, line: int = 1) -> str:
        """Return a memory from a line on, with how far it can be believed."""
        row, text = self._one(path)
        lines = text.split("\n")
        told, shown = _fitting(lines[max(line, 1) - 1 :])
        if not told and line <= len(lines):
            told, shown = [lines[line - 1][:_ROOM] + "…"], 1
        end = max(line, 1) - 1 + shown
        if end < len(lines):
            told.append(f"[extractord: {len(lines) - end} lines more: read on with line = {end + 1}]")
        trust = row.trust.word if row.trust is not None else "unknown"
        return reference("\n".join([f"{escaped(one_line(path))} (trust: {trust})", "", *told]))

    def list(self, scope: Scope = "both") -> str:
        """Return a line for each memory, the newest first, as many as there is room for."""
        with self.open() as (roots, there):
            names = self._names(there, scope)
            rows = self._rows(roots, names)
        told, shown = _fitting(_line(names[root], row) for root, row in rows[:_LISTED])
        if shown < len(rows):
            told.append(f"[extractord: {len(rows) - shown} older ones are left out: search finds them]")
        return reference("\n".join(told) or "Nothing is kept yet.")

    def resources(self) -> tuple[Kept, ...]:
        """Return every memory, the newest first."""
        with self.open() as (roots, there):
            names = self._names(there, "both")
            rows = self._rows(roots, names)
        return tuple(
            Kept(
                uri=f"{SCHEME}{names[root]}/{quote(row.path)}",
                title=one_line(row.title),
                description=one_line(row.description),
            )
            for root, row in rows
        )

    def resource(self, uri: str) -> str:
        """Return the memory that a resource's address names."""
        if not uri.startswith(SCHEME):
            raise UsageError(f"{uri} is not a memory: list the resources")
        return self.read(_BEFORE + unquote(uri.removeprefix(SCHEME)))

    def _names(self, there: Sequence[str], scope: Scope) -> Mapping[str, str]:
        """The roots of the scope that there are, each with its kind."""
        kinds = {root_of(kind, self.project): str(kind) for kind in kinds_of(self.project)}
        return {root: kind for root, kind in kinds.items() if root in there and scope in ("both", kind)}

    def _rows(self, roots: Roots, names: Mapping[str, str]) -> Sequence[tuple[str, Surveyed]]:
        rows = [
            (root, row)
            for root, rows in roots.surveys(names, self.warn)
            for row in rows
            if not (row.withheld or row.fault)
        ]
        return sorted(rows, key=lambda one: (-one[1].mtime_ns, one[1].path))

    def _one(self, path: str) -> tuple[Surveyed, str]:
        kind, _, below = path.removeprefix(_BEFORE).partition("/")
        if kind not in tuple(map(str, RootKind)) or not path.startswith(_BEFORE):
            raise UsageError(f"{path!r} is no memory: paths begin with /memory/user/ or /memory/project/")
        with self.open() as (roots, there):
            for root, found in self._names(there, "both").items():
                if found != kind or below == INDEX or below not in roots.folder(root).stats():
                    continue
                looked = roots.look(root, below)
                if looked is not None and not (looked[0].withheld or looked[0].fault):
                    return looked
        raise UsageError(f"there is no memory {path}: memory_list names them")


def _found(one: Found, kind: str) -> Iterator[str]:
    yield _line(kind, one.row)
    for passage in one.passages:
        yield from (f"  {line}" for line in passage.lines)
        if passage is not one.passages[-1]:
            yield "  …"
    if one.more:
        yield f"  [extractord: {one.more} more lines match: read the memory]"


def _line(kind: str, row: Surveyed) -> str:
    trust = row.trust.word if row.trust is not None else "unknown"
    hook = one_line(row.description or row.title)
    return f"- {_BEFORE}{kind}/{one_line(row.path)} (trust: {trust}) — {hook}"


def _fitting(pieces: Iterable[str]) -> tuple[list[str], int]:
    """The first pieces, escaped, that there is room for, and how many those are."""
    taken: list[str] = []
    room = _ROOM
    for piece in map(escaped, pieces):
        room -= len(piece) + 2
        if room < 0:
            break
        taken.append(piece)
    return taken, len(taken)
