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
    wanted = "put it there alone, mode 0600" if is_secret else "give a file that this user may read"
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            return f"`{setting}` names {path}, which is not a file: {wanted}"
        path.open("rb").close()
    except OSError as error:
        return f"`{setting}` names {path}, which cannot be read ({error.strerror}): {wanted}"
    if is_secret and found.st_mode & _shared(str(path)):
        return f"`{setting}` names {path}, which others can read: run `chmod 600 {path}`"
    if is_secret and not found.st_size:
        return f"`{setting}` names {path}, which is empty: {wanted}"
    return None


def key_in(path: str) -> str:
    """Given the file that holds a key alone, return it. Raise ConfigError where it cannot be used."""
    try:
        with open(path, encoding="ascii") as file:  # noqa: PTH123 - the descriptor is wanted
            mode = os.fstat(file.fileno()).st_mode
            key = file.read().strip()
    except OSError as error:
        raise ConfigError(f"`model.key_file` {path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"`model.key_file` {path} holds no key: put the key alone into it") from None
    if mode & _shared(path):
        raise ConfigError(f"`model.key_file` {path} can be read by others: chmod 600 it")
    if not key:
        raise ConfigError(f"`model.key_file` {path} is empty: put the key alone into it")
    return key


def _shared(path: str) -> int:
    return stat.S_IRWXO if _OF_SYSTEMD.match(path) else stat.S_IRWXG | stat.S_IRWXO
