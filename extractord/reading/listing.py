"""Every entry of some transcripts as it stands at the end, for a person or a script to look at."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from msgspec.structs import replace

from extractord.core.drift import marks
from extractord.core.exchanges import PROMPTS
from extractord.core.ports import Reader
from extractord.core.records import Entry, Origin, Seen, Voided
from extractord.core.transcripts.source import Container, Source
from extractord.edges.tail import Tail
from extractord.errors import TranscriptError
from extractord.reading.members import container_of, opened, tables_of, whole_of

_NEVER = datetime.max.replace(tzinfo=UTC)


@dataclass(slots=True)
class Told:
    """What one transcript brings, each entry as last revised."""

    agent: str
    path: str
    entries: dict[tuple[str, str], Entry] = field(default_factory=dict)
    voids: list[Voided] = field(default_factory=list)
    versions: set[str] = field(default_factory=set)
    unknown: Counter[str] = field(default_factory=Counter)
    skipped: int = 0
    """Lines that were too long."""
    marked: int = 0
    """Records that look like prompts, whether they were understood or not."""

    @property
    def began(self) -> datetime:
        """The time of its first entry that has one."""
        return min((entry.time for entry in self.entries.values() if entry.time), default=_NEVER)

    def add(self, seen: Seen) -> None:
        """Fold in what a reader brings."""
        if isinstance(seen, Voided):
            self.voids.append(seen)
            return
        key = seen.session, seen.id
        before = self.entries.get(key)
        if before is None or seen.revision > before.revision:
            self.entries[key] = seen


async def told(source: Source, path: str, copy_dir: str) -> Told:
    """Given a transcript that nobody writes any more, return what it brings. Raise TranscriptError."""
    found = Told(source.agent, path)
    if container_of(source, path) is not Container.ROWS:
        reader = source.reader(opened(source, path))
        is_document = container_of(source, path) is Container.DOCUMENT
        async for record in _records(source, path, found):
            found.marked += marks(record, is_document=is_document)
            _feed(reader, record, found)
        _settle(reader, found)
        return found
    tables = tables_of(source, path, copy_dir)
    for session, _ in await asyncio.to_thread(tables.touched, 0):
        reader = source.reader(opened(source, path))
        for record in await asyncio.to_thread(tables.records, session):
            found.marked += marks(record)
            _feed(reader, record, found)
        _settle(reader, found)
    return found


async def listed(found: Sequence[tuple[Source, str]], copy_dir: str) -> AsyncIterator[Told | TranscriptError]:
    """Given transcripts, yield what each brings, as the others leave it.

    What another file voids is not active; a prompt that another session had earlier is copied; an
    entry that stands in several files of its session comes once. All are read twice, so that no
    more than one is in memory. One that cannot be read is yielded as its error.
    """
    others = _Others()
    for source, path in found:
        with contextlib.suppress(TranscriptError):
            others.learn(await told(source, path, copy_dir))
    for source, path in found:
        try:
            one = await told(source, path, copy_dir)
        except TranscriptError as error:
            yield error
        else:
            others.settle(one)
            yield one


class _Others:
    """What transcripts say of one another's entries."""

    def __init__(self) -> None:
        self._void: set[tuple[str, str]] = set()
        self._cuts: dict[str, list[tuple[str, int]]] = {}
        self._first: dict[tuple[str, str], tuple[datetime, str, str]] = {}
        self._listed: set[tuple[str, str, str]] = set()

    def learn(self, one: Told) -> None:
        for void in one.voids:
            self._void.difference_update((void.session, entry_id) for entry_id in void.again)
            self._void.update((void.session, entry_id) for entry_id in void.ids)
            if void.from_ordinal is not None:
                self._cuts.setdefault(void.session, []).append((one.path, void.from_ordinal))
        began = one.began
        for session, entry_id in (key for key, entry in one.entries.items() if entry.origin in PROMPTS):
            key = one.agent, entry_id
            self._first[key] = min(self._first.get(key, (_NEVER, "~", "")), (began, one.path, session))

    def settle(self, one: Told) -> None:
        kept: dict[tuple[str, str], Entry] = {}
        for (session, entry_id), entry in one.entries.items():
            if (one.agent, session, entry_id) in self._listed:
                continue
            self._listed.add((one.agent, session, entry_id))
            first = self._first.get((one.agent, entry_id))
            is_copy = entry.origin in PROMPTS and first is not None and first[2] != session
            kept[session, entry_id] = replace(
                entry,
                origin=Origin.COPIED if is_copy else entry.origin,
                active=entry.active and not self._is_void(entry, one.path),
            )
        one.entries = kept

    def _is_void(self, entry: Entry, path: str) -> bool:
        return (entry.session, entry.id) in self._void or (
            entry.ordinal is not None
            and any(
                path < later and entry.ordinal >= ordinal
                for later, ordinal in self._cuts.get(entry.session, ())
            )
        )


async def _records(source: Source, path: str, found: Told) -> AsyncIterator[bytes]:
    if container_of(source, path) is Container.DOCUMENT:
        yield await whole_of(source, path)
        return
    tail = Tail(path)
    async for lines, _ in tail.batches():
        for line in filter(None, lines):
            yield line
    found.skipped = tail.lines.skipped
    last = tail.last_line()
    if last is not None:
        yield last


def _feed(reader: Reader, record: bytes, found: Told) -> None:
    for seen in reader.feed(record):
        found.add(seen)


def _settle(reader: Reader, found: Told) -> None:
    for seen in reader.settle():
        found.add(seen)
    found.unknown += reader.unknown
    if reader.version is not None:
        found.versions.add(reader.version)
