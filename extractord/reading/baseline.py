"""What was there before us: noted by place when a source is first found, and found again later."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from msgspec import Struct

from extractord.core.cursor import Anew, Cursor, at_update, decode_cursor
from extractord.core.ports import Baseline, Ranges
from extractord.core.records import Entry
from extractord.core.transcripts.source import Container, Source
from extractord.edges.tail import Tail, check, ends, mark
from extractord.reading.families import NO_CUT, Cut
from extractord.reading.members import container_of, opened, tables_of, whole_of

_HEAD_BYTES = 32 * 1024
_TAIL_BYTES = 16 * 1024
_HEAD_LINES = 8


class Note(Struct, frozen=True, kw_only=True):
    """A transcript's baseline, for the ledger."""

    sessions: frozenset[str]
    place: Baseline
    cursor: Cursor | None = None


async def survey(source: Source, path: str, copy_dir: str) -> tuple[Note, ...]:
    """Given a transcript that was there before us, return how far it had come.

    Of lines only both ends are read. Raise TranscriptError where it cannot be read.
    """
    match container_of(source, path):
        case Container.LINES:
            return (await _of_lines(source, path),)
        case Container.DOCUMENT:
            return (await _of_document(source, path),)
        case Container.ROWS:
            return await _of_rows(source, path, copy_dir)


def note(ranges: Ranges, agent: str, found: Iterable[Note]) -> None:
    """Keep baselines, and the cursors that tell whether their files are still the same."""
    for each in found:
        for session in each.sessions:
            ranges.note_baseline(agent, session, each.place)
        if each.cursor is not None:
            ranges.save_cursor(each.place.path, agent, min(each.sessions, default=None), each.cursor.encode())


async def session_of(source: Source, path: str) -> str:
    """Given a transcript, return the session that its first lines or its document name, else its path."""
    reader = source.reader(opened(source, path))
    if container_of(source, path) is Container.LINES:
        head, tail, _ = await ends(path, _HEAD_BYTES, 1)
        records = [line for line in (*head, *tail) if line.strip()][:_HEAD_LINES]
    else:
        records = [await whole_of(source, path)]
    for record in records:
        list(reader.feed(record))
    return reader.session or path


async def cut_of(source: Source, path: str, session: str, ranges: Ranges) -> Cut:
    """Given a transcript about to be read from its start, return where its baseline ends.

    A file that is still the same, moved or not, is cut at the offset noted. Any other is cut after
    the last entry noted, where it holds that; one rewritten in its place without it, at the offset.
    """
    places = [*ranges.baselines(source.agent, session), *ranges.baselines(source.agent, path)]
    if not places:
        return NO_CUT
    if container_of(source, path) is not Container.LINES:
        own = max((place.offset for place in places if place.path == path), default=0)
        return Cut(after=_last_of(places), place=own)
    for place in places:
        cursor = decode_cursor(ranges.cursor(place.path))
        if cursor is not None and not isinstance(check(cursor, path), Anew):
            return Cut(place=place.offset)
    found = await _held(source, path, _last_of(places))
    if found:
        return Cut(after=found)
    return Cut(place=max((place.offset for place in places if place.path == path), default=0))


def _last_of(places: Iterable[Baseline]) -> frozenset[str]:
    return frozenset(place.last_entry for place in places if place.last_entry is not None)


async def _held(source: Source, path: str, wanted: frozenset[str]) -> frozenset[str]:
    reader = source.reader(opened(source, path))
    found: set[str] = set()
    async for lines, _ in Tail(path).batches():
        for line in filter(None, lines):
            found |= {seen.id for seen in reader.feed(line) if isinstance(seen, Entry)} & wanted
    return frozenset(found)


async def _of_lines(source: Source, path: str) -> Note:
    reader = source.reader(opened(source, path))
    head, tail, offset = await ends(path, _HEAD_BYTES, _TAIL_BYTES)
    ids: dict[str, None] = {}
    sessions: set[str] = set()
    for line in filter(bytes.strip, [*(head[:_HEAD_LINES] if tail else head), *tail]):
        for seen in reader.feed(line):
            if isinstance(seen, Entry):
                ids.setdefault(seen.id)
                sessions.add(seen.session)
        sessions.add(reader.session or path)
    ids.update((seen.id, None) for seen in reader.settle() if isinstance(seen, Entry))
    last = next(reversed(ids), None)
    place = Baseline(path=path, offset=offset, last_entry=last)
    return Note(sessions=frozenset(sessions or {path}), place=place, cursor=mark(path, offset, 0, last))


async def _of_document(source: Source, path: str) -> Note:
    reader = source.reader(opened(source, path))
    whole = await whole_of(source, path)
    found = list(reader.feed(whole))
    entries = [seen for seen in found if isinstance(seen, Entry)]
    last = entries[-1].id if entries else None
    sessions = {entry.session for entry in entries} | {reader.session or path}
    place = Baseline(path=path, offset=len(found), last_entry=last)
    return Note(sessions=frozenset(sessions), place=place, cursor=mark(path, len(whole), 0, last))


async def _of_rows(source: Source, path: str, copy_dir: str) -> tuple[Note, ...]:
    tables = tables_of(source, path, copy_dir)
    touched = await asyncio.to_thread(tables.touched, 0)
    newest = max((ms for _, ms in touched), default=0)
    whole = Baseline(path=path, offset=newest, last_entry=None)
    notes = [Note(sessions=frozenset(), place=whole, cursor=at_update(newest))]
    for session, _ in touched:
        reader = source.reader(opened(source, path))
        records = await asyncio.to_thread(tables.records, session)
        found = [seen for record in records for seen in reader.feed(record)]
        ids = [seen.id for seen in found if isinstance(seen, Entry)]
        place = Baseline(path=path, offset=len(found), last_entry=ids[-1] if ids else None)
        notes.append(Note(sessions=frozenset({session}), place=place))
    return tuple(notes)
