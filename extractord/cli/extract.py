"""`extract`: batch over transcripts that are there already."""

from __future__ import annotations

import asyncio
import re
import signal
import sys
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import msgspec
from cyclopts import Parameter

from extractord.batch import Plan, Summary, drained, plan
from extractord.cli.json_lines import json_line, print_json
from extractord.cli.listing import counted
from extractord.cli.options import Json
from extractord.cli.runs import as_json
from extractord.config import load_settings
from extractord.core.events import Oversized
from extractord.core.ports import RunRow
from extractord.core.printable import printable
from extractord.edges.store import Store
from extractord.errors import EXIT_FAILED, UsageError
from extractord.house import opened
from extractord.readingroom import planning_room
from extractord.storeroom import to_stderr

_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def extract(
    *paths: str,
    agent: str | None = None,
    since: str | None = None,
    project: Path | None = None,
    dry_run: Annotated[bool, Parameter(negative=())] = False,
    drain: str = "none",
    json: Json = False,
) -> int:
    """Read transcripts that are there already and remember what is worth it.

    Parameters
    ----------
    paths
        Transcripts, or folders that hold them, such as an agent's home; none: every known place.
    agent
        Whose transcripts they are, where that cannot be told; or only this agent's.
    since
        Only exchanges of the last while: 90m, 12h, 30d, 4w.
    project
        Only sessions of the project that this directory belongs to.
    dry_run
        Say what would be run; run, close and write nothing.
    drain
        Seconds after which no further run is begun; none: until all is done.
    json
        One object a line, a run each; the last line sums up.
    """
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))  # ended in order too
    return asyncio.run(
        _extract(
            tuple(map(_place, paths)),
            agent,
            _age(since),
            project,
            _seconds(drain),
            dry_run=dry_run,
            json=json,
        )
    )


async def _extract(
    paths: tuple[Path, ...],
    agent: str | None,
    age: timedelta | None,
    project: Path | None,
    drain_s: float | None,
    *,
    dry_run: bool,
    json: bool,
) -> int:
    settings = load_settings()
    if settings.mode == "recall" and not dry_run:
        raise UsageError('mode = "recall" extracts nothing: set it to "auto" or "ask", or add --dry-run')
    rows = []
    async with AsyncExitStack() as stack:
        house = None if dry_run else await stack.enter_async_context(opened(settings))
        room = house.room if house else stack.enter_context(planning_room(settings))
        since = room.clock() - age if age is not None else None
        planned = await plan(room, paths, agent=agent, since=since, project=_absolute(project))
        for problem in (*map(_left_out, planned.notes), *planned.problems):
            to_stderr(str(problem))
        if planned.windows or not planned.problems:
            print(_announced(planned), file=sys.stderr)
        if house is None:
            _list(planned, json=json)
        else:
            await house.writer.do(Store.witness, planned.written)
            async for row in drained(house, planned.windows, drain_s):
                rows.append(row)
                print(json_line(as_json(row)) if json else _said(row), flush=True)
    summary = planned.summary(rows)
    if json:
        print_json({"summary": True, **msgspec.structs.asdict(summary)})
    else:
        print(_summed_up(summary, settings.memory_dir) if house else "a dry run: nothing was run or written")
    return EXIT_FAILED if summary.failed or planned.problems else 0


def _announced(planned: Plan) -> str:
    exchanges = sum(len(window.exchanges) for window in planned.windows)
    skipped = planned.skipped.total()
    if not exchanges and not skipped:
        return "nothing new to read"
    return (
        f"{counted(len(planned.windows), 'session')} with {counted(exchanges, 'exchange')} to read, "
        f"about {planned.tokens:,} tokens" + (f"; {counted(skipped, 'exchange')} skipped" if skipped else "")
    )


def _left_out(note: Oversized) -> str:
    return f"{note.path}: {counted(note.lines, 'line')} of {note.bytes:,} bytes left out: over 16 MiB"


def _list(planned: Plan, *, json: bool) -> None:
    for window in planned.windows:
        named = {"agent": window.agent, "session": window.session, "project": window.project.slug}
        if json:
            row = {"would_run": True, **named, "exchanges": [exchange.key for exchange in window.exchanges]}
            print_json(row)
        else:
            exchanges = counted(len(window.exchanges), "exchange")
            which = f"{window.agent} {window.session} in {window.project.slug}"
            print(printable(f"would run: {which}, {exchanges}"))


def _said(row: RunRow) -> str:
    """A run for a person: what it came to, and each memory that it touched."""
    lines = [f"{row.outcome:<16} {row.agent} {row.session}" + (f"  ({row.reason})" if row.reason else "")]
    lines += [f"  + {path}" for path in row.written]
    lines += [f"  - {path}" for path in row.removed]
    lines += [f"  ? {path}  held for review" for path in row.held]
    return "\n".join(map(printable, lines))


def _summed_up(summary: Summary, memory: Path) -> str:
    skipped = ", ".join(f"{number} {reason}" for reason, number in summary.skipped.items())
    return (
        f"{counted(summary.exchanges, 'exchange')}, {counted(summary.runs, 'run')}: {summary.saved} saved, "
        + (f"{summary.nothing} with nothing to save, " if summary.nothing else "")
        + (f"{summary.held} with something held (`extractord review`), " if summary.held else "")
        + f"{summary.failed} failed"
        + (f"; skipped: {skipped}" if skipped else "")
        + f". Memories: {memory}"
    )


def _place(path: str) -> Path:
    if not path:
        raise UsageError("a path is empty: name a transcript or a folder, or nothing for every known place")
    return Path(path)


def _absolute(place: Path | None) -> str | None:
    return None if place is None else str(place.expanduser().absolute())


def _age(since: str | None) -> timedelta | None:
    if since is None:
        return None
    found = re.fullmatch(r"(\d+)([mhdw])", since)
    if found is None:
        raise UsageError(f"--since {since}: write a number and m, h, d or w, such as 12h or 30d")
    return timedelta(**{_UNITS[found[2]]: int(found[1])})


def _seconds(drain: str) -> float | None:
    if drain == "none":
        return None
    if not re.fullmatch(r"\d+(\.\d+)?", drain):
        raise UsageError(f"--drain {drain}: write a number of seconds, or none")
    return float(drain)
