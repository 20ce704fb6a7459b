"""What runs take besides their model: one alone, and many at once against a stand-in of known latency."""

from __future__ import annotations

import asyncio
import dataclasses
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from extractord.cli.perf.rows import Conditions, Row, at_least, at_most
from extractord.cli.perf.timing import Taken, medians, own_process, sync_s
from extractord.config import Settings
from extractord.core.budget import Limits
from extractord.core.mailbox import Mailbox
from extractord.core.ports import RunRow
from extractord.core.records import (
    Call,
    Entry,
    Exchange,
    Message,
    Origin,
    Outcome,
    Project,
    Reply,
    Role,
    Snapshot,
    Tool,
    Window,
)
from extractord.edges.redaction import Redaction
from extractord.errors import ExtractordError
from extractord.extraction import Extraction
from extractord.house import now, opened
from extractord.spending import Spending

RUN, DRAIN = "run", "drain"
_RUNS, _QUICK_RUNS = 30, 8
_OWN_MS, _CONFINE_MS = 100.0, 5.0
_DRAINS = ((10, 1, 2.0), (64, 8, 2.0), (320, 32, 2.0))
_QUICK_DRAINS = ((8, 4, 0.5),)
_OF_IDEAL = 0.9
_REQUESTS = 2
_QUOTE = "We deploy on Tuesdays only, since the warehouse counts stock on Mondays"
_UNLIMITED = Limits(
    run_requests="unlimited",
    run_tokens="unlimited",
    day_requests="unlimited",
    day_tokens="unlimited",
    day_dollars="unlimited",
)


class StandIn:
    """In the place of the model host: answers after a latency, always with one memory and the end."""

    def __init__(self, latency_s: float) -> None:
        self._latency_s = latency_s

    async def complete(
        self, _messages: Sequence[Message], _tools: Sequence[Tool], _most: int = 0
    ) -> tuple[Reply, int]:
        """Answer as a model does that needs one request."""
        await asyncio.sleep(self._latency_s)
        content = (
            "---\nname: deploys-on-tuesdays\ndescription: Deploys happen on Tuesdays only, "
            "since the warehouse counts stock on Mondays\nmetadata:\n  type: project\n---\n"
            "We deploy on Tuesdays only.\n"
        )
        asked = {
            "file_path": "/memory/project/deploys-on-tuesdays.md",
            "content": content,
            "evidence": [{"entry": "e1", "quote": _QUOTE}],
        }
        write = Call(id="c1", name="Write", arguments=msgspec.json.encode(asked).decode())
        return Reply(calls=(write, Call(id="c2", name="Finish", arguments="{}")), model="stand-in"), 1


def measure_run(conditions: Conditions) -> Sequence[Row]:
    """Run extractions one after another in real children, with the embedded model and with a stand-in."""
    runs = _QUICK_RUNS if conditions.quick else _RUNS
    folder = conditions.folder
    sync_ms = sync_s(folder) * 1000
    confining = own_process(["-m", "extractord.cli.perf.alone", "confine", str(folder)])
    confine_s = msgspec.json.decode(confining, type=float)
    rows, taken = asyncio.run(_run_alone(folder, runs))  # from here on this process is confined itself
    own = {name: medians(times) for name, times in taken.items()}
    requests = max(row.requests for row in rows)
    limit = "a limit"

    def detail(name: str) -> str:
        daemon_ms = own[name].cpu * 1000
        return (
            f"{runs} runs; {daemon_ms:.0f} ms of the daemon's processor; a sync of this disk {sync_ms:.1f} ms"
        )

    return [
        at_most(
            RUN,
            "own time, embedded model",
            own["embedded"].wall * 1000,
            _OWN_MS,
            "ms",
            limit,
            detail("embedded"),
        ),
        at_most(
            RUN,
            "own time, stand-in of no latency",
            own["stand-in"].wall * 1000,
            _OWN_MS,
            "ms",
            limit,
            detail("stand-in"),
        ),
        at_most(RUN, "confinement", confine_s * 1000, _CONFINE_MS, "ms", limit, "in children just forked"),
        at_most(
            RUN, "a usual run", requests, _REQUESTS, "requests", limit, "a memory and Finish in one reply"
        ),
    ]


def measure_drain(conditions: Conditions) -> Sequence[Row]:
    """Drain mailboxes of many projects, real children against a stand-in for the model host in process."""
    return asyncio.run(_drain_each(conditions.folder, _QUICK_DRAINS if conditions.quick else _DRAINS))


async def _run_alone(folder: Path, runs: int) -> tuple[list[RunRow], dict[str, list[Taken]]]:
    rows: list[RunRow] = []
    taken: dict[str, list[Taken]] = {"embedded": [], "stand-in": []}
    async with opened(_settings(folder), serving=False) as house:
        ways = {"embedded": house.extraction, "stand-in": _standing_in(house.extraction, 0.0)}
        for number in range(runs + 1):
            for name, extraction in ways.items():
                began, cpu = time.perf_counter(), time.process_time()
                row = await extraction.run(_snapshot(f"{name}-{number:04d}"))
                if number:
                    taken[name].append(Taken(time.perf_counter() - began, time.process_time() - cpu))
                    rows.append(_saved(row))
    return rows, taken


async def _drain_each(folder: Path, drains: Sequence[tuple[int, int, float]]) -> list[Row]:
    rows = []
    async with opened(_settings(folder), serving=False) as house:
        _saved(await _standing_in(house.extraction, 0.0).run(_snapshot("warm")))
        for number, (runs, concurrency, latency_s) in enumerate(drains):
            mailbox = Mailbox(concurrency)
            for project in range(runs):
                mailbox.offer(_snapshot(f"{number}-{project:04d}"))
            taken = await _drain(_standing_in(house.extraction, latency_s), mailbox)
            ideal = runs * latency_s / concurrency
            own_ms = taken.cpu * 1000 / runs
            detail = (
                f"{taken.wall:.1f} s, the ideal is {ideal:.1f} s; {own_ms:.0f} ms of our processor a run; "
                "the model stands in, in process"
            )
            name, against = f"drain of {runs} at {concurrency}", f"N·L/c, L = {latency_s:g} s"
            rows.append(at_least(DRAIN, name, ideal / taken.wall, _OF_IDEAL, "of the ideal", against, detail))
    return rows


async def _drain(extraction: Extraction, mailbox: Mailbox) -> Taken:
    """What the daemon does between its mailbox and its runs, until nothing waits."""
    wall, cpu = time.perf_counter(), time.process_time()
    async with asyncio.TaskGroup() as group:
        ended = asyncio.Event()
        while mailbox.waiting:
            ended.clear()
            while snapshot := mailbox.take(now()):
                group.create_task(_run(extraction, snapshot, mailbox, ended.set))
            await ended.wait()
    return Taken(time.perf_counter() - wall, time.process_time() - cpu)


async def _run(extraction: Extraction, snapshot: Snapshot, mailbox: Mailbox, end: Callable[[], None]) -> None:
    try:
        _saved(await extraction.run(snapshot))
    finally:
        mailbox.finish(snapshot)
        end()


def _saved(row: RunRow | None) -> RunRow:
    if row is None or row.outcome != Outcome.SAVED:
        raise ExtractordError(f"a run that ought to save did not: {row}")
    return row


def _standing_in(extraction: Extraction, latency_s: float) -> Extraction:
    """The same extraction with a stand-in where its model host would be."""
    redaction: Redaction = extraction.briefing.redaction
    return dataclasses.replace(
        extraction,
        spending=Spending(extraction.accounts.ledger.runs, StandIn(latency_s), redaction, _UNLIMITED, now),
        embedded=False,
    )


def _settings(folder: Path) -> Settings:
    return Settings(data_dir=folder / "share", state_dir=folder / "state")


def _snapshot(name: str) -> Snapshot:
    """A small window of a project of its own: a person's sentence, and an answer."""
    at = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
    cwd = f"/home/dev/{name}"

    def entry(key: str, role: Role, origin: Origin, text: str, *, end: bool = False) -> Entry:
        return Entry(
            id=f"{name}-{key}",
            agent="claude-code",
            session=name,
            role=role,
            origin=origin,
            text=text,
            time=at,
            cwd=cwd,
            turn_end=end,
        )

    entries = (
        entry("prompt", Role.USER, Origin.HUMAN, f"{_QUOTE}. Please remember that."),
        entry("answer", Role.ASSISTANT, Origin.SYNTHETIC, "Noted: Tuesdays only.", end=True),
    )
    exchange = Exchange(
        agent="claude-code", session=name, key=entries[0].id, entries=entries, ended=True, cwd=cwd
    )
    project = Project(slug=f"{name}-0123456789abcdef", identity=cwd, directory=cwd)
    window = Window(agent="claude-code", session=name, project=project, exchanges=(exchange,))
    return Snapshot(window=window)
