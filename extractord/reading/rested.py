"""Transcripts that nobody writes any more, folded a session at a time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable

from extractord.core.transcripts.source import Container, Source
from extractord.errors import TranscriptError
from extractord.reading.baseline import session_of
from extractord.reading.families import Family
from extractord.reading.members import Name, container_of, name_of, paths_of, tables_of


async def rested(
    source: Source, paths: Iterable[str], cold: Callable[[Source, Name], Family], copy_dir: str
) -> AsyncIterator[list[Family] | TranscriptError]:
    """Given transcripts, yield for each session its families, read to their end and settled.

    One that cannot be read is yielded as its error; the others go on.
    """
    groups: dict[str, dict[Name, None]] = {}
    for path in paths:
        try:
            for session, name in await _names(source, path, copy_dir):
                groups.setdefault(session, {})[name] = None
        except TranscriptError as error:
            yield error
    for group in groups.values():
        families: list[Family] = []
        for name in group:
            family = cold(source, name)
            try:
                for path in paths_of(name):
                    await family.read_on(path)
            except TranscriptError as error:
                yield error
                continue
            family.take_last_lines()
            family.settle()
            families.append(family)
        yield families


async def rows_since(source: Source, path: str, since_ms: int, copy_dir: str) -> tuple[list[Name], int]:
    """Given a database, return the families of sessions updated since then, and the newest update in ms.

    Raise TranscriptError where it cannot be read.
    """
    found = await asyncio.to_thread(tables_of(source, path, copy_dir).touched, since_ms)
    return [name_of(source, path, session) for session, _ in found], max(
        (ms for _, ms in found), default=since_ms
    )


async def _names(source: Source, path: str, copy_dir: str) -> list[tuple[str, Name]]:
    match container_of(source, path):
        case Container.ROWS:
            names, _ = await rows_since(source, path, 0, copy_dir)
            return [(name.session or path, name) for name in names]
        case Container.LINES:
            return [(await session_of(source, path), name_of(source, path))]
        case Container.DOCUMENT:
            name = name_of(source, path)
            return [(name.folder + name.files, name)]
