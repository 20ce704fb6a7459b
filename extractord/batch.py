"""Transcripts that are there already: what would be run, and running it without a bound."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from extractord.core.events import Skipped
from extractord.core.mailbox import Mailbox
from extractord.core.ports import RunRow
from extractord.core.records import Exchange, Outcome, Snapshot, Window
from extractord.core.tokens import estimate_tokens
from extractord.core.transcripts.source import Source
from extractord.errors import TranscriptError
from extractord.house import House
from extractord.reading.finding import chosen, found_at


class Summary(Struct, frozen=True, kw_only=True):
    """What a batch came to; `skipped` counts exchanges by reason, `saved` and `failed` runs."""

    entries: int
    exchanges: int
    runs: int
    saved: int
    skipped: dict[str, int]
    failed: int


@dataclass(slots=True)
class Plan:
    """What there is to run, what was skipped, and what could not be read."""

    snapshots: list[Snapshot] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    skipped_entries: int = 0
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
        )

    @property
    def _exchanges(self) -> list[Exchange]:
        return [exchange for snapshot in self.snapshots for exchange in snapshot.window.exchanges]


_FAILED = frozenset({Outcome.FAILED, Outcome.CONFLICT, Outcome.ABORTED, Outcome.DEFERRED, Outcome.PARKED})


async def plan(
    house: House, places: Sequence[Path], *, agent: str | None, since: datetime | None, project: str | None
) -> Plan:
    """Given files and folders (none: every known place), return what the gate lets run.

    `agent` says whose they are; `since` leaves out exchanges that ended before; `project` leaves
    out sessions of other projects than that of a directory. Raise UsageError for an agent that nobody knows,
    TranscriptError where one of the places holds nothing.
    """
    planned = Plan()
    slug = house.resolve("", "", project).slug if project is not None else None
    for source, paths in (await _by_source(house, places, agent, planned)).items():
        async for come in house.reading.at_rest(source, paths, house.clock()):
            match come:
                case Window():
                    kept = tuple(exchange for exchange in come.exchanges if _is_since(exchange, since))
                    if kept and slug in (None, come.project.slug):
                        window = replace(come, exchanges=kept)
                        planned.snapshots.append(Snapshot(window=window, offered_at=house.clock()))
                case Skipped():
                    planned.skipped[come.reason] += 1
                    planned.skipped_entries += come.entries
                case TranscriptError():
                    planned.problems.append(come)
    return planned


async def drained(
    house: House, snapshots: Iterable[Snapshot], drain_s: float | None
) -> AsyncIterator[RunRow]:
    """Given snapshots, run them, one at a time in a project, and yield each run as it ends.

    Nothing is begun after `drain_s` seconds; None: until nothing waits. A conflict is run again.
    """
    mailbox = Mailbox(house.settings.run.concurrency)
    for snapshot in snapshots:
        mailbox.offer(snapshot)
    until = None if drain_s is None else asyncio.get_running_loop().time() + drain_s
    running: dict[asyncio.Task[RunRow | None], Snapshot] = {}
    while True:
        if until is not None and asyncio.get_running_loop().time() >= until:
            mailbox.stop()
        while (taken := mailbox.take(house.clock())) is not None:
            running[asyncio.create_task(house.extraction.run(taken))] = taken
        if not running:
            return
        done, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            snapshot, row = running.pop(task), task.result()
            if row is not None and row.outcome == Outcome.CONFLICT:
                mailbox.release(snapshot, snapshot)
            else:
                mailbox.finish(snapshot)
            if row is not None:
                yield row


async def _by_source(
    house: House, places: Sequence[Path], agent: str | None, planned: Plan
) -> dict[Source, list[str]]:
    """The transcripts of the places, or of every folder that is watched, by the agent that writes them."""
    sources = chosen(tuple(dict.fromkeys(source for source, _ in house.sources)), agent)
    asked: list[tuple[str, tuple[Source, ...]]] = [(str(place.expanduser()), sources) for place in places]
    if not places:
        asked = [(root, (source,)) for source, root in house.sources if source in sources and _is_there(root)]
    grouped: dict[Source, list[str]] = {}
    for place, among in asked:
        try:
            found = await found_at(place, among, house.around)
        except TranscriptError as error:
            if places:  # an agent's own folder may well be empty
                planned.problems.append(error)
            continue
        for source, path in found:
            grouped.setdefault(source, []).append(path)
    return grouped


def _is_there(folder: str) -> bool:
    return Path(folder).is_dir()


def _is_since(exchange: Exchange, since: datetime | None) -> bool:
    times = [entry.time for entry in exchange.entries if entry.time is not None]
    return since is None or not times or max(times) >= since
