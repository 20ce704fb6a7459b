"""Which project a session's directory belongs to, found by reading files and never by running git."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterable, Mapping
from itertools import takewhile
from pathlib import Path, PureWindowsPath
from typing import Literal

from extractord.core.project import is_project, slug_of
from extractord.core.records import Project

_LINK_BYTES = 8 * 1024
_CONFIG_BYTES = 256 * 1024


def resolve(
    cwd: str,
    *,
    configured: Mapping[str, str],
    worktrees: Literal["shared", "separate"],
    home: str,
    tmp: str,
    platform: str = sys.platform,
) -> Project:
    """Given a session's directory as recorded, which may be gone, return its project (§5).

    `configured` gives names to directories, theirs and all below; the deepest one counts. Else it
    is the repository's top, else the directory itself. $HOME, `/` and the temporary folder are no
    project and no repository, so that folders below them can be. Never raises for what the disk
    holds; a path that means nothing here is taken as it is written.
    """
    fold: Callable[[str], str] = str.lower if platform in {"darwin", "win32"} else str
    if not _has_place(cwd):
        windows = PureWindowsPath(cwd).is_absolute() and "\0" not in cwd
        return Project(slug=slug_of(cwd), identity=cwd, directory=cwd, is_project=windows)
    here = _real(cwd, home)
    bounds = {"home": fold(str(_real(home, home))), "tmp": fold(str(_real(tmp, home)))}

    def counts(place: Path) -> bool:
        return is_project(fold(str(place)), **bounds)

    above = tuple(takewhile(counts, (here, *here.parents)))
    named = {fold(str(_real(place, home))): name for place, name in configured.items() if _has_place(place)}
    directory = next((place for place in above if fold(str(place)) in named), None)
    if directory is not None:
        identity = named[fold(str(directory))]
    else:
        directory = _top(above) or here
        if worktrees == "shared":
            directory = _shared(directory)
        identity = fold(str(directory))
    return Project(
        slug=slug_of(identity), identity=identity, directory=str(directory), is_project=counts(here)
    )


def _has_place(path: str) -> bool:
    return "\0" not in path and (path == "~" or path.startswith(("/", "~/")))


def _real(path: str | Path, home: str) -> Path:
    """The path without links as far as it exists, and as it is written from there on."""
    return Path(os.path.realpath(home + str(path)[1:] if str(path).startswith("~") else path))


def _top(above: Iterable[Path]) -> Path | None:
    return next((place for place in above if _is_top(place)), None)


def _is_top(place: Path) -> bool:
    """True where `.git` stands for a repository, or the directory is a bare one."""
    git = place / ".git"
    if _is_file(git):
        return True  # a checkout's border, even where what it names is gone
    return _is_git_directory(git) or (place.name != ".git" and _is_git_directory(place))


def _is_git_directory(place: Path) -> bool:
    """True where git would accept it: HEAD, objects and refs; or where we may not look into `.git`."""
    try:
        found = {each.name for each in place.iterdir()}
    except PermissionError:
        return place.name == ".git"
    except OSError:
        return False
    return {"HEAD", "objects", "refs"} <= found


def _shared(top: Path) -> Path:
    """Given a repository's top, return the one place that all of its worktrees share.

    A worktree's link counts only if the directory that it names points back to it: anybody can
    write a `.git` file into a directory.
    """
    git = _gitdir(top / ".git")
    if git is None:
        return top
    back, common = _first_line(git / "gitdir"), _first_line(git / "commondir")
    if not back or not common or not _is_link_of(git / back, top):
        return top
    return _main(_joined(git, common))


def _is_link_of(link: Path, top: Path) -> bool:
    try:
        return link.name == ".git" and link.parent.samefile(top)
    except OSError:
        return False


def _main(common: Path) -> Path:
    """Given a common git directory, return its main working tree, or itself where it is bare."""
    above = common.parent
    if common in {above / ".git", _gitdir(above / ".git")}:
        return above
    for line in _text(common / "config", _CONFIG_BYTES).splitlines():
        key, _, value = line.partition("=")
        if key.strip().lower() == "worktree":  # a submodule's
            main = _joined(common, value.strip().strip('"'))
            if _gitdir(main / ".git") == common:
                return main
    return common


def _gitdir(link: Path) -> Path | None:
    """The directory that a `.git` file names; None where it is no such file."""
    said = (_first_line(link) or "") if _is_file(link) else ""
    if not said.startswith("gitdir:"):
        return None
    return _joined(link.parent, said.removeprefix("gitdir:").strip())


def _joined(base: Path, path: str) -> Path:
    return Path(os.path.realpath(base / path))


def _is_file(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def _first_line(path: Path) -> str | None:
    return next(iter(_text(path, _LINK_BYTES).splitlines()), None)


def _text(path: Path, limit: int) -> str:
    """The beginning of a regular file; nothing where it cannot be had."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return ""
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return ""
        return os.fsdecode(file.read(limit)).replace("\0", "")
