"""The page of the words behind a memory: the entry that it rests on, where its transcript is there yet."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from aiohttp import web

from extractord.cli.choosing import one_of
from extractord.cli.web.memory import Source, source_of, steadily
from extractord.cli.web.site import Asked, Look, Shows, Site
from extractord.core.memory import Memory, parse
from extractord.core.records import Entry, Role
from extractord.core.redact import redact
from extractord.core.transcripts.source import Source as Transcripts
from extractord.errors import ConflictError, TranscriptError, UsageError
from extractord.reading.listing import told
from extractord.reading.unkept import Unkept
from extractord.readingroom import reading_room

_LARGEST_BYTES = 64 * 1024 * 1024
_ENTRY_CHARS = 4000
_AROUND = 2
"""So many entries before and after show what it was about."""


@dataclass(frozen=True, slots=True)
class Words:
    """One entry as it is shown."""

    entry: Entry
    text: str
    """Redacted, and cut at its end."""
    cut: int
    """So many characters are left out."""
    is_it: bool


async def said(site: Site, asked: Asked, look: Look) -> web.Response:
    """The entry that a memory's stamp names, and what was said around it."""
    root, row = one_of(look.rows(), asked.required("at"))
    memory = parse(steadily(look, root, row.path).decode("utf-8", "replace"))
    source = source_of(memory) if isinstance(memory, Memory) else None
    if source is None or not source.entry:
        raise UsageError(f"{root}/{row.path} names no session: it was written by hand, or by another program")
    words: Sequence[Words] = ()
    problem, path = "", ""
    for reads, path in _transcripts(site, look, source):
        try:
            words = await _words(reads, path, source, str(site.settings.state_dir))
        except TranscriptError as error:
            problem = str(error)
        if words:
            break
    return site.page(
        "said",
        f"Where {row.title} was said",
        look,
        place=f"{root}/{row.path}",
        source=source,
        words=words,
        path=path,
        problem=problem,
    )


def _transcripts(site: Site, look: Look, source: Source) -> Iterator[tuple[Transcripts, str]]:
    """The transcripts that the session may be in: those that were read, else those named for it."""
    ledger, state = look.ledger, str(site.settings.state_dir)
    room = reading_room(site.settings, Unkept(ledger.ranges), state, ledger.transaction)
    known = ledger.standing.transcripts(source.agent, source.session)
    for reads in room.known:
        if reads.agent == source.agent:
            yield from ((reads, path) for path in known)
    for reads, root in room.sources:
        if reads.agent == source.agent:
            for folder, _, names in os.walk(root):
                paths = (os.path.join(folder, name) for name in names)  # noqa: PTH118 - names may be no text
                yield from (
                    (reads, path)
                    for path in paths
                    if source.session in path
                    and path not in known
                    and reads.belongs(os.path.relpath(path, root))
                )


async def _words(reads: Transcripts, path: str, source: Source, copies: str) -> Sequence[Words]:
    """The entry in a transcript, with those around it; nothing where it is not in there."""
    before = _look_at(path)
    found = await told(reads, path, copies)
    if _look_at(path) != before:
        raise ConflictError(f"{path} is being written just now: look again")
    entries = [entry for entry in found.entries.values() if _is_shown(entry, source)]
    at = next((at for at, entry in enumerate(entries) if entry.id == source.entry), None)
    if at is None:
        return ()
    return [_shown(entry, source) for entry in entries[max(0, at - _AROUND) : at + _AROUND + 1]]


def _is_shown(entry: Entry, source: Source) -> bool:
    """It was said in the session, by the person or the agent; or it is the entry itself."""
    is_said = entry.role in (Role.USER, Role.ASSISTANT) and bool(entry.text.strip())
    return entry.id == source.entry or (is_said and entry.session == source.session)


def _shown(entry: Entry, source: Source) -> Words:
    text = redact(entry.text)
    return Words(entry, text[:_ENTRY_CHARS], max(0, len(text) - _ENTRY_CHARS), entry.id == source.entry)


def _look_at(path: str) -> tuple[int, int, int]:
    """A plain file's size, time and inode. Raise TranscriptError for a link, and for one too large."""
    try:
        found = os.lstat(path)
    except OSError as error:
        raise TranscriptError(f"{path} cannot be read any more: {error.strerror}") from error
    if not stat.S_ISREG(found.st_mode):
        raise TranscriptError(f"{path} is not a plain file")
    if found.st_size > _LARGEST_BYTES:
        raise TranscriptError(f"{path} is too large to be looked through here: `extractord entries` shows it")
    return found.st_size, found.st_mtime_ns, found.st_ino


SHOWS: dict[str, Shows] = {"memory/said": said}
