"""Files that a setting names: whether one can be used, and the key that one holds alone."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

from extractord.errors import ConfigError

_OF_SYSTEMD = re.compile(r"/run/(?:user/\d+/)?credentials/")
"""There the group's bits are the mask of an access list that names this account alone."""


def fault_of(setting: str, path: Path, *, is_secret: bool) -> str | None:
    """Given a setting and the file that it names, return what keeps it from being used; nothing is read.

    What is wrong stands before the last `: `, what to do behind it.
    """
    try:
        found = path.stat()
        if stat.S_ISREG(found.st_mode):
            path.open("rb").close()
    except OSError as error:
        return _unreadable(setting, path, error, is_secret=is_secret)
    return _against(setting, path, found, is_secret=is_secret)


def key_in(path: str) -> str:
    """Given the file that holds a key alone, return it. Raise ConfigError where it cannot be used."""
    setting, place = "model.key_file", Path(path)
    try:
        with place.open("rb") as file:
            found, key = os.fstat(file.fileno()), file.read().strip()
    except OSError as error:
        raise ConfigError(_unreadable(setting, place, error, is_secret=True)) from None
    if fault := _against(setting, place, found, is_secret=True):
        raise ConfigError(fault)
    if not key or not key.isascii():
        raise ConfigError(f"`{setting}` names {path}, which holds no key: {_wanted(is_secret=True)}")
    return key.decode("ascii")


def _unreadable(setting: str, path: Path, error: OSError, *, is_secret: bool) -> str:
    return (
        f"`{setting}` names {path}, which cannot be read ({error.strerror}): {_wanted(is_secret=is_secret)}"
    )


def _against(setting: str, path: Path, found: os.stat_result, *, is_secret: bool) -> str | None:
    shared = stat.S_IRWXO if _OF_SYSTEMD.match(str(path)) else stat.S_IRWXG | stat.S_IRWXO
    if not stat.S_ISREG(found.st_mode):
        return f"`{setting}` names {path}, which is not a file: {_wanted(is_secret=is_secret)}"
    if is_secret and found.st_mode & shared:
        return f"`{setting}` names {path}, which others can read: run `chmod 600 {path}`"
    if is_secret and not found.st_size:
        return f"`{setting}` names {path}, which is empty: {_wanted(is_secret=is_secret)}"
    return None


def _wanted(*, is_secret: bool) -> str:
    return "put it there alone, mode 0600" if is_secret else "give a file that this user may read"
