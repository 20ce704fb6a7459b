"""Which files are of one session, and how each is opened."""

from __future__ import annotations

import asyncio
import glob
from pathlib import Path

from msgspec import Struct

from extractord.core.transcripts.source import Container, Opened, Source
from extractord.edges.tables import Tables
from extractord.edges.tail import document
from extractord.edges.trees import joined
from extractord.errors import TranscriptError

_BESIDE_BYTES = 1024 * 1024
_COMPRESSED = ".zst"
_MEMBERS = (".jsonl", ".json")
"""What a glob may find; others are copies put aside (`.jsonl.deleted.1`)."""


class Name(Struct, frozen=True, kw_only=True):
    """What a family is known by."""

    agent: str
    folder: str
    files: str
    """A glob: for one file, or the source's for the files of one session."""
    is_glob: bool = False
    session: str | None = None
    """Of rows: which."""


def name_of(source: Source, path: str, session: str | None = None) -> Name:
    """Given a transcript's path, return its family's name; a compressed one is its plain twin's."""
    folder, _, file = path.removesuffix(_COMPRESSED).rpartition("/")
    glob_of_session = source.family(file)
    return Name(
        agent=source.agent,
        folder=folder or "/",
        files=glob_of_session or glob.escape(file),
        is_glob=glob_of_session is not None,
        session=session,
    )


def paths_of(name: Name) -> tuple[str, ...]:
    """The family's files as they are now, in the order of their names, each under one name only."""
    patterns = (name.files, name.files + _COMPRESSED)
    found = {file for each in patterns for file in glob.iglob(each, root_dir=name.folder)}  # noqa: PTH207 - names
    plain = {file.removesuffix(_COMPRESSED): file for file in sorted(found, reverse=True)}
    return tuple(
        f"{name.folder.rstrip('/')}/{plain[file]}"
        for file in sorted(plain)
        if not name.is_glob or file.endswith(_MEMBERS)
    )


def container_of(source: Source, path: str) -> Container:
    """Given a path, say how records stand in it; a compressed transcript is like its plain twin."""
    return source.container(path.removesuffix(_COMPRESSED))


def opened(source: Source, path: str) -> Opened:
    """Given a transcript about to be read, return it with what its reader needs from beside it."""
    beside: dict[str, bytes] = {}
    folder = Path(path).parent
    for name in source.beside:
        try:
            with folder.joinpath(name.replace("{folder}", folder.name)).open("rb") as file:
                beside[name] = file.read(_BESIDE_BYTES)
        except OSError:
            continue
    return Opened(path=path, beside=beside)


def tables_of(source: Source, path: str, copy_dir: str) -> Tables:
    """Given one of an agent's databases, return its tables; `copy_dir` is where a copy may be made.

    Raise TranscriptError where the source does not say how its databases are read.
    """
    if source.rows is None:
        raise TranscriptError(f"{path}: a transcript of {source.agent} is no database")
    return Tables(path, source.rows, copy_dir)


async def whole_of(source: Source, path: str) -> bytes:
    """Given a transcript that is one document, return it, joined where it stands in many files.

    Raise TranscriptError.
    """
    if source.tree is not None:
        return await asyncio.to_thread(joined, path, source.tree)
    return await document(path)
