"""How long after an exchange's end its snapshot waits in the mailbox, beyond what any watcher takes."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from watchfiles import awatch

from extractord.cli.perf.claude import Session
from extractord.cli.perf.reading import reading_over
from extractord.cli.perf.rows import Conditions, Row, at_most
from extractord.core.mailbox import Mailbox
from extractord.core.records import Snapshot, Window
from extractord.core.transcripts import claude_code
from extractord.edges.ledger import Ledger
from extractord.edges.watch import Watch
from extractord.errors import ExtractordError
from extractord.reading import Reading

GROUP = "offer"
_SIZE = 1_000_000
_APPENDS, _QUICK_APPENDS = 25, 7
_WARM_S = 1.5
_REST_S = 0.3
_PATIENCE_S = 10.0
_DEBOUNCE_MS, _STEP_MS = 50, 25
"""As the daemon's own watch has them: a bare loop with others would be slower or faster by those."""
_MOST_MS = 50.0

Moments = asyncio.Queue[float]


def measure(conditions: Conditions) -> Sequence[Row]:
    """Append exchanges to a transcript; each time ours and a bare watcher tell when they saw it."""
    return asyncio.run(_measure(conditions.folder, _QUICK_APPENDS if conditions.quick else _APPENDS))


async def _measure(folder: Path, appends: int) -> list[Row]:
    projects = folder / "projects"
    (projects / "shop").mkdir(parents=True)
    session = Session(4, "/home/dev/shop")
    transcript = projects / "shop" / f"{session.id}.jsonl"
    transcript.write_bytes(b"".join(session.lines(_SIZE)))
    stop, ours, bare = asyncio.Event(), Moments(), Moments()
    with Ledger.open(folder / "state") as ledger:
        reading = reading_over(ledger, str(folder))
        await reading.begin(claude_code.SOURCE, str(projects))
        async with asyncio.TaskGroup() as group:
            group.create_task(_offer(reading, projects, stop, ours))
            group.create_task(_watch(projects, stop, bare))
            await asyncio.sleep(_WARM_S)
            pairs = []
            for number in range(appends):
                records = session.exchange(number, f"we deploy shop number {number} on tuesdays only")
                lines = b"".join(msgspec.json.encode(record) + b"\n" for record in records)
                pairs.append(await _appended(transcript, lines, ours, bare))
                await asyncio.sleep(_REST_S)
            stop.set()
    own, watchers = (statistics.median(taken) * 1000 for taken in zip(*pairs, strict=True))
    beyond = statistics.median(mine - theirs for mine, theirs in pairs) * 1000
    detail = (
        f"append to snapshot {own:.0f} ms, to a bare watcher's report {watchers:.0f} ms, {appends} appends"
    )
    against = "a bare watchfiles loop on the same folder"
    return [at_most(GROUP, "append to snapshot offered", beyond, _MOST_MS, "ms", against, detail)]


async def _appended(transcript: Path, lines: bytes, ours: Moments, bare: Moments) -> tuple[float, float]:
    """Append; return after how many seconds each has seen it."""
    for queue in (ours, bare):
        with suppress(asyncio.QueueEmpty):
            while True:
                queue.get_nowait()
    with transcript.open("ab", buffering=0) as file:
        file.write(lines)
        began = time.perf_counter()
    async with asyncio.timeout(_PATIENCE_S):
        return await ours.get() - began, await bare.get() - began


async def _offer(reading: Reading, projects: Path, stop: asyncio.Event, moments: Moments) -> None:
    """What the daemon does between its watch and its mailbox."""
    mailbox = Mailbox(concurrency=1)
    watch = Watch([(claude_code.SOURCE, str(projects))], polling=False, rescan_s=600.0, warn=_refuse)
    async for touched in watch.touched(stop):
        for source, path in touched:
            now = datetime.now(UTC)
            for come in await reading.touched(source, path, now):
                if isinstance(come, Window):
                    mailbox.offer(Snapshot(window=come))
                    moments.put_nowait(time.perf_counter())


async def _watch(projects: Path, stop: asyncio.Event, moments: Moments) -> None:
    async for _ in awatch(
        projects, watch_filter=None, debounce=_DEBOUNCE_MS, step=_STEP_MS, stop_event=stop, rust_timeout=1000
    ):
        moments.put_nowait(time.perf_counter())


def _refuse(warning: str) -> None:
    raise ExtractordError(warning)
