"""Transcripts that are there already: what would be run, and running it without a bound."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from extractord.core.events import Oversized, Skipped
from extractord.core.ports import RunRow
from extractord.core.records import Exchange, Outcome, Role, Window
from extractord.core.tokens import estimate_tokens
from extractord.core.transcripts.source import Source
from extractord.dispatch import Dispatch
from extractord.errors import TranscriptError
from extractord.house import House
from extractord.reading.finding import chosen, found_at
from extractord.readingroom import ReadingRoom

_ANSWERED_WITHIN = timedelta(minutes=10)


class Summary(Struct, frozen=True, kw_only=True):
    """What a batch came to; `skipped` counts exchanges by reason, `saved` and `failed` runs."""

    entries: int
    exchanges: int
    runs: int
    saved: int
    skipped: dict[str, int]
    failed: int
    held: int = 0
    nothing: int = 0
    """Runs that had nothing to save."""


@dataclass(slots=True)
class Plan:
    """What there is to run, what was skipped, and what could not be read."""

    windows: list[Window] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    skipped_entries: int = 0
    notes: list[Oversized] = field(default_factory=list)
    written: list[str] = field(default_factory=list)
    """Paths below <memory> that the agents themselves wrote."""
    problems: list[TranscriptError] = field(default_factory=list)

    @property
    def tokens(self) -> int:
        """A safe estimate of all that was said; a brief holds at most `model.context_tokens` of it."""
        return sum(estimate_tokens(entry.text) for exchange in self._exchanges for entry in exchange.entries)

    def summary(self, rows: Sequence[RunRow]) -> Summary:
        """Given the runs that were made, return the whole."""
        exchanges = self._exchanges
        return Summary(
            entries=self.skipped_entries + sum(len(exchange.entries) for exchange in exchanges),
            exchanges=self.skipped.total() + len(exchanges),
            runs=len(rows),
            saved=sum(row.outcome == Outcome.SAVED for row in rows),
            skipped=dict(sorted(self.skipped.items())),
            failed=sum(row.outcome in _FAILED for row in rows),
            held=sum(bool(row.held) for row in rows),
            nothing=sum(row.outcome == Outcome.NOTHING_TO_SAVE for row in rows),
        )

    @property
    def _exchanges(self) -> list[Exchange]:
        return [exchange for window in self.windows for exchange in window.exchanges]


_FAILED = frozenset({Outcome.FAILED, Outcome.CONFLICT, Outcome.ABORTED, Outcome.DEFERRED, Outcome.PARKED})


async def plan(
    room: ReadingRoom,
    places: Sequence[Path],
    *,
    agent: str | None,
    since: datetime | None,
    project: str | None,
) -> Plan:
    """Given files and folders (none: every known place), return what the gate lets run.

    `agent` says whose they are; `since` leaves out exchanges that ended before; `project` leaves
    out sessions of other projects than that of a directory. Raise UsageError for an agent that nobody knows,
    TranscriptError where one of the places holds nothing.
    """
    planned = Plan()
    slug = room.resolve("", "", project).slug if project is not None else None
    for source, paths in (await _by_source(room, places, agent, planned)).items():
        async for come in room.reading.at_rest(source, paths, room.clock()):
            match come:
                case Window():
                    window = _asked_for(come, since, room.clock())
                    if window.exchanges and slug in (None, window.project.slug):
                        planned.windows.append(window)
                case Skipped():
                    planned.skipped[come.reason] += 1
                    planned.skipped_entries += come.entries
                    planned.written += come.written
                case Oversized():
                    planned.notes.append(come)
                case TranscriptError():
                    planned.problems.append(come)
    return planned


async def drained(house: House, windows: Iterable[Window], drain_s: float | None) -> AsyncIterator[RunRow]:
    """Given windows, run them, one at a time in a project, and yield each run as it ends.

    Nothing is begun after `drain_s` seconds; None: until nothing may be begun. A conflict is run
    again; what has to wait for its time waits for another batch, or for the daemon.
    """
    rows: asyncio.Queue[RunRow] = asyncio.Queue()
    dispatch = Dispatch(house, rows.put_nowait, lambda: None)
    for window in windows:
        dispatch.offer(window)
    if drain_s is not None:
        asyncio.get_running_loop().call_later(drain_s, dispatch.stop)
    if drain_s != 0:
        dispatch.begin()
    try:
        while dispatch.running or not rows.empty():
            ended = asyncio.create_task(rows.get())
            await asyncio.wait({ended, *dispatch.running}, return_when=asyncio.FIRST_COMPLETED)
            if ended.done():
                yield ended.result()
            else:
                ended.cancel()
    finally:  # interrupted: each run in flight gives its claim back, uncounted
        dispatch.stop()
        dispatch.cancel()
        await asyncio.gather(*dispatch.running, return_exceptions=True)
    if dispatch.fault is not None:
        raise dispatch.fault


async def _by_source(
    room: ReadingRoom, places: Sequence[Path], agent: str | None, planned: Plan
) -> dict[Source, list[str]]:
    """The transcripts of the places, or of every folder that is watched, by the agent that writes them."""
    sources = chosen(room.known, agent)
    asked: list[tuple[str, tuple[Source, ...]]] = [(str(place.expanduser()), sources) for place in places]
    if not places:
        asked = [(root, (source,)) for source, root in room.sources if source in sources and _is_there(root)]
    grouped: dict[Source, list[str]] = {}
    for place, among in asked:
        try:
            found = await found_at(place, among, room.around, planned.problems.append)
        except TranscriptError as error:
            if places:  # an agent's own folder may well be empty
                planned.problems.append(error)
            continue
        for source, path in found:
            grouped.setdefault(source, []).append(path)
    return grouped


def _is_there(folder: str) -> bool:
    return Path(folder).is_dir()


def _asked_for(window: Window, since: datetime | None, now: datetime) -> Window:
    """The window without exchanges that ended before `since` or are still under way."""
    exchanges = window.exchanges
    kept = (each for each in exchanges if _is_since(each, since) and not _is_under_way(each, now))
    return replace(window, exchanges=tuple(kept))


def _is_since(exchange: Exchange, since: datetime | None) -> bool:
    times = [entry.time for entry in exchange.entries if entry.time is not None]
    return since is None or not times or max(times) >= since


def _is_under_way(exchange: Exchange, now: datetime) -> bool:
    """True if a prompt of the last minutes has no answer yet: its agent is at work, and is read later."""
    if any(entry.role is Role.ASSISTANT for entry in exchange.entries):
        return False
    times = [entry.time for entry in exchange.entries if entry.time is not None]
    return bool(times) and now - max(times) < _ANSWERED_WITHIN
