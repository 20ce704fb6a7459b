"""Somebody swaps a folder for a link all the while: nothing outside is ever read, written or removed."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from extractord.edges.folder import Folder
from extractord.edges.folder.descend import DIRECTORY, walk_below
from extractord.errors import StoreError

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the swap is one call on Linux alone")
RACE_S = float(os.environ.get("EXTRACTORD_RACE_S", "2"))
"""60 by hand."""
PATIENCE_S = 60
SWAP = """
import ctypes, sys
libc = ctypes.CDLL(None)
here, there = (name.encode() for name in sys.argv[1:])
print("swapping", flush=True)
while True:
    libc.renameat2(-100, here, -100, there, 2)
"""


def swapped(tmp_path: Path) -> tuple[Path, Path, subprocess.Popen[str]]:
    """A root whose folder `sub` is again and again a link to what lies outside."""
    root, outside = tmp_path / "root", tmp_path / "outside"
    (root / "sub").mkdir(parents=True, mode=0o700)
    outside.mkdir()
    (outside / "a.md").write_text("theirs")
    (root / "sub/a.md").write_text("ours")
    (tmp_path / "link").symlink_to(outside)
    swapping = subprocess.Popen(
        [sys.executable, "-c", SWAP, str(root / "sub"), str(tmp_path / "link")],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert swapping.stdout is not None
    swapping.stdout.readline()
    return root, outside, swapping


def has_exchange() -> bool:
    return hasattr(ctypes.CDLL(None), "renameat2")


@pytest.mark.skipif(not has_exchange(), reason="the C library has no renameat2")
def test_no_read_write_or_removal_escapes_from_the_root(tmp_path: Path) -> None:
    root, outside, swapping = swapped(tmp_path)
    folder = Folder.open(root, tmp_path / "home")
    read, written, refused = set(), 0, 0
    end = time.monotonic() + RACE_S
    try:
        while time.monotonic() < end or not (written and refused):
            assert time.monotonic() < end + PATIENCE_S, (written, refused)
            try:
                read.add(folder.read("sub/a.md", 100))
                folder.write("sub/new.md", b"ours")
                folder.write("sub/a.md", b"ours")
                folder.remove("sub/new.md")
                folder.facts("sub/a.md")
                written += 1
            except StoreError:
                refused += 1
    finally:
        swapping.kill()
        swapping.communicate()
        folder.close()
    assert read <= {b"ours"}
    assert [(path.name, path.read_text()) for path in outside.iterdir()] == [("a.md", "theirs")]


@pytest.mark.skipif(not has_exchange(), reason="the C library has no renameat2")
def test_nor_does_the_walk_where_the_kernel_has_no_openat2(tmp_path: Path) -> None:
    root, outside, swapping = swapped(tmp_path)
    here, theirs = os.open(root, DIRECTORY), os.stat(outside).st_ino
    reached, refused = set[int](), 0
    end = time.monotonic() + RACE_S / 2
    try:
        while time.monotonic() < end or not (reached and refused):
            assert time.monotonic() < end + PATIENCE_S, (reached, refused)
            try:
                found = walk_below(here, "sub", DIRECTORY)
            except OSError:
                refused += 1
                continue
            reached.add(os.fstat(found).st_ino)
            os.close(found)
    finally:
        swapping.kill()
        swapping.communicate()
        os.close(here)
    assert theirs not in reached
