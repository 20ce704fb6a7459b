"""The state directory: its identity, the daemon's lock, and the memory directory that belongs to it."""

from __future__ import annotations

import fcntl
import os
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import msgspec
from msgspec import Struct

from extractord.errors import AlreadyRunning, ConfigError, StoreError

MARKER = ".extractord"
EXCLUDED = "excluded.json"
_OWN = 0o700
_LOCK_TRIES = 5
_LOCK_WAIT_S = 0.05


class Identity(Struct, frozen=True, kw_only=True):
    """Who owns a memory directory: an id to be seen, and a key that is never shown."""

    id: str
    """32 hex digits."""
    key: bytes
    """32 bytes; evidence is keyed with it."""


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
        with _in_words(directory, ConfigError):
            directory.mkdir(mode=_OWN, parents=True, exist_ok=True)
            _check_directory(directory)
            if stat.S_IMODE(directory.lstat().st_mode) != _OWN:
                directory.chmod(_OWN)
            return cls(directory, _identity(directory / "identity"))

    def lock(self) -> None:
        """Become the one daemon of this state until `close` or the process's end.

        Raise AlreadyRunning where there is one. Start no process that outlives this one while
        it is held: a copy of the descriptor keeps the lock.
        """
        with _in_words(self.directory / "lock", ConfigError):
            descriptor = os.open(
                self.directory / "lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600
            )
        for _ in range(_LOCK_TRIES):
            if _flock(descriptor, fcntl.LOCK_EX):
                os.ftruncate(descriptor, 0)
                os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
                self._lock = descriptor
                return
            time.sleep(_LOCK_WAIT_S)  # `daemon_of` may be looking at it
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
        with _in_words(memory, StoreError):
            memory.mkdir(mode=0o700, parents=True, exist_ok=True)
            _write_once(memory / MARKER, self._mark())
            owner = _read(memory / MARKER, StoreError).decode("ascii", "replace").strip()
        if owner != self.identity.id:
            raise StoreError(
                f"{memory} belongs to the state {owner[:8]}, and this one is {self.identity.id[:8]}: a "
                f"memory directory has one ledger; run `extractord project adopt` to make it this one's"
            )

    def adopt_memory(self, memory: Path) -> None:
        """Given the memory directory, make it this state's, whosever it was."""
        with _in_words(memory, StoreError):
            memory.mkdir(mode=0o700, parents=True, exist_ok=True)
            with _beside(memory / MARKER, self._mark()) as made:
                made.replace(memory / MARKER)

    def excluded(self) -> tuple[str, ...]:
        """Directories that a person excluded; kept beside the ledger, since they must outlive it."""
        return excluded_in(self.directory)

    def exclude(self, directory: str, *, excluded: bool) -> None:
        """From now on the sessions of a directory are never read, or are read again."""
        place = self.directory / EXCLUDED
        with _in_words(place, ConfigError), _alone(self.directory):
            kept = [each for each in self.excluded() if each != directory]
            if excluded:
                kept.append(directory)
            with _beside(place, msgspec.json.encode(kept) + b"\n") as made:
                made.replace(place)

    def _mark(self) -> bytes:
        return f"{self.identity.id}\n".encode()


def excluded_in(directory: Path) -> tuple[str, ...]:
    """Given a state directory, return the directories that are excluded there.

    Raise ConfigError where that cannot be read: what was excluded must not be read by mistake.
    """
    place = directory / EXCLUDED
    if not os.path.lexists(place):
        return ()
    with _in_words(place, ConfigError):
        raw = place.read_bytes()
    try:
        return msgspec.json.decode(raw, type=tuple[str, ...])
    except msgspec.MsgspecError as error:
        raise ConfigError(f"{place} is damaged ({error}): mend it, a JSON list of directories") from error


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


def owner_of(directory: Path, memory: Path) -> tuple[str, str]:
    """Given both directories, return the ids of the state and of the memory's owner, empty where none is.

    Makes and changes nothing. Raise ConfigError or StoreError where one cannot be read.
    """
    ours = theirs = ""
    if os.path.lexists(directory / "identity"):
        with _in_words(directory / "identity", ConfigError):
            ours = _known(directory / "identity").id
    if os.path.lexists(memory / MARKER):
        with _in_words(memory / MARKER, StoreError):
            theirs = _read(memory / MARKER, StoreError).decode("ascii", "replace").strip()
    return ours, theirs


@contextmanager
def _in_words(place: Path, fault: type[ConfigError | StoreError]) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise fault(
            f"{place} cannot be used ({error.strerror}): see that it is a directory that this user may write"
        ) from error


@contextmanager
def _alone(directory: Path) -> Iterator[None]:
    """Hold a directory against others who read and write a file in it the same way."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
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


def _identity(path: Path) -> Identity:
    fresh = Identity(id=secrets.token_hex(16), key=secrets.token_bytes(32))
    _write_once(path, msgspec.json.encode(fresh) + b"\n")
    return _known(path)


def _known(path: Path) -> Identity:
    content = _read(path, ConfigError)
    if path.lstat().st_mode & 0o077:
        raise ConfigError(f"{path} holds a key and can be read by others: run `chmod 600 {path}`")
    try:
        return msgspec.json.decode(content, type=Identity)
    except msgspec.DecodeError as error:
        raise ConfigError(
            f"{path} is damaged ({error}) and was left as it is: put it back from a backup; without one, "
            f"move it aside, start again, and run `extractord project adopt`"
        ) from error


def _read(path: Path, fault: type[ConfigError | StoreError]) -> bytes:
    """The beginning of a regular file of this user's own; never through a link."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
            raise fault(f"{path} is not a file of this user: move it aside")
        return file.read(4096)


def _write_once(path: Path, content: bytes) -> None:
    """Write a file that is not there yet: whole or not at all, and the first of two stays."""
    if os.path.lexists(path):
        return
    with _beside(path, content) as made:
        try:
            os.link(made, path)
        except FileExistsError:
            return  # another process was first


@contextmanager
def _beside(path: Path, content: bytes) -> Iterator[Path]:
    """A durable file of mode 0600 beside `path`, to be linked or moved there; gone afterwards."""
    made = path.with_name(f"{path.name}.new-{secrets.token_hex(4)}")
    descriptor = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(descriptor)
        yield made
    finally:
        made.unlink(missing_ok=True)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
