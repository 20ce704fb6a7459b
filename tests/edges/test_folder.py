"""A memory root by its descriptor: what is seen, what is refused, what is changed as a whole."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from extractord.edges.folder import Folder, FolderView
from extractord.edges.folder.descend import open_below, walk_below
from extractord.errors import StoreError
from extractord.policy.requests import Found, PathFacts, RootKind

AS_ROOT = os.geteuid() == 0
needs_root = pytest.mark.skipif(not AS_ROOT, reason="needs root to give files away")
HOME = Path("/nowhere")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    root = tmp_path / "memory"
    root.mkdir(mode=0o700)
    return root


@pytest.fixture
def folder(place: Path) -> Iterator[Folder]:
    opened = Folder.open(place, HOME)
    yield opened
    opened.close()


def facts_of_file(size: int, **known: object) -> PathFacts:
    return PathFacts(found=Found.FILE, size=size, **known)  # type: ignore[arg-type]


# the root


def test_a_private_directory_may_be_a_root(place: Path) -> None:
    Folder.open(place, HOME).close()


def test_a_missing_root_is_made_private_by_an_explicit_call_only(tmp_path: Path) -> None:
    wanted = tmp_path / "data" / "memory"
    with pytest.raises(StoreError, match="no such directory"):
        Folder.open(wanted, HOME)
    Folder.create(wanted, HOME).close()
    Folder.create(wanted, HOME).close()
    assert stat.S_IMODE(wanted.stat().st_mode) == 0o700
    assert stat.S_IMODE(wanted.parent.stat().st_mode) == 0o700


def test_a_link_to_a_directory_is_no_root(place: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(place)
    with pytest.raises(StoreError, match="symbolic link"):
        Folder.open(tmp_path / "link", HOME)


def test_a_file_is_no_root(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="is not a directory"):
        Folder.open(tmp_path / "file", HOME)
    with pytest.raises(StoreError, match="cannot be made"):
        Folder.create(tmp_path / "file" / "memory", HOME)


@pytest.mark.parametrize("mode", [0o720, 0o702, 0o777])
def test_a_directory_that_others_may_write_is_no_root(place: Path, mode: int) -> None:
    place.chmod(mode)
    with pytest.raises(StoreError, match="chmod go-w"):
        Folder.open(place, HOME)


@needs_root
def test_a_directory_of_somebody_else_is_no_root(place: Path) -> None:
    os.chown(place, 65534, -1)
    with pytest.raises(StoreError, match="belongs to somebody else"):
        Folder.open(place, HOME)


def test_the_home_itself_is_no_root_but_a_folder_in_it_is(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    with pytest.raises(StoreError, match="is the home directory"):
        Folder.open(tmp_path, tmp_path)
    Folder.create(tmp_path / "memory", tmp_path).close()


@needs_root
def test_the_file_system_is_no_root() -> None:
    with pytest.raises(StoreError, match="root of the file system"):
        Folder.open(Path("/"), HOME)


def test_the_top_of_a_git_work_tree_is_no_root(place: Path) -> None:
    (place / ".git").mkdir()
    with pytest.raises(StoreError, match="git work tree"):
        Folder.open(place, HOME)


# what is seen


def test_names_are_sorted_and_leave_out_what_is_hidden_linked_or_special(folder: Folder, place: Path) -> None:
    (place / "b.md").write_text("x")
    (place / "sub").mkdir()
    (place / "sub" / "a.md").write_text("x")
    (place / ".hidden.md").write_text("x")
    (place / ".obsidian").mkdir()
    (place / ".obsidian" / "c.md").write_text("x")
    (place / "d.txt").write_text("x")
    (place / "link.md").symlink_to("b.md")
    (place / "loop").symlink_to(".")
    os.mkfifo(place / "pipe.md")
    (place / "e.md").mkdir()
    Path(os.fsdecode(bytes(place) + b"/\xff.md")).write_text("x")
    assert folder.names() == ("b.md", "sub/a.md")


@pytest.mark.skipif(AS_ROOT, reason="root may read everything")
def test_a_subfolder_that_cannot_be_read_is_an_error_and_not_empty(folder: Folder, place: Path) -> None:
    (place / "sub").mkdir(mode=0)
    with pytest.raises(StoreError, match="sub"):
        folder.names()


def test_facts_tell_what_stands_at_a_path(folder: Folder, place: Path, tmp_path: Path) -> None:
    (tmp_path / "victim.md").write_text("secret")
    (place / "a.md").write_text("four")
    (place / "sub").mkdir()
    (place / "hard.md").hardlink_to(tmp_path / "victim.md")
    (place / "link.md").symlink_to(tmp_path / "victim.md")
    (place / "out").symlink_to(tmp_path)
    (place / "magic").symlink_to("/proc/self/root")
    os.mkfifo(place / "pipe.md")
    assert folder.facts("") == PathFacts(found=Found.DIRECTORY)
    assert folder.facts("a.md") == facts_of_file(4)
    assert folder.facts("new.md") == PathFacts()
    assert folder.facts("no/where/new.md") == PathFacts()
    assert folder.facts("sub").found is Found.DIRECTORY
    assert folder.facts("hard.md") == facts_of_file(6, links=2)
    assert folder.facts("link.md").found is Found.SYMLINK
    assert folder.facts("pipe.md").found is Found.SPECIAL
    assert folder.facts("out/victim.md").found is Found.BLOCKED
    assert folder.facts("magic/etc/x.md").found is Found.BLOCKED
    assert folder.facts("a.md/x.md").found is Found.BLOCKED


@needs_root
def test_facts_tell_what_is_somebody_elses(folder: Folder, place: Path) -> None:
    (place / "a.md").write_text("x")
    os.chown(place / "a.md", 65534, -1)
    (place / "sub").mkdir()
    os.chown(place / "sub", 65534, -1)
    assert folder.facts("a.md") == facts_of_file(1, own=False)
    assert folder.facts("sub/a.md").found is Found.BLOCKED
    with pytest.raises(StoreError, match="not a plain file"):
        folder.read("a.md", 10)


@pytest.mark.parametrize(
    ("there", "asked"),
    [
        ("Notes.md", "notes.md"),
        ("cafe\u0301.md", "caf\u00e9.md"),
        ("stra\u00dfe.md", "strasse.md"),
        ("no\u200btes.md", "notes.md"),
        ("n\u043etes.md", "notes.md"),
    ],
)
def test_a_twin_is_seen_in_the_last_folder(folder: Folder, place: Path, there: str, asked: str) -> None:
    (place / there).write_text("x")
    assert folder.facts(asked).twin == there
    assert folder.facts(there).twin is None


def test_a_twin_is_seen_anywhere_along_the_path(folder: Folder, place: Path) -> None:
    (place / "Projects").mkdir()
    assert folder.facts("projects/a/x.md").twin == "Projects"
    assert folder.facts("Projects/a/x.md").twin is None


def test_words_that_differ_by_a_scripts_own_vowels_are_no_twins(folder: Folder, place: Path) -> None:
    (place / "\u092e\u0947\u0932.md").write_text("x")
    assert folder.facts("\u092e\u093e\u0932.md").twin is None


def test_stat_tells_size_time_and_inode_of_files_only(folder: Folder, place: Path) -> None:
    (place / "a.md").write_text("four")
    (place / "link.md").symlink_to("a.md")
    there = (place / "a.md").stat()
    assert folder.stat("a.md") == (4, there.st_mtime_ns, there.st_ino)
    assert folder.stat("link.md") is None
    assert folder.stat("new.md") is None
    assert folder.stat("sub/new.md") is None
    with pytest.raises(StoreError, match=r"a\.md/x\.md"):
        folder.stat("a.md/x.md")


# reading


def test_a_file_is_read_up_to_its_limit_and_never_cut(folder: Folder, place: Path) -> None:
    (place / "a.md").write_bytes(b"\xffour")
    assert folder.read("a.md", 4) == b"\xffour"
    with pytest.raises(StoreError, match="larger than 3 bytes"):
        folder.read("a.md", 3)


def test_a_pipe_is_refused_without_waiting_for_a_writer(folder: Folder, place: Path) -> None:
    os.mkfifo(place / "pipe.md")
    with pytest.raises(StoreError, match="not a plain file"):
        folder.read("pipe.md", 10)


@pytest.mark.parametrize("path", ["link.md", "hard.md", "out/victim.md", "new.md", "../victim.md", "sub"])
def test_nothing_is_read_through_a_link_or_outside(
    folder: Folder, place: Path, tmp_path: Path, path: str
) -> None:
    (tmp_path / "victim.md").write_text("secret")
    (place / "link.md").symlink_to(tmp_path / "victim.md")
    (place / "hard.md").hardlink_to(tmp_path / "victim.md")
    (place / "out").symlink_to(tmp_path)
    (place / "sub").mkdir()
    with pytest.raises(StoreError):
        folder.read(path, 100)


# changing


def test_a_write_makes_its_folders_and_leaves_nothing_else(folder: Folder, place: Path) -> None:
    folder.write("a/b/x.md", b"one")
    folder.write("a/b/x.md", b"two")
    assert (place / "a" / "b" / "x.md").read_bytes() == b"two"
    assert os.listdir(place / "a" / "b") == ["x.md"]
    assert stat.S_IMODE((place / "a" / "b" / "x.md").stat().st_mode) == 0o600
    assert stat.S_IMODE((place / "a").stat().st_mode) == 0o700


@pytest.mark.parametrize(
    "path", ["link.md", "hard.md", "out/victim.md", "out/new.md", "sub", "a.md/x.md", "../new.md"]
)
def test_nothing_is_written_or_removed_through_a_link_or_outside(
    folder: Folder, place: Path, tmp_path: Path, path: str
) -> None:
    (tmp_path / "victim.md").write_text("secret")
    (place / "a.md").write_text("x")
    (place / "link.md").symlink_to(tmp_path / "victim.md")
    (place / "hard.md").hardlink_to(tmp_path / "victim.md")
    (place / "out").symlink_to(tmp_path)
    (place / "sub").mkdir()
    before = sorted(os.listdir(place))
    with pytest.raises(StoreError):
        folder.write(path, b"x")
    with pytest.raises(StoreError):
        folder.remove(path)
    assert (tmp_path / "victim.md").read_text() == "secret"
    assert sorted(os.listdir(place)) == before
    assert sorted(os.listdir(tmp_path)) == ["memory", "victim.md"]


def test_a_write_that_the_disk_refuses_leaves_the_old_bytes(folder: Folder, place: Path) -> None:
    folder.write("a.md", b"old")
    with pytest.raises(StoreError):
        folder.write("n" * 300 + ".md", b"new")
    assert os.listdir(place) == ["a.md"]
    assert (place / "a.md").read_bytes() == b"old"


def test_a_removal_takes_the_folders_that_it_leaves_empty(folder: Folder, place: Path) -> None:
    folder.write("a/b/x.md", b"x")
    folder.write("a/y.md", b"y")
    folder.remove("a/b/x.md")
    assert os.listdir(place / "a") == ["y.md"]
    folder.remove("a/y.md")
    assert os.listdir(place) == []
    with pytest.raises(StoreError):
        folder.remove("a/y.md")


def test_a_sweep_takes_what_a_crash_left_and_nothing_else(folder: Folder, place: Path) -> None:
    folder.write("sub/x.md", b"x")
    (place / ".tmp-0123").write_text("half")
    (place / "sub" / ".tmp-4567").write_text("half")
    (place / ".hidden").write_text("kept")
    folder.sweep()
    assert sorted(os.listdir(place)) == [".hidden", "sub"]
    assert os.listdir(place / "sub") == ["x.md"]


# descending


@pytest.mark.parametrize("descend", [open_below, walk_below])
def test_both_ways_down_find_a_file_and_follow_no_link(place: Path, tmp_path: Path, descend: object) -> None:
    assert callable(descend)
    (place / "sub").mkdir()
    (place / "sub" / "a.md").write_text("x")
    (tmp_path / "victim.md").write_text("secret")
    (place / "out").symlink_to(tmp_path)
    (place / "link.md").symlink_to(tmp_path / "victim.md")
    (place / "magic").symlink_to("/proc/self/cwd")
    root = os.open(place, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.close(descend(root, "sub/a.md", os.O_RDONLY))
        for path in (
            "out/victim.md",
            "link.md",
            "magic/x",
            "../victim.md",
            "sub/../../victim.md",
            "/etc/passwd",
        ):
            with pytest.raises(OSError, match=r".") as raised:
                descend(root, path, os.O_RDONLY)
            assert raised.type is not FileNotFoundError, path
    finally:
        os.close(root)


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
@pytest.mark.parametrize("descend", [open_below, walk_below])
def test_neither_way_down_crosses_into_another_file_system_or_leaks(descend: object) -> None:
    assert callable(descend)
    root = os.open("/", os.O_RDONLY | os.O_DIRECTORY)
    before = len(os.listdir("/proc/self/fd"))
    try:
        with pytest.raises(OSError, match="cross-device"):
            descend(root, "proc/self", os.O_RDONLY | os.O_DIRECTORY)
        assert len(os.listdir("/proc/self/fd")) == before
    finally:
        os.close(root)


SWAPPER = """
import os, sys, time
place, outside = sys.argv[1:]
print("ready", flush=True)
end = time.monotonic() + 120
while time.monotonic() < end:
    try:
        os.rename(place + "/dir", place + "/kept")
        os.symlink(outside, place + "/dir")
        os.unlink(place + "/dir")
        os.rename(place + "/kept", place + "/dir")
    except OSError:
        pass
"""


@pytest.mark.parametrize("seconds", [2.0])
def test_a_folder_swapped_for_a_link_meanwhile_lets_nothing_out(
    folder: Folder, place: Path, tmp_path: Path, seconds: float
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x.md").write_bytes(b"outside")
    (place / "dir").mkdir()
    swapper = subprocess.Popen(
        [sys.executable, "-c", SWAPPER, str(place), str(outside)], stdout=subprocess.PIPE
    )
    assert swapper.stdout is not None
    done, refused = 0, 0
    try:
        swapper.stdout.readline()
        end = time.monotonic() + seconds
        while time.monotonic() < end or not (done and refused):
            assert time.monotonic() < end + 60, (done, refused)
            try:
                folder.write("dir/x.md", b"inside")
                assert folder.read("dir/x.md", 10) == b"inside"
                folder.facts("dir/x.md")
                done += 1
            except StoreError:
                refused += 1
    finally:
        swapper.kill()
        swapper.wait()
        swapper.stdout.close()
    assert (outside / "x.md").read_bytes() == b"outside"
    assert os.listdir(outside) == ["x.md"]


# a run's view


def test_a_view_reads_both_roots_and_takes_a_missing_one_for_empty(folder: Folder) -> None:
    folder.write("a.md", b"x")
    view = FolderView({RootKind.USER: folder})
    assert view.names(RootKind.USER) == ("a.md",)
    assert view.read(RootKind.USER, "a.md") == b"x"
    assert view.facts(RootKind.USER, "a.md") == facts_of_file(1)
    assert view.names(RootKind.PROJECT) == ()
    assert view.facts(RootKind.PROJECT, "a.md") == PathFacts()
    assert view.facts(RootKind.PROJECT, "") == PathFacts(found=Found.DIRECTORY)
    with pytest.raises(StoreError, match="no project root"):
        view.read(RootKind.PROJECT, "a.md")


def test_a_folder_from_a_descriptor_serves_the_same_root(folder: Folder) -> None:
    folder.write("a.md", b"x")
    again = Folder.from_fd(os.dup(folder.fileno()))
    assert again.names() == ("a.md",)
    again.close()
