"""Files that belong to a person or to another program: read whole, written whole, links kept."""

from __future__ import annotations

import os
import secrets
import shutil
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from extractord.errors import InstallError


def read(path: str) -> str | None:
    """Given a file's path, return its text; None where there is none, a link that leads nowhere included.

    Raise InstallError where it is no plain file or no UTF-8, or cannot be read.
    """
    content = _content(path)
    try:
        return None if content is None else content.decode()
    except UnicodeDecodeError as error:
        raise InstallError(f"{path} is not UTF-8 at byte {error.start}: fix it first") from error


def write(path: str, before: str | None, after: str | None) -> tuple[str, ...]:
    """Put a text where `before` was, or remove the file; return the folders that were made for it.

    It is written beside the file, and takes its place and its rights at once; where the path is a
    link, the file that it leads to is changed. Raise InstallError where the file is not what it
    was, or cannot be written: its bytes are then untouched.
    """
    with _in_words(path):
        real = Path(os.path.realpath(path, strict=False))
        if read(path) != before:
            raise InstallError(f"{path} has changed meanwhile: run this again")
        if after is None:
            real.unlink(missing_ok=True)
            return ()
        made = _folders(real.parent)
        beside = real.with_name(f".{real.name}.{secrets.token_hex(4)}")
        try:
            _write(beside, after.encode(), 0o666 if before is None else 0o600)
            if before is not None:
                shutil.copystat(real, beside)
                os.utime(beside)
            beside.replace(real)
        finally:
            beside.unlink(missing_ok=True)
        return made


def _write(fresh: Path, content: bytes, mode: int) -> None:
    """Write a file that is not there yet, durably; no link is followed, and nobody reads more than may."""
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(descriptor)


def remove_folders(folders: Sequence[str]) -> None:
    """Remove folders, the outermost first, as far as nothing is in them."""
    for folder in reversed(folders):
        with suppress(OSError):
            Path(folder).rmdir()


def _content(path: str) -> bytes | None:
    with _in_words(path):
        try:
            found = Path(path).stat()
        except FileNotFoundError:
            return None
        if not stat.S_ISREG(found.st_mode):
            raise InstallError(f"{path} is not a file: move it away first")
        if found.st_nlink > 1:
            raise InstallError(
                f"{path} has {found.st_nlink} names: writing it would part them; unlink one first"
            )
        return Path(path).read_bytes()


def _folders(folder: Path) -> tuple[str, ...]:
    """Make a folder and those above it; return those that were not there."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    return tuple(str(each) for each in reversed(missing))


@contextmanager
def _in_words(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InstallError(f"{path}: {error.strerror}; nothing was changed") from error
