"""Checks of what is read: sources, formats, what was not read yet, and what an agent purges."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from extractord.cli.checks.finding import Finding, Patient, fail, ok, warn
from extractord.cli.elapsed import ago
from extractord.cli.listing import counted
from extractord.core.cursor import Same, decode_cursor
from extractord.core.transcripts.source import Container, Source
from extractord.edges.tail import beginning, check
from extractord.errors import TranscriptError
from extractord.reading.drifting import hints, newest
from extractord.reading.members import container_of, opened

_HEAD_BYTES = 256 * 1024
_UNREAD = timedelta(hours=1)
"""What an agent wrote so long ago ought to have been read."""
_PURGE_NEAR = timedelta(days=5)


def sources(patient: Patient) -> Iterator[Finding]:
    """Where transcripts are, and which version of the agent wrote the newest."""
    for agent, table in patient.settings.agents.items():
        for place in table.paths if table.enabled else ():
            if not Path(place).expanduser().is_dir():
                yield warn(
                    f"agents.{agent}.paths names {place}, which is not a folder",
                    "correct the setting, or make the folder",
                )
    by_agent: dict[Source, list[tuple[str, int]]] = defaultdict(list)
    for source, path, written in patient.transcripts:
        by_agent[source].append((path, written))
    for source, found in by_agent.items():
        path, written = max(found, key=lambda each: each[1])
        when = ago(_moment(written), patient.now)
        version = asyncio.run(_version(source, path))
        yield ok(f"{source.agent}: {counted(len(found), 'transcript')}, the newest written {when}{version}")
    if not by_agent:
        yield fail(
            "no transcript of any agent is where it is looked for",
            "start an agent once; where it keeps its sessions elsewhere, set agents.<name>.paths "
            "(`extractord config sample`)",
        )


def exchange(patient: Patient) -> Iterator[Finding]:
    """The newest exchange that was read to its end, and transcripts that were not."""
    newest_one = patient.ledger.standing.newest()
    if newest_one is None:
        yield warn("no exchange has been seen yet", "say something to an agent while the daemon runs")
    else:
        agent, session, reason, at = newest_one
        yield ok(f"the newest, of {agent} {session}, ended as {reason or 'open'} {ago(at, patient.now)}")
    late = [path for _, path, at in _unread(patient) if patient.now - at > _UNREAD]
    if late:
        yield warn(
            f"{len(late):,} transcripts hold what was not read to its end for over an hour, {late[0]} first",
            "`extractord status` says what waits and why; `extractord extract` reads them now",
        )


def drift(patient: Patient) -> Iterator[Finding]:
    """Whether what an agent writes is still understood."""
    found = newest(patient.room.sources)
    said = asyncio.run(_hinted(found, str(patient.copies)))
    for each in said:
        if isinstance(each, TranscriptError):
            yield warn(str(each), "look at the file; the others are read")
        else:
            yield warn(
                f"{each}",
                "`extractord entries --diagnose FILE` says more; a newer extractord may know it",
            )
    if not said:
        yield ok(f"the newest {len(found):,} transcripts are understood" if found else "no transcript yet")


def purge(patient: Patient) -> Iterator[Finding]:
    """What an agent will delete before it was read."""
    near: dict[str, int] = defaultdict(int)
    for source, _, at in _unread(patient):
        if source.purged_after_days is not None:
            deadline = at + timedelta(days=source.purged_after_days)
            near[source.agent] += deadline - patient.now < _PURGE_NEAR
    for agent, count in near.items():
        if count:
            yield warn(
                f"{count:,} unread transcripts of {agent} are older than it keeps them, or nearly so",
                "`extractord extract` reads them now",
            )
    if not any(near.values()):
        yield ok("nothing unread is about to be purged by its agent")


def _unread(patient: Patient) -> Iterator[tuple[Source, str, datetime]]:
    """Transcripts whose cursor is not at their end; a database's rows are not asked."""
    for source, path, written in patient.transcripts:
        if container_of(source, path) is Container.ROWS:
            continue
        cursor = decode_cursor(patient.ledger.ranges.cursor(path))
        try:
            is_read = cursor is not None and isinstance(check(cursor, path), Same)
        except TranscriptError:
            continue
        if not is_read:
            yield source, path, _moment(written)


async def _version(source: Source, path: str) -> str:
    if container_of(source, path) is not Container.LINES:
        return ""
    try:
        head = await beginning(path, _HEAD_BYTES)
    except TranscriptError as error:
        return f" ({error})"
    reader = source.reader(opened(source, path))
    for line in head.split(b"\n"):
        list(reader.feed(line))
    return f" by version {reader.version}" if reader.version else ""


async def _hinted(found: tuple[tuple[Source, str], ...], copies: str) -> list[str | TranscriptError]:
    return [
        each if isinstance(each, TranscriptError) else f"{each.said}: {each.path}"
        async for each in hints(found, copies)
    ]


def _moment(ns: int) -> datetime:
    return datetime.fromtimestamp(ns / 1e9, UTC)
