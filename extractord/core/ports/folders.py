"""What is asked of a folder of memories, and of the view that a run has of them."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from types import EllipsisType
from typing import Protocol

from extractord.policy.requests import PathFacts, RootKind


class Folder(Protocol):
    """One memory root, reached through its descriptor and never through a link.

    Paths are relative, with `/`, and already judged. Every method raises StoreError with the
    file's name where the disk refuses.
    """

    def fileno(self) -> int:
        """The root's own descriptor, to be handed to a child."""
        ...

    def names(self) -> tuple[str, ...]:
        """Every Markdown file below the root, sorted; links and special files left out."""
        ...

    def stats(self) -> Mapping[str, tuple[int, int, int]]:
        """Size, mtime in ns and inode of each file that `names` has, sorted; in one walk."""
        ...

    def read(self, path: str, limit: int) -> bytes:
        """The bytes of a regular file of at most `limit` bytes."""
        ...

    def facts(self, path: str) -> PathFacts:
        """What stands at `path`: kind, links, owner, device, twin, size; no text, no trust."""
        ...

    def stat(self, path: str) -> tuple[int, int, int] | None:
        """Size, mtime in ns and inode of a regular file; None where there is none."""
        ...

    def write(self, path: str, data: bytes, over: bytes | EllipsisType | None = ..., token: str = "") -> None:
        """Replace the file as a whole and durably: temporary file, fsync, rename, fsync.

        `token` makes the hidden name that it has first, and then what it displaced; with one, the
        last fsync is left to `settle`. Raise ConflictError where not `over` stands there, None for no
        file: it is left as it is.
        """
        ...

    def remove(self, path: str, over: bytes | EllipsisType = ..., token: str = "") -> None:
        """Unlink the file and fsync its directory, with a token by `settle`; empty folders go too.

        Raise ConflictError where not `over` stands there: it is left as it is.
        """
        ...

    def settle(self, paths: Iterable[str]) -> None:
        """Bring to the disk what was written and removed with a token: each folder once."""
        ...

    def displaced(self, path: str, token: str) -> bytes | None:
        """What has the hidden name of a change to `path` that was cut short; None for nothing."""
        ...

    def sweep(self, keep: Container[str] = ()) -> None:
        """Unlink what has hidden names, but those of the tokens to keep; the caller holds the lock."""
        ...

    def prune(self, path: str) -> None:
        """Remove the folders above a path that are empty."""
        ...


class View(Protocol):
    """A run's read-only view of its two roots; what the child has."""

    def names(self, root: RootKind) -> tuple[str, ...]:
        """Every Markdown file below the root, sorted."""
        ...

    def read(self, root: RootKind, path: str) -> bytes:
        """The bytes as they are on disk; StoreError where they cannot be had."""
        ...

    def facts(self, root: RootKind, path: str) -> PathFacts:
        """What stands there, without trust."""
        ...
