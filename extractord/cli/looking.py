"""What commands that only read stand on: the roots as they are, the ledger unchanged."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from extractord.config import Settings, platform_surroundings
from extractord.core.records import Project
from extractord.edges import projects
from extractord.edges.folder import Folder
from extractord.edges.ledger import Ledger
from extractord.edges.store.roots import Roots, names_of


@contextmanager
def looked_at(settings: Settings) -> Iterator[tuple[Roots, tuple[str, ...], Ledger]]:
    """Given the settings, yield the roots, the names of those there are, and the ledger; nothing is made."""
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

        yield Roots(folder, ledger.versions, ledger.surveys), names_of(memory), ledger


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
