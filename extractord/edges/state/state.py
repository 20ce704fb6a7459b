"""The state directory, opened, and the lock of the one daemon that serves it."""

from __future__ import annotations

import fcntl
import os
import stat
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from extractord.edges.state.excluding import exclude_in, excluded_in
from extractord.edges.state.files import in_words
from extractord.edges.state.owning import Identity, adopt, claim, identity_at
from extractord.errors import AlreadyRunning, ConfigError, StoreError

_OWN = 0o700
_LOCK_TRIES = 5
_LOCK_WAIT_S = 0.05
_LOOK_S = 10.0
"""So long is waited for those who look: one may be stopped while it does."""


@dataclass(frozen=True, slots=True)
class Daemon:
    """The daemon that serves a state directory now."""

    pid: int | None
    """None in the moment between its lock and its writing this down."""


class State:
    """A state directory of this user's own, made where there is none."""

    def __init__(self, directory: Path, identity: Identity) -> None:
        self.directory = directory
        self.identity = identity
        self._lock: int | None = None

    @classmethod
    def open(cls, directory: Path) -> Self:
        """Given its place, return the state directory with its identity, both made where missing.

        Raise ConfigError where it is a link, somebody else's, or can be written by others, and
        where its identity cannot be read.
        """
        with in_words(directory, ConfigError):
            directory.mkdir(mode=_OWN, parents=True, exist_ok=True)
            _check_directory(directory)
            if stat.S_IMODE(directory.lstat().st_mode) != _OWN:
                directory.chmod(_OWN)
            return cls(directory, identity_at(directory / "identity"))

    def lock(self) -> None:
        """Become the one daemon of this state until `close` or the process's end.

        Raise AlreadyRunning where there is one. Start no process that outlives this one while
        it is held: a copy of the descriptor keeps the lock.
        """
        with in_words(self.directory / "lock", ConfigError):
            descriptor = os.open(
                self.directory / "lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600
            )
        refused, until = 0, time.monotonic() + _LOOK_S
        while refused < _LOCK_TRIES and time.monotonic() < until:
            if _flock(descriptor, fcntl.LOCK_EX):
                self._lock = descriptor
                with in_words(self.directory / "lock", StoreError):
                    os.ftruncate(descriptor, 0)
                    os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
                return
            if _flock(descriptor, fcntl.LOCK_SH):  # whoever has it only looks, as `daemon_of` does
                fcntl.flock(descriptor, fcntl.LOCK_UN)
            else:
                refused += 1
            time.sleep(_LOCK_WAIT_S)
        pid = _pid(descriptor)
        os.close(descriptor)
        raise AlreadyRunning(
            f"another extractord{f' (process {pid})' if pid else ''} serves {self.directory}: stop it "
            f"first, or set EXTRACTORD_STATE_DIR to another directory"
        )

    def close(self) -> None:
        """Give the lock back."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def claim_memory(self, memory: Path) -> None:
        """Given the memory directory, mark it as this state's, or find that it is.

        Raise StoreError where it is another state's.
        """
        claim(memory, self.identity)

    def adopt_memory(self, memory: Path) -> None:
        """Given the memory directory, make it this state's, whosever it was."""
        adopt(memory, self.identity)

    def excluded(self) -> tuple[str, ...]:
        """Directories that a person excluded."""
        return excluded_in(self.directory)

    def exclude(self, directory: str, *, excluded: bool) -> None:
        """From now on the sessions of a directory are never read, or are read again."""
        exclude_in(self.directory, directory, excluded=excluded)


def daemon_of(directory: Path) -> Daemon | None:
    """Given a state directory, return the daemon that serves it; makes and changes nothing."""
    try:
        descriptor = os.open(directory / "lock", os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        # Shared, so that two who look do not take each other for the daemon.
        return None if _flock(descriptor, fcntl.LOCK_SH) else Daemon(_pid(descriptor))
    finally:
        os.close(descriptor)


def _flock(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _pid(descriptor: int) -> int | None:
    written = os.pread(descriptor, 20, 0).strip()
    return int(written) if written.isdigit() else None


def _check_directory(directory: Path) -> None:
    found = directory.lstat()
    if stat.S_ISLNK(found.st_mode):
        raise ConfigError(
            f"the state directory {directory} is a link: set EXTRACTORD_STATE_DIR to "
            f"{directory.resolve()} itself"
        )
    if found.st_uid != os.geteuid():
        raise ConfigError(
            f"the state directory {directory} belongs to another user (uid {found.st_uid}): set "
            f"EXTRACTORD_STATE_DIR to a directory of your own"
        )
    if found.st_mode & 0o022:
        raise ConfigError(
            f"the state directory {directory} can be written by others: look whether anything in it was "
            f"changed, then run `chmod 700 {directory}`"
        )
