"""Which transcripts stand at a path, and which agent each of them is of."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Sequence
from pathlib import Path

from extractord.core.transcripts.source import Source, Surroundings
from extractord.edges.tail import beginning
from extractord.errors import TranscriptError, UsageError

_HEAD_BYTES = 64 * 1024


def chosen(sources: Sequence[Source], agent: str | None) -> tuple[Source, ...]:
    """Given an agent's name or nothing, return its source or all. Raise UsageError for one not known."""
    found = tuple(source for source in sources if agent in (None, source.agent))
    if not found:
        known = " ".join(source.agent for source in sources)
        raise UsageError(f"no agent is called {agent}; known are: {known}")
    return found


Refused = Callable[[TranscriptError], None]
"""Told of each file and folder that cannot be looked into; the others go on."""


async def found_at(
    path: str, sources: Sequence[Source], around: Surroundings, refused: Refused
) -> tuple[tuple[Source, str], ...]:
    """Given a transcript or a folder, return its transcripts with their sources, in the order of their paths.

    An agent is known by where a file lies, else by how it begins; of one source alone, a file that
    is named is taken at its word. Raise TranscriptError where there is none.
    """
    problems: list[TranscriptError] = []
    if not _is_folder(path):
        source = await _source_of(path, sources, around, problems)
        if problems:
            raise problems[0]
        if source is None and len(sources) == 1:
            source = sources[0]
        if source is None:
            raise TranscriptError(f"{path}: no known agent writes this; name the agent with --agent")
        return ((source, path),)
    files = _files(path, problems)
    found = [(await _source_of(file, sources, around, problems), file) for file in files]
    kept = tuple((source, file) for source, file in found if source is not None)
    for problem in problems:
        refused(problem)
    if not kept and not problems:
        raise TranscriptError(f"{path}: holds no transcript of a known agent; give an agent's own folder")
    return kept


def _files(path: str, problems: list[TranscriptError]) -> list[str]:
    def note(error: OSError) -> None:
        problems.append(TranscriptError(f"{error.filename}: cannot be read: {error.strerror}"))

    found = (f"{folder}/{file}" for folder, _, names in os.walk(path, onerror=note) for file in names)
    return sorted(file for file in found if Path(file).is_file())  # a pipe would have to be waited for


def _is_folder(path: str) -> bool:
    try:
        return stat.S_ISDIR(Path(path).stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        raise TranscriptError(
            f"{path}: there is no such file or folder; give a transcript or a folder of them"
        ) from None
    except OSError as error:
        raise TranscriptError(f"{path}: cannot be looked at: {error.strerror}") from None


def _resolved(path: str) -> str:
    return str(Path(path).resolve())


async def _source_of(
    path: str, sources: Sequence[Source], around: Surroundings, problems: list[TranscriptError]
) -> Source | None:
    real = _resolved(path)
    for source in sources:
        for root in source.roots(around):
            if real.startswith(root + "/") and source.belongs(real[len(root) + 1 :]):
                return source
    try:
        head = await beginning(path, _HEAD_BYTES)
    except TranscriptError as error:
        problems.append(error)
        return None
    return next((source for source in sources if head and source.claims(path, head)), None)
