"""A person's own words about a memory: a copy in their editor, and a diff of what came of it."""

from __future__ import annotations

import difflib
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from extractord.config import platform_surroundings
from extractord.core.printable import printable
from extractord.errors import ExtractordError, UsageError


@contextmanager
def edited(text: str, name: str) -> Iterator[str]:
    """Given a text, yield what a person's editor leaves of a copy. Raise UsageError where it fails.

    Where the words cannot be used, the copy stays and its place is said.
    """
    environ, _, _ = platform_surroundings()
    editor = environ.get("VISUAL") or environ.get("EDITOR")
    if editor is None and not sys.stdin.isatty():
        raise UsageError("this is no terminal to open an editor at: set EDITOR, or change the file itself")
    editor = editor or "vi"
    folder = Path(tempfile.mkdtemp(prefix="extractord-"))
    copy = folder / name.rpartition("/")[2]
    copy.write_bytes(text.encode())
    try:
        yield _left(editor, copy)
    except ExtractordError:
        if copy.read_bytes() != text.encode():
            print(f"extractord: your words are kept in {copy}", file=sys.stderr)
            folder = Path()
        raise
    finally:
        if folder.name:
            shutil.rmtree(folder, ignore_errors=True)


def _left(editor: str, copy: Path) -> str:
    try:
        ended = subprocess.run([*shlex.split(editor), str(copy)], check=False)  # noqa: S603 - their own editor
    except (OSError, ValueError) as error:
        raise UsageError(f"the editor {editor!r} cannot be started ({error}): set EDITOR") from error
    if ended.returncode:
        raise UsageError(f"the editor {editor!r} ended with {ended.returncode}: nothing was changed")
    try:
        return copy.read_bytes().decode()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"what the editor left cannot be read ({error}): nothing was changed") from error


def diff(before: str | None, after: str | None, place: str) -> Iterator[str]:
    """Given a memory's texts, None for no file, yield a unified diff's lines as they can be shown."""
    old, new = (before or "").splitlines(), (after or "").splitlines()
    names = ("nothing" if before is None else place, "nothing" if after is None else place)
    for line in difflib.unified_diff(old, new, *names, lineterm="", n=3):
        yield printable(line)


def key() -> str:
    """Wait for a key and return it; what was typed before is dropped, the end of input is `q`.

    A key that sends several characters, as arrows do, is all of them: never one that decides.
    """
    import termios  # noqa: PLC0415 - only where a terminal is
    import tty  # noqa: PLC0415

    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    try:
        tty.setcbreak(descriptor)
        pressed = os.read(descriptor, 64)
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
    return pressed.decode("ascii", "replace").lower() or "q"
