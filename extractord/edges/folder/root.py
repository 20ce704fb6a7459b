"""One memory root by its descriptor: what is there, and changes that are whole or not at all."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Container, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import EllipsisType

from extractord.durable import sync, write_new
from extractord.edges.folder.looking import look
from extractord.edges.folder.opening import make_root, open_root
from extractord.edges.folder.reaching import Reach
from extractord.edges.folder.swapping import replaced, taken
from extractord.errors import ConflictError, StoreError
from extractord.policy.requests import Found, PathFacts

TEMPORARY = ".tmp-"
"""How the name of an unfinished write begins: hidden, as no memory's name can be."""


_DISPLACED_BYTES = 1 << 30
"""What a person wrote may be of any size, whether or not it can be a memory."""


class Folder:
    """Implements `Folder` of the ports over a descriptor that it owns."""

    def __init__(self, descriptor: int, name: str) -> None:
        self._reach = Reach(descriptor, name)

    @classmethod
    def open(cls, path: Path, home: Path) -> Folder:
        """Given an absolute path, open the memory root there. Raise StoreError where it may not be one."""
        return cls(open_root(path, home), str(path))

    @classmethod
    def create(cls, path: Path, home: Path) -> Folder:
        """Given an absolute path, open the memory root there, made (0700) if it is missing."""
        make_root(path)
        return cls.open(path, home)

    @classmethod
    def from_fd(cls, descriptor: int, name: str = "memory root") -> Folder:
        """Given a descriptor that was opened and checked elsewhere, take it over."""
        return cls(descriptor, name)

    def is_at(self, path: Path) -> bool:
        """True if the path still leads to this very directory: it may have been moved, or put back."""
        try:
            there = path.stat()
        except OSError:
            return False
        return os.path.samestat(there, os.fstat(self._reach.root))

    def fileno(self) -> int:
        """Return the root's own descriptor."""
        return self._reach.root

    def close(self) -> None:
        """Close the descriptor; the folder is of no use any more."""
        os.close(self._reach.root)

    def names(self) -> tuple[str, ...]:
        """Return every Markdown file below the root, sorted.

        Hidden entries, links and special files are left out. Raise StoreError for a subfolder
        that cannot be read: it is never taken for an empty one.
        """
        return tuple(self.stats())

    def stats(self) -> dict[str, tuple[int, int, int]]:
        """Return size, mtime in ns and inode of each file that `names` has, sorted; in one walk."""
        found = {}
        waiting = [""]
        while waiting:
            folder = waiting.pop()
            above = f"{folder}/" if folder else ""
            with self._reach.to(folder, folder or ".") as here, os.scandir(here) as entries:
                for entry in entries:  # a search goes through ten thousand of them
                    name = entry.name
                    if name[0] == "." or not (name.isascii() or _is_utf8(name)):
                        continue
                    if name.endswith(".md") and entry.is_file(follow_symlinks=False):
                        try:
                            seen = entry.stat(follow_symlinks=False)
                        except FileNotFoundError:
                            continue
                        found[above + name] = (seen.st_size, seen.st_mtime_ns, seen.st_ino)
                    elif entry.is_dir(follow_symlinks=False):
                        waiting.append(above + name)
        return dict(sorted(found.items()))

    def read(self, path: str, limit: int) -> bytes:
        """Return the bytes of a regular file. Raise StoreError for any other, or over `limit` bytes."""
        folder, name = _split(path)
        with self._reach.to(folder, path) as here:
            self._reach.require_plain(path, os.stat(name, dir_fd=here, follow_symlinks=False))
            descriptor = os.open(
                name, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=here
            )
            with os.fdopen(descriptor, "rb") as file:
                self._reach.require_plain(path, os.fstat(descriptor))
                content = file.read(limit + 1)
        if len(content) > limit:
            raise StoreError(f"{self._reach.name}/{path} is larger than {limit} bytes")
        return content

    def facts(self, path: str) -> PathFacts:
        """Return what stands at `path` (`` for the root): no text, no trust."""
        if not path:
            return PathFacts(found=Found.DIRECTORY)
        with self._reach.explained(path):
            return look(self._reach.root, path, self._reach.uid)

    def stat(self, path: str) -> tuple[int, int, int] | None:
        """Return size, mtime in ns and inode of a regular file; None where there is none."""
        folder, name = _split(path)
        try:
            if folder:
                with self._reach.hold(folder) as here:
                    found = os.stat(name, dir_fd=here, follow_symlinks=False)
            else:  # most are here, and a survey asks for each
                found = os.stat(name, dir_fd=self._reach.root, follow_symlinks=False)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._reach.refused(path, error) from error
        return (found.st_size, found.st_mtime_ns, found.st_ino) if stat.S_ISREG(found.st_mode) else None

    def write(self, path: str, data: bytes, over: bytes | EllipsisType | None = ..., token: str = "") -> None:
        """Replace the file as a whole and durably: temporary file, fsync, rename, fsync.

        `token` makes the hidden name that it has first, and then what it displaced; with one, the
        last fsync is left to `settle`. Missing folders are made (0700). Raise ConflictError where not
        `over` stands there, None for no file, and StoreError for something other than a plain file: it
        is left as it is.
        """
        folder, name = _split(path)
        self._reach.make(folder, path)
        with self._reach.to(folder, path) as here:
            with suppress(FileNotFoundError):
                self._reach.require_plain(path, os.stat(name, dir_fd=here, follow_symlinks=False))
            with self._temporary(here, token) as temporary:
                write_new(temporary, data, here)
                if isinstance(over, EllipsisType):
                    os.rename(temporary, name, src_dir_fd=here, dst_dir_fd=here)
                elif not replaced(here, temporary, name, over):
                    raise self._changed(path)
            if not token:
                sync(here)

    def remove(self, path: str, over: bytes | EllipsisType = ..., token: str = "") -> None:
        """Unlink the file and fsync its directory, with a token by `settle`; empty folders go too.

        Raise ConflictError where not `over` stands there: it is left as it is.
        """
        folder, name = _split(path)
        with self._reach.to(folder, path) as here:
            self._reach.require_plain(path, os.stat(name, dir_fd=here, follow_symlinks=False))
            if isinstance(over, EllipsisType):
                os.unlink(name, dir_fd=here)
            else:
                with self._temporary(here, token) as temporary:
                    if not taken(here, name, temporary, over):
                        raise self._changed(path)
            if not token:
                sync(here)
        self.prune(path)

    def settle(self, paths: Iterable[str]) -> None:
        """Bring to the disk what was written and removed with a token: each folder once."""
        for folder in dict.fromkeys(_split(path)[0] for path in paths):
            with (
                self._reach.explained(folder or "."),
                suppress(FileNotFoundError),
                self._reach.hold(folder) as here,
            ):
                sync(here)  # one that went since it was empty was synced from above

    def prune(self, path: str) -> None:
        """Remove the folders above a path that are empty, each durably."""
        self._reach.prune(_split(path)[0])

    def displaced(self, path: str, token: str) -> bytes | None:
        """Return what has the hidden name of a change to `path` that was cut short; None for nothing."""
        folder, _ = _split(path)
        hidden = f"{folder}/{TEMPORARY}{token}" if folder else TEMPORARY + token
        try:
            if self.stat(hidden) is None:
                return None
        except StoreError:  # the folder itself is gone
            return None
        return self.read(hidden, _DISPLACED_BYTES)

    def sweep(self, keep: Container[str] = ()) -> None:
        """Unlink what has hidden names, but those of the tokens to keep; the caller holds the lock."""
        waiting = [""]
        while waiting:
            folder = waiting.pop()
            with self._reach.to(folder, folder or ".") as here, os.scandir(here) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False) and not entry.name.startswith("."):
                        waiting.append(f"{folder}/{entry.name}" if folder else entry.name)
                        continue
                    hidden = entry.name.startswith(TEMPORARY) and entry.is_file(follow_symlinks=False)
                    if hidden and entry.name.removeprefix(TEMPORARY) not in keep:
                        os.unlink(entry.name, dir_fd=here)

    def _changed(self, path: str) -> ConflictError:
        return ConflictError(f"{self._reach.name}/{path} changed meanwhile; it was left as it is")

    @contextmanager
    def _temporary(self, here: int, token: str) -> Iterator[str]:
        """A hidden name in a folder; what has it at the end goes."""
        temporary = TEMPORARY + (token or secrets.token_hex(8))
        try:
            yield temporary
        finally:
            with suppress(FileNotFoundError):
                os.unlink(temporary, dir_fd=here)


def _split(path: str) -> tuple[str, str]:
    """Given a path, return its folder and its last segment."""
    folder, _, name = path.rpartition("/")
    return folder, name


def _is_utf8(name: str) -> bool:
    """True for a name that was UTF-8 on the disk."""
    return name.isascii() or not any("\udc80" <= char <= "\udcff" for char in name)
