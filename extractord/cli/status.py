"""`status`: whether the daemon lives, what it did last and why, what was spent, what waits for whom."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from extractord.cli.elapsed import ago
from extractord.cli.json_lines import print_json
from extractord.cli.options import Json
from extractord.cli.runs import as_json, changed
from extractord.config import load_settings
from extractord.core.budget import Go, Limits, judge_spend
from extractord.core.ports import RunRow, Spent, SpentOn
from extractord.core.printable import printable
from extractord.edges.ledger import Ledger
from extractord.edges.ledger.standing import Waiting
from extractord.edges.state import Daemon, daemon_of

_SHOWN_SPENT = 5


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """How things stand at a moment."""

    daemon: Daemon | None
    last: RunRow | None
    today: Spent
    on: tuple[SpentOn, ...]
    """What today's was spent on, the most first."""
    warning: str
    """The day's limit that is spent or nearly so; empty where none is."""
    running: tuple[str, ...]
    waiting: tuple[Waiting, ...]
    parked: tuple[RunRow, ...]
    held: int
    sources: tuple[tuple[str, str], ...]
    bus: tuple[int, int]
    """Events that wait for the broker, and how many were dropped, ever."""
    fleet: tuple[int, int, int]
    """Windows that no extractor confirmed, that one refused, and that are to be run here."""


def status(*, json: Json = False) -> None:
    """Show whether the daemon runs, its last run and why it ended, today's spend, and what waits."""
    settings = load_settings()
    limits = msgspec.convert(settings.budget, Limits, from_attributes=True)
    now = datetime.now(UTC).astimezone()
    found = look(settings.state_dir, limits, now)
    if json:
        print_json(_told(found, limits))
        return
    for label, line in lines(found, limits, now):
        print(f"{label:<13}{printable(line)}")


def look(state_dir: Path, limits: Limits, now: datetime) -> Status:
    """Given the state directory and the day's limits, return how things stand; changes nothing.

    `now` is aware, in the zone whose midnight begins a day.
    """
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    with Ledger.open(state_dir, readonly=True) as ledger:
        today = ledger.runs.spent(midnight)
        spend = judge_spend(limits, today, Spent(), now)
        return Status(
            daemon=daemon_of(state_dir),
            last=next(map(ledger.standing.as_left, ledger.runs.recent(1)), None),
            today=today,
            on=ledger.runs.spent_on(midnight),
            warning="" if isinstance(spend, Go) else spend.reason,
            running=ledger.standing.running(),
            waiting=ledger.standing.waiting(),
            parked=ledger.standing.parked(),
            held=ledger.standing.held(),
            sources=ledger.standing.sources(),
            bus=(ledger.outbox.waiting(), ledger.outbox.dropped()),
            fleet=(*ledger.windows.under_way(), ledger.inbox.waiting()),
        )


def _told(found: Status, limits: Limits) -> dict[str, object]:
    return {
        "daemon": {"running": found.daemon is not None, "pid": found.daemon and found.daemon.pid},
        "last": found.last and as_json(found.last),
        "today": {
            "requests": {"spent": found.today.requests, "limit": limits.day_requests},
            "tokens": {"spent": found.today.tokens, "limit": limits.day_tokens},
            "dollars": {"spent": found.today.dollars, "limit": limits.day_dollars},
            "on": [
                {"model": one.model, "project": one.project, **msgspec.structs.asdict(one.spent)}
                for one in found.on
            ],
            "warning": found.warning,
        },
        "running": found.running,
        "waiting": found.waiting,
        "parked": [as_json(row) for row in found.parked],
        "held": found.held,
        "confinement": found.last.confinement if found.last else "",
        "fleet": dict(zip(("under_way", "refused", "inbox"), found.fleet, strict=True)),
        "bus": {"waiting": found.bus[0], "dropped": found.bus[1]},
        "sources": [{"agent": agent, "root": root} for agent, root in found.sources],
    }


def lines(found: Status, limits: Limits, now: datetime) -> Iterator[tuple[str, str]]:
    """Given how things stand, yield label and line; a line that belongs to the one before has no label."""
    match found.daemon:
        case None:
            yield "daemon", "not running: `extractord run` starts it"
        case Daemon(pid=None):
            yield "daemon", "starting"
        case Daemon(pid=pid):
            yield "daemon", f"running, process {pid}"
    yield "last run", _run(found.last, now) if found.last else "nothing yet"
    today = found.today
    requests = f"{today.requests:,} of {_limit(limits.day_requests)} requests"
    tokens = f"{today.tokens:,} of {_limit(limits.day_tokens)} tokens"
    yield "today", f"{requests}, {tokens}, {today.dollars:.2f} of {_limit(limits.day_dollars)} dollars"
    for one in found.on[:_SHOWN_SPENT]:
        requests = "1 request" if one.spent.requests == 1 else f"{one.spent.requests:,} requests"
        yield "", f"{one.project} with {one.model}: {requests}, {one.spent.dollars:.4f} dollars"
    if len(found.on) > _SHOWN_SPENT:
        yield "", f"and {len(found.on) - _SHOWN_SPENT} more"
    if found.warning:
        yield "", found.warning
    yield from _listed("running now", list(found.running))
    yield from _listed("waiting", [_wait(waiting, now) for waiting in found.waiting])
    yield from _listed(
        "parked", [f"{row.run}: {row.reason}; `extractord runs retry {row.run}`" for row in found.parked]
    )
    if found.held:
        yield "held", f"{found.held} for you to look at: `extractord review`"
    yield from outside(found)
    if found.last:
        yield "confinement", found.last.confinement or "none at the last run"
    there = [f"{agent}  {root}" for agent, root in found.sources if Path(root).is_dir()]
    if found.sources and not there:
        yield "sources", "no known agent has sessions on this machine"
    yield from _listed("sources", there)


def outside(found: Status) -> Iterator[tuple[str, str]]:
    """Given how things stand, yield label and line of what other machines have to do with it."""
    if any(found.bus):
        waiting, dropped = found.bus
        events = "1 event waits" if waiting == 1 else f"{waiting:,} events wait"
        yield "bus", f"{events} for the broker" + (f", {dropped:,} dropped" if dropped else "")
    if any(found.fleet):
        under_way, refused, inbox = found.fleet
        told = f"{under_way:,} windows sent and not confirmed, {inbox:,} to be run here"
        yield "fleet", told + (f", {refused:,} refused: see the log" if refused else "")


def _listed(label: str, lines: list[str], most: int = 5) -> Iterator[tuple[str, str]]:
    """The label beside the first line; past `most`, how many there are besides."""
    for number, line in enumerate(lines[:most]):
        yield "" if number else label, line
    if len(lines) > most:
        yield "", f"and {len(lines) - most} more: see `--json`"


def _run(row: RunRow, now: datetime) -> str:
    reason = f" ({row.reason})" if row.reason else ""
    return f"{row.outcome}{reason}{changed(row)}, {ago(row.ended_at or row.started_at, now)}: {row.run}"


def _wait(waiting: Waiting, now: datetime) -> str:
    again = (
        "at once" if waiting.retry_at is None or waiting.retry_at <= now else _clock(waiting.retry_at, now)
    )
    count = f"{waiting.exchanges} exchange{'s' if waiting.exchanges > 1 else ''}"
    reason = f"; {waiting.reason}" if waiting.reason else ""
    return f"{count} of {waiting.agent} {waiting.session}, again {again}{reason}"


def _clock(moment: datetime, now: datetime) -> str:
    local = moment.astimezone(now.tzinfo)
    return f"at {local:%H:%M}" if local.date() == now.date() else f"on {local:%Y-%m-%d at %H:%M}"


def _limit(limit: float | str) -> str:
    return limit if isinstance(limit, str) else f"{limit:,}"
