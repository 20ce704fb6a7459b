"""Stores of memories that other agents keep on this machine: found and read, never changed."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from extractord.core.taking import Shape, has_added
from extractord.core.transcripts.source import Surroundings
from extractord.errors import UsageError

_LARGEST = 256 * 1024
_INDEX = "MEMORY.md"
_CWD = re.compile(rb'"cwd"\s*:\s*"((?:[^"\\]|\\.)+)"')
_HEAD = 256 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherFile:
    """A file of another store."""

    path: str
    shape: Shape
    directory: str | None = ""
    """The project that it is about; empty for the person, None where that cannot be told."""
    text: str = ""
    fault: str = ""
    """Why it cannot be read."""


def of_agent(agent: str, around: Surroundings) -> tuple[OtherFile, ...]:
    """Given an agent's name, return the files of its store. Raise UsageError where none is known."""
    if agent not in _FINDERS:
        raise UsageError(f"no store of {agent!r} is known: name a path, or one of {', '.join(_FINDERS)}")
    return tuple(_FINDERS[agent](around))


def of_path(place: Path, directory: str) -> tuple[OtherFile, ...]:
    """Given a file or a folder and the project that it is about, return the files of the store there."""
    if place.is_dir():
        if (place / "projects").is_dir() and (place / _INDEX).is_file():
            return tuple(_zerostack(place))
        return tuple(_folder(place, directory))
    if not place.is_file():
        raise UsageError(f"{place} is neither a file nor a folder")
    if place.suffix == ".json":
        return (_file(place, "strings", directory),)
    found = _file(place, "file", directory)
    return (found,) if not has_added(found.text) else (_file(place, "list", directory),)


def _claude(around: Surroundings) -> Iterator[OtherFile]:
    top = Path(around.env.get("CLAUDE_CONFIG_DIR") or Path(around.home, ".claude"))
    yield from _of_projects(top / "projects")


def _qwen(around: Surroundings) -> Iterator[OtherFile]:
    top = Path(around.home, ".qwen")
    yield from _added(top / "QWEN.md")
    yield from _of_projects(top / "projects")


def _gemini(around: Surroundings) -> Iterator[OtherFile]:
    yield from _added(Path(around.home, ".gemini", "GEMINI.md"))


def _codex(around: Surroundings) -> Iterator[OtherFile]:
    place = Path(around.env.get("CODEX_HOME") or Path(around.home, ".codex"), "memories", _INDEX)
    if place.is_file():
        yield _file(place, "sections", "")


def _zerostack_of(around: Surroundings) -> Iterator[OtherFile]:
    base = around.env.get("ZS_CONFIG_DIR")
    data = around.env.get("XDG_DATA_HOME") or str(Path(around.home, ".local/share"))
    place = Path(base or Path(data, "zerostack"), "agent", "memory")
    if place.is_dir():
        yield from _zerostack(place)


def _zerostack(place: Path) -> Iterator[OtherFile]:
    """The long-term file is the person's; notes belong to projects that only a hash names."""
    if (place / _INDEX).is_file():
        yield _file(place / _INDEX, "list", "")
    for project in sorted((place / "projects").glob("*/")):
        yield from _folder(project / "notes", None)


def _fx(around: Surroundings) -> Iterator[OtherFile]:
    place = Path(around.home, ".fx", "memories.json")
    if place.is_file():
        yield _file(place, "strings", "")


_FINDERS = {
    "claude-code": _claude,
    "codex": _codex,
    "gemini-cli": _gemini,
    "qwen-code": _qwen,
    "zerostack": _zerostack_of,
    "fx": _fx,
}


def _added(place: Path) -> Iterator[OtherFile]:
    if place.is_file():
        found = _file(place, "list", "")
        if found.fault or has_added(found.text):
            yield found


def _of_projects(top: Path) -> Iterator[OtherFile]:
    """Folders `<project>/memory`, whose transcripts beside them say which directory the project is."""
    for folder in sorted(top.glob("*/memory")):
        yield from _folder(folder, _directory(folder.parent))


def _directory(project: Path) -> str | None:
    for transcript in sorted(project.rglob("*.jsonl"))[:20]:
        with transcript.open("rb") as file:
            found = _CWD.search(file.read(_HEAD))
        if found:
            directory = found[1].decode("utf-8", "replace")
            if re.sub(r"[^A-Za-z0-9]", "-", directory) == project.name:
                return directory
    return None


def _folder(top: Path, directory: str | None) -> Sequence[OtherFile]:
    """Every Markdown file below a folder but its index; links are not followed."""
    found: list[OtherFile] = []
    for here, folders, names in os.walk(top):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        wanted = (name for name in sorted(names) if name.endswith(".md") and not name.startswith("."))
        found += [_file(Path(here, name), "file", directory) for name in wanted if name != _INDEX]
    return found


def _file(place: Path, shape: Shape, directory: str | None) -> OtherFile:
    try:
        descriptor = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            seen = os.fstat(descriptor)
            if not stat.S_ISREG(seen.st_mode) or seen.st_size > _LARGEST:
                fault = f"it is not a plain file of at most {_LARGEST // 1024} KiB"
                return OtherFile(path=str(place), shape=shape, directory=directory, fault=fault)
            raw = file.read(_LARGEST)
        return OtherFile(path=str(place), shape=shape, directory=directory, text=raw.decode())
    except OSError as error:
        fault = error.strerror or str(error)
    except UnicodeDecodeError as error:
        fault = f"byte {error.start} is not UTF-8"
    return OtherFile(path=str(place), shape=shape, directory=directory, fault=fault)
