"""What commands that only read stand on: the roots as they are, the ledger unchanged."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from extractord.config import Settings, platform_surroundings
from extractord.core.records import Project
from extractord.core.survey import USER_ROOT
from extractord.edges import projects
from extractord.edges.folder import Folder
from extractord.edges.ledger import Ledger
from extractord.edges.store.roots import Roots


@contextmanager
def looked_at(settings: Settings) -> Iterator[tuple[Roots, tuple[str, ...]]]:
    """Given the settings, yield the roots and the names of those that are there; nothing is made."""
    _, home, _ = platform_surroundings()
    memory = settings.memory_dir
    with ExitStack() as stack:
        ledger = stack.enter_context(Ledger.open(settings.state_dir, readonly=True))
        folders: dict[str, Folder] = {}

        def folder(root: str) -> Folder:
            if root not in folders:
                folders[root] = Folder.open(memory / root, Path(home))
                stack.callback(folders[root].close)
            return folders[root]

        yield Roots(folder, ledger.versions), _names(memory)


def project_of(settings: Settings, directory: Path | None) -> Project:
    """Given a directory, the current one where none is named, return its project."""
    _, home, _ = platform_surroundings()
    return projects.resolve(
        str((directory or Path.cwd()).expanduser().absolute()),
        configured=settings.projects.identities,
        worktrees=settings.projects.worktrees,
        home=home,
        tmp=tempfile.gettempdir(),
    )


def _names(memory: Path) -> tuple[str, ...]:
    found = [USER_ROOT] if (memory / USER_ROOT).is_dir() else []
    below = memory / "projects"
    if below.is_dir():
        found += sorted(f"projects/{place.name}" for place in below.iterdir() if place.is_dir())
    return tuple(found)
