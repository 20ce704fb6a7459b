"""A run's read-only view of its two roots."""

from __future__ import annotations

from collections.abc import Mapping

from extractord.edges.folder.root import Folder
from extractord.errors import StoreError
from extractord.policy.requests import Found, Law, PathFacts, RootKind

_READ_BYTES = Law(roots=()).read_bytes


class FolderView:
    """Implements `View`; a root that is not there yet is empty."""

    def __init__(self, folders: Mapping[RootKind, Folder]) -> None:
        self._folders = folders

    def names(self, root: RootKind) -> tuple[str, ...]:
        """Return every Markdown file below the root, sorted."""
        folder = self._folders.get(root)
        return folder.names() if folder is not None else ()

    def read(self, root: RootKind, path: str) -> bytes:
        """Return the bytes as they are on disk. Raise StoreError where they cannot be had."""
        folder = self._folders.get(root)
        if folder is None:
            raise StoreError(f"{path}: there is no {root} root yet")
        return folder.read(path, _READ_BYTES)

    def facts(self, root: RootKind, path: str) -> PathFacts:
        """Return what stands there, without text and trust."""
        folder = self._folders.get(root)
        if folder is not None:
            return folder.facts(path)
        return PathFacts(found=Found.NOTHING if path else Found.DIRECTORY)
