"""A project's memories put beside those that another of its folders has already."""

from __future__ import annotations

from dataclasses import dataclass

from extractord.core.changeset import INDEX
from extractord.core.ports import Versions
from extractord.edges.store.placing import Placement
from extractord.edges.store.roots import Roots
from extractord.policy.requests import Found


@dataclass(frozen=True, slots=True)
class Merge:
    """What is to be placed, and the name in the new root of each path that the old one ever had."""

    placements: tuple[Placement, ...]
    names: dict[str, str]


def merge_of(roots: Roots, versions: Versions, old: str, new: str) -> Merge:
    """Given two roots that were just noticed, return what brings the memories of `old` into `new`.

    What stands in `new`, or ever stood there, keeps its name: what comes, or is held and may, takes a free
    one, but for the same bytes under the same name, of which one goes. Raise StoreError where a file cannot
    be read.
    """
    placements: list[Placement] = []
    names: dict[str, str] = {}
    known = versions.current(old)
    there = roots.folder(old).names()
    wanted = {change.path for held in versions.held() for change in held.changes if change.root == old}
    for path in sorted({*there, *versions.paths(old), *wanted} - {INDEX}):
        names[path] = _free(roots, versions, new, path, set(names.values()))
        if path not in there:
            continue
        raw = roots.raw(old, path)
        placements.append(Placement(old, path, raw, None, None))
        if raw != _raw(roots, new, path):
            proofs = versions.proofs(old, path)
            placements.append(Placement(new, names[path], None, raw, known.get(path), proofs))
    return Merge(tuple(placements), names)


def _raw(roots: Roots, root: str, path: str) -> bytes | None:
    is_file = roots.folder(root).facts(path).found is Found.FILE
    return roots.raw(root, path) if is_file else None


def _free(roots: Roots, versions: Versions, root: str, path: str, taken: set[str]) -> str:
    """The path, or one like it with a number, that nothing has or had in the root."""
    stem, number, wanted = path.removesuffix(".md"), 1, path
    while True:
        facts = roots.folder(root).facts(wanted)
        is_free = facts.found is Found.NOTHING and facts.twin is None and wanted not in taken
        if is_free and not versions.history(root, wanted):
            return wanted
        number += 1
        wanted = f"{stem}-{number}.md"
