"""The folders below a root: reached through descriptors, made, pruned; and what is said where it fails."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager

from extractord.durable import sync
from extractord.edges.folder.descend import DIRECTORY, open_below
from extractord.errors import StoreError


class Reach:
    """From a root's descriptor; `name` is what the root is called in what is said."""

    def __init__(self, root: int, name: str) -> None:
        self.root = root
        self.name = name
        self.uid = os.geteuid()
        self._device = os.fstat(root).st_dev

    def require_plain(self, path: str, found: os.stat_result) -> None:
        """Raise StoreError for what is not a regular file of ours with one name on the root's device."""
        plain = stat.S_ISREG(found.st_mode) and found.st_nlink == 1
        if not plain or found.st_uid != self.uid or found.st_dev != self._device:
            raise StoreError(
                f"{self.name}/{path} is not a plain file of its owner with a single name; left as it is"
            )

    @contextmanager
    def to(self, folder: str, path: str) -> Iterator[int]:
        """Hold a descriptor of a folder below the root; what the system says is told of `path`."""
        with self.explained(path), self.hold(folder) as here:
            yield here

    @contextmanager
    def hold(self, folder: str) -> Iterator[int]:
        """Hold a descriptor of a folder below the root; OSError where there is no way to it."""
        here = open_below(self.root, folder, DIRECTORY) if folder else os.dup(self.root)
        try:
            yield here
        finally:
            os.close(here)

    @contextmanager
    def explained(self, path: str) -> Iterator[None]:
        """Turn what the system says about a path into StoreError."""
        try:
            yield
        except OSError as error:
            raise self.refused(path, error) from error

    def make(self, folder: str, path: str) -> None:
        """Make a folder below the root and its missing parents, each durably; an error names `path`."""
        above = ""
        for name in folder.split("/") if folder else ():
            with self.to(above, path) as here:
                try:
                    os.mkdir(name, 0o700, dir_fd=here)
                except FileExistsError:
                    pass
                else:
                    sync(here)
            above = f"{above}/{name}" if above else name

    def prune(self, folder: str) -> None:
        """Remove a folder that is empty, and those above it that are then, each durably."""
        while folder:
            above, _, name = folder.rpartition("/")
            with self.to(above, folder) as here:
                try:
                    os.rmdir(name, dir_fd=here)
                except OSError as error:
                    if error.errno in {errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT}:
                        return
                    raise
                sync(here)
            folder = above

    def refused(self, path: str, error: OSError) -> StoreError:
        """Given what the system said about a path, return it as an error of ours."""
        return StoreError(f"{self.name}/{path}: {error.strerror or error}")
