"""What is put into which file, kept in the state directory with the files as they were before."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import msgspec

from extractord.core.connecting.target import Receipt
from extractord.errors import InstallError

FOLDER = "installed"
_RECEIPTS = "receipts.json"
_DECODER = msgspec.json.Decoder(tuple[Receipt, ...])


class Receipts:
    """The receipts and backups of one target; nothing is made before there is something to keep."""

    def __init__(self, state: Path, target: str) -> None:
        """Look below this state directory."""
        self.folder = state / FOLDER / target

    def rows(self) -> tuple[Receipt, ...]:
        """Return what is installed. Raise InstallError where that cannot be read."""
        place = self.folder / _RECEIPTS
        try:
            return _DECODER.decode(place.read_bytes())
        except FileNotFoundError:
            return ()
        except (OSError, msgspec.MsgspecError) as error:
            raise InstallError(f"{place} cannot be read ({error}): move it away to go on without") from error

    def keep(self, rows: Iterable[Receipt]) -> None:
        """Write down what is installed; where that is nothing, remove all of it."""
        rows = tuple(rows)
        if not rows:
            shutil.rmtree(self.folder, ignore_errors=True)
            with suppress(OSError):  # others are installed
                self.folder.parent.rmdir()
            return
        self._write(_RECEIPTS, msgspec.json.format(msgspec.json.encode(rows)))

    def back_up(self, path: str, text: str) -> str:
        """Keep a file's text as it is before anything is put into it; return the backup's name."""
        name = f"{hashlib.sha256(path.encode()).hexdigest()[:8]}-{Path(path).name}"
        self._write(name, text.encode())
        return name

    def _write(self, name: str, content: bytes) -> None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        fresh = self.folder / f".{name}"
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            os.fsync(file.fileno())
        fresh.replace(self.folder / name)
