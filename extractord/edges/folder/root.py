"""One memory root by its descriptor: what is there, and changes that are whole or not at all."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Container, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import EllipsisType

from extractord.edges.folder.descend import DIRECTORY, open_below
from extractord.edges.folder.durable import sync, write_new
from extractord.edges.folder.looking import look
from extractord.edges.folder.opening import make_root, open_root
from extractord.edges.folder.swapping import replaced, taken
from extractord.errors import ConflictError, StoreError
from extractord.policy.requests import Found, PathFacts

TEMPORARY = ".tmp-"
"""How the name of an unfinished write begins: hidden, so that no memory can have it."""


_DISPLACED_BYTES = 1 << 30
"""What a person wrote may be of any size, whether or not it can be a memory."""


class Folder:
    """Implements `Folder` of the ports over a descriptor that it owns."""

    def __init__(self, descriptor: int, name: str) -> None:
        self._root = descriptor
        self._name = name
        self._uid = os.geteuid()
        self._device = os.fstat(descriptor).st_dev

    @classmethod
    def open(cls, path: Path, home: Path) -> Folder:
        """Given an absolute path, open the memory root there. Raise StoreError where it may not be one."""
        return cls(open_root(path, home), str(path))

    @classmethod
    def create(cls, path: Path, home: Path) -> Folder:
        """Given an absolute path, open the memory root there, made (0700) where it lacks."""
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
        return os.path.samestat(there, os.fstat(self._root))

    def fileno(self) -> int:
        """Return the root's own descriptor."""
        return self._root

    def close(self) -> None:
        """Close the descriptor; the folder is of no use any more."""
        os.close(self._root)

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
            with self._explained(folder or "."), self._reach(folder) as here, os.scandir(here) as entries:
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
        with self._explained(path), self._reach(folder) as here:
            self._require_plain(path, os.stat(name, dir_fd=here, follow_symlinks=False))
            descriptor = os.open(
                name, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=here
            )
            with os.fdopen(descriptor, "rb") as file:
                self._require_plain(path, os.fstat(descriptor))
                content = file.read(limit + 1)
        if len(content) > limit:
            raise StoreError(f"{self._name}/{path} is larger than {limit} bytes")
        return content

    def facts(self, path: str) -> PathFacts:
        """Return what stands at `path` (`` for the root): no text, no trust."""
        if not path:
            return PathFacts(found=Found.DIRECTORY)
        with self._explained(path):
            return look(self._root, path, self._uid)

    def stat(self, path: str) -> tuple[int, int, int] | None:
        """Return size, mtime in ns and inode of a regular file; None where there is none."""
        folder, name = _split(path)
        try:
            if folder:
                with self._reach(folder) as here:
                    found = os.stat(name, dir_fd=here, follow_symlinks=False)
            else:  # most are here, and a survey asks for each
                found = os.stat(name, dir_fd=self._root, follow_symlinks=False)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._refused(path, error) from error
        return (found.st_size, found.st_mtime_ns, found.st_ino) if stat.S_ISREG(found.st_mode) else None

    def write(self, path: str, data: bytes, over: bytes | EllipsisType | None = ..., token: str = "") -> None:
        """Replace the file as a whole and durably: temporary file, fsync, rename, fsync.

        `token` makes the hidden name that it has first, and then what it displaced; with one, the
        last fsync is left to `settle`. Folders that lack are made (0700). Raise ConflictError where not
        `over` stands there, None for no file, and StoreError for something other than a plain file: it
        is left as it is.
        """
        folder, name = _split(path)
        with self._explained(path):
            self._make_folders(folder)
        with self._explained(path), self._reach(folder) as here:
            with suppress(FileNotFoundError):
                self._require_plain(path, os.stat(name, dir_fd=here, follow_symlinks=False))
            with self._temporary(here, token) as temporary:
                write_new(here, temporary, data)
                if isinstance(over, EllipsisType):
                    os.rename(temporary, name, src_dir_fd=here, dst_dir_fd=here)
                elif not replaced(here, temporary, name, over):
                    raise ConflictError(f"{self._name}/{path} changed meanwhile; it was left as it is")
            if not token:
                sync(here)

    def remove(self, path: str, over: bytes | EllipsisType = ..., token: str = "") -> None:
        """Unlink the file and fsync its directory, with a token by `settle`; empty folders go too.

        Raise ConflictError where not `over` stands there: it is left as it is.
        """
        folder, name = _split(path)
        with self._explained(path), self._reach(folder) as here:
            self._require_plain(path, os.stat(name, dir_fd=here, follow_symlinks=False))
            if isinstance(over, EllipsisType):
                os.unlink(name, dir_fd=here)
            else:
                with self._temporary(here, token) as temporary:
                    if not taken(here, name, temporary, over):
                        raise ConflictError(f"{self._name}/{path} changed meanwhile; it was left as it is")
            if not token:
                sync(here)
        self.prune(path)

    def settle(self, paths: Iterable[str]) -> None:
        """Bring to the disk what was written and removed with a token: each folder once."""
        for folder in dict.fromkeys(_split(path)[0] for path in paths):
            with self._explained(folder or "."), suppress(FileNotFoundError), self._reach(folder) as here:
                sync(here)  # one that went since it was empty was synced from above

    def prune(self, path: str) -> None:
        """Remove the folders above a path that are empty, each durably."""
        folder, _ = _split(path)
        while folder:
            above, name = _split(folder)
            with self._explained(folder), self._reach(above) as here:
                try:
                    os.rmdir(name, dir_fd=here)
                except OSError as error:
                    if error.errno in {errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT}:
                        return
                    raise
                sync(here)
            folder = above

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
            with self._explained(folder or "."), self._reach(folder) as here, os.scandir(here) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False) and not entry.name.startswith("."):
                        waiting.append(f"{folder}/{entry.name}" if folder else entry.name)
                        continue
                    hidden = entry.name.startswith(TEMPORARY) and entry.is_file(follow_symlinks=False)
                    if hidden and entry.name.removeprefix(TEMPORARY) not in keep:
                        os.unlink(entry.name, dir_fd=here)

    @contextmanager
    def _temporary(self, here: int, token: str) -> Iterator[str]:
        """A hidden name in a folder; what has it at the end goes."""
        temporary = TEMPORARY + (token or secrets.token_hex(8))
        try:
            yield temporary
        finally:
            with suppress(FileNotFoundError):
                os.unlink(temporary, dir_fd=here)

    def _make_folders(self, folder: str) -> None:
        """Make what lacks of a folder below the root, each durably."""
        above = ""
        for name in folder.split("/") if folder else ():
            with self._reach(above) as here:
                try:
                    os.mkdir(name, 0o700, dir_fd=here)
                except FileExistsError:
                    pass
                else:
                    sync(here)
            above = f"{above}/{name}" if above else name

    def _require_plain(self, path: str, found: os.stat_result) -> None:
        """Raise StoreError for what is not a regular file of ours with one name on the root's device."""
        plain = stat.S_ISREG(found.st_mode) and found.st_nlink == 1
        if not plain or found.st_uid != self._uid or found.st_dev != self._device:
            raise StoreError(
                f"{self._name}/{path} is no plain file of its owner with a single name; left as it is"
            )

    @contextmanager
    def _reach(self, folder: str) -> Iterator[int]:
        """Hold a descriptor of a folder below the root; OSError where there is no way to it."""
        here = open_below(self._root, folder, DIRECTORY) if folder else os.dup(self._root)
        try:
            yield here
        finally:
            os.close(here)

    @contextmanager
    def _explained(self, path: str) -> Iterator[None]:
        """Turn what the system says about a path into StoreError."""
        try:
            yield
        except OSError as error:
            raise self._refused(path, error) from error

    def _refused(self, path: str, error: OSError) -> StoreError:
        return StoreError(f"{self._name}/{path}: {error.strerror or error}")


def _split(path: str) -> tuple[str, str]:
    """Given a path, return its folder and its last segment."""
    folder, _, name = path.rpartition("/")
    return folder, name


def _is_utf8(name: str) -> bool:
    """True for a name that was UTF-8 on the disk."""
    return name.isascii() or not any("\udc80" <= char <= "\udcff" for char in name)
