"""Which memory a person means, by its name, its path, or root and path."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal, assert_never

from extractord.cli.looking import project_of
from extractord.config import Settings
from extractord.core.survey import USER_ROOT, Surveyed, kinds_of, root_of
from extractord.edges.store.roots import Roots
from extractord.errors import UsageError
from extractord.storeroom import to_stderr

Row = tuple[str, Surveyed]
"""A memory with its root's name."""
Scope = Literal["here", "user", "project", "all"]


def rows_of(roots: Roots, names: tuple[str, ...], warn: Callable[[str], None] = to_stderr) -> list[Row]:
    """Given roots, return every memory in them with its root's name; a bad root is said, and left out."""
    return [(root, row) for root, rows in roots.surveys(names, warn) for row in rows]


def one_of(rows: list[Row], wanted: str) -> Row:
    """Given memories, return the one that is meant. Raise UsageError where it is none or several."""
    found = [row for row in rows if wanted in (f"{row[0]}/{row[1].path}", row[1].path, row[1].name)]
    exact = [row for row in found if wanted == f"{row[0]}/{row[1].path}"]
    match exact or found:
        case [row]:
            return row
        case []:
            raise UsageError(f"no memory is called {wanted!r}: `extractord memories list` names them")
        case several:
            places = ", ".join(f"{root}/{row.path}" for root, row in several)
            raise UsageError(f"{wanted!r} may be any of: {places}")


def chosen(settings: Settings, there: tuple[str, ...], project: Path | None) -> tuple[str, ...]:
    """Given the roots that are there, return those of a directory's project and the person; all without."""
    if project is None:
        return there
    found = project_of(settings, project)
    wanted = [root_of(kind, found) for kind in kinds_of(found)]
    return tuple(root for root in there if root in wanted)


def within(settings: Settings, there: tuple[str, ...], project: Path | None, scope: Scope) -> tuple[str, ...]:
    """Given the roots that are there, return those in the scope of a directory's project."""
    here = chosen(settings, there, project or Path.cwd())
    match scope:
        case "here":
            return here
        case "user":
            return tuple(root for root in here if root == USER_ROOT)
        case "project":
            return tuple(root for root in here if root != USER_ROOT)
        case "all":
            return there
    assert_never(scope)
