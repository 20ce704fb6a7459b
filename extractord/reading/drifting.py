"""Where an agent may write otherwise than its adapter reads, found without the daemon."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice

from msgspec import Struct

from extractord.core.drift import ENOUGH, is_prompted, marks, said_of
from extractord.core.ports import Reader
from extractord.core.records import Entry, Role
from extractord.core.transcripts.source import Container, Source
from extractord.edges.tail import Tail
from extractord.edges.watch import scan
from extractord.errors import TranscriptError
from extractord.reading.members import container_of, opened, tables_of, whole_of

_SESSIONS = 20
"""Of a database so many are looked into."""


class Hint(Struct, frozen=True, kw_only=True):
    """That what one version of an agent writes is probably not understood any more."""

    agent: str
    path: str
    """The first transcript of which it is said."""
    versions: tuple[str, ...]
    """Of the agent, as its transcripts name them; empty where they name none."""
    transcripts: int
    """In how many it was seen; in a database each session counts."""
    marked: int
    """Records in them that look like prompts, tools' results not counted."""
    entries: int
    """What was understood of them; no prompt among it."""
    unknown: dict[str, int]
    """Records that were not understood, by type."""
    said: str
    """All of it in a sentence that begins with `format may have changed`."""


def newest(sources: Iterable[tuple[Source, str]], each: int = 20) -> tuple[tuple[Source, str], ...]:
    """Given each source with each folder of its own (`ReadingRoom.sources`), list its newest transcripts.

    At most so many of each agent; a folder that is not there has none.
    """
    stamps: dict[Source, dict[str, int]] = defaultdict(dict)
    for source, root in sources:
        stamps[source].update({path: written for path, (_, written, _) in scan(source, root).items()})
    return tuple(
        (source, path)
        for source, written in stamps.items()
        for path in sorted(written, key=written.__getitem__, reverse=True)[:each]
    )


async def hints(found: Iterable[tuple[Source, str]], copy_dir: str) -> AsyncIterator[Hint | TranscriptError]:
    """Given transcripts (`newest`, or `finding.found_at`), yield what may have changed in their formats.

    Each is looked into only up to its first prompt, so that good ones cost next to nothing; of a
    database the newest 20 sessions are. At most one hint comes for what an agent's version writes:
    where a transcript has at least five records that look like prompts and none is one, or where
    short ones of a version that has no prompt in any come to as many together. A transcript that
    cannot be read is yielded as its error. `copy_dir` takes copies of databases. Nothing is changed.
    """
    written: dict[tuple[str, tuple[str, ...]], list[_Look]] = defaultdict(list)
    for source, path in found:
        try:
            for look in await _looks(source, path, copy_dir):
                written[source.agent, look.versions].append(look)
        except TranscriptError as error:
            yield error
    for (agent, _), looks in written.items():
        if hint := _hint(agent, looks):
            yield hint


@dataclass(slots=True)
class _Look:
    """What was seen of one transcript before its first prompt."""

    path: str
    marked: int = 0
    entries: int = 0
    results: int = 0
    is_prompted: bool = False
    versions: tuple[str, ...] = ()
    unknown: dict[str, int] = field(default_factory=dict)

    @property
    def unexplained(self) -> int:
        """Records that look like prompts, as many as there are tools' results left out."""
        return 0 if self.is_prompted else max(0, self.marked - self.results)

    def feed(self, reader: Reader, record: bytes, *, is_document: bool) -> bool:
        """Take a record; return True where there is a prompt in it."""
        self.marked += marks(record, is_document=is_document)
        return self._take(reader.feed(record))

    def end(self, reader: Reader) -> None:
        """Nothing more is read."""
        if not self.is_prompted:
            self._take(reader.settle())
        self.versions = (reader.version,) if reader.version else ()
        self.unknown = dict(reader.unknown.most_common())

    def _take(self, found: Iterable[object]) -> bool:
        for entry in found:
            if isinstance(entry, Entry):
                self.entries += 1
                self.results += entry.role is Role.TOOL
                self.is_prompted = self.is_prompted or is_prompted(entry)
        return self.is_prompted


def _hint(agent: str, looks: list[_Look]) -> Hint | None:
    """Given what was seen of one version, return what is to be said of it."""
    odd = [look for look in looks if look.unexplained >= ENOUGH]
    if not any(look.is_prompted for look in looks):
        odd = [look for look in looks if look.unexplained]
    marked = sum(look.unexplained for look in odd)
    if marked < ENOUGH:
        return None
    unknown: dict[str, int] = {}
    for look in odd:
        for kind, count in look.unknown.items():
            unknown[kind] = unknown.get(kind, 0) + count
    return Hint(
        agent=agent,
        path=odd[0].path,
        versions=odd[0].versions,
        transcripts=len(odd),
        marked=marked,
        entries=sum(look.entries for look in odd),
        unknown=unknown,
        said=said_of(agent, odd[0].versions, marked),
    )


async def _looks(source: Source, path: str, copy_dir: str) -> list[_Look]:
    match container_of(source, path):
        case Container.LINES:
            return [await _look_into_lines(source, path)]
        case Container.DOCUMENT:
            return [_look_into(source, path, iter([await whole_of(source, path)]), is_document=True)]
        case Container.ROWS:
            return await asyncio.to_thread(_look_into_rows, source, path, copy_dir)


async def _look_into_lines(source: Source, path: str) -> _Look:
    reader, look = source.reader(opened(source, path)), _Look(path)
    async for lines, _ in Tail(path).batches():
        if any(look.feed(reader, line, is_document=False) for line in lines if line):
            break
    look.end(reader)
    return look


def _look_into_rows(source: Source, path: str, copy_dir: str) -> list[_Look]:
    tables = tables_of(source, path, copy_dir)
    sessions = sorted(tables.touched(0), key=lambda touched: touched[1], reverse=True)
    return [
        _look_into(source, path, iter(tables.records(session)), is_document=False)
        for session, _ in islice(sessions, _SESSIONS)
    ]


def _look_into(source: Source, path: str, records: Iterator[bytes], *, is_document: bool) -> _Look:
    reader, look = source.reader(opened(source, path)), _Look(path)
    any(look.feed(reader, record, is_document=is_document) for record in records)
    look.end(reader)
    return look
