"""Checks of what runs: the daemon, its last run, what it spends, how it is confined, its model and clock."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, closing
from datetime import timedelta
from pathlib import Path

import msgspec

from extractord.cli.checks.finding import Finding, Patient, fail, ok, warn
from extractord.cli.elapsed import ago
from extractord.cli.listing import counted
from extractord.config import platform_surroundings
from extractord.config.usable import key_fault
from extractord.core.budget import Limits, Stop, Warn, judge_spend
from extractord.core.embedded import NAME as EMBEDDED
from extractord.core.ports import Spent
from extractord.core.records import Message, Outcome
from extractord.edges.confine.trial import is_enough
from extractord.edges.folder import Folder
from extractord.edges.ledger import Ledger
from extractord.edges.modelhost import ModelHost
from extractord.edges.processes import Processes
from extractord.edges.redaction import Redaction
from extractord.edges.state import daemon_of
from extractord.environs import OURSELVES, Environs
from extractord.errors import ExtractordError, ModelError
from extractord.house import probed
from extractord.spending import BudgetSpent, Spending
from extractord.storeroom import now

_SLACK = timedelta(minutes=1)
_SHOWN = 3


def daemon(patient: Patient) -> Iterator[Finding]:
    """Whether anybody watches."""
    found = daemon_of(patient.settings.state_dir)
    if found is None:
        yield fail(
            "the daemon does not run: nothing is remembered",
            "`extractord install systemd` (or launchd) starts it with your session, `extractord run` here",
        )
    else:
        yield ok(f"the daemon runs, process {found.pid}" if found.pid else "the daemon is starting")
    if patient.settings.mode == "recall":
        yield warn('mode = "recall": nothing is extracted', 'set mode = "auto" or "ask"')


def runs(patient: Patient) -> Iterator[Finding]:
    """How the last run ended, and what waits or was given up."""
    ledger = patient.ledger
    last = next(map(ledger.standing.as_left, ledger.runs.recent(1)), None)
    if last is None:
        yield ok("no run yet")
    elif last.outcome == "running":
        yield ok(f"a run is under way, begun {ago(last.started_at, patient.now)}")
    else:
        when = ago(last.ended_at or last.started_at, patient.now)
        reason = f": {last.reason}" if last.reason else ""
        says = f"the last run ended as {last.outcome} {when}{reason}"
        bad = last.outcome in (Outcome.FAILED, Outcome.DEFERRED, Outcome.PARKED)
        yield warn(says, f"`extractord runs show {last.run}`") if bad else ok(says)
    for row in ledger.standing.parked()[:_SHOWN]:
        yield warn(f"{row.run} was given up: {row.reason}", f"`extractord runs retry {row.run}`")
    waiting = ledger.standing.waiting()
    if waiting:
        first = waiting[0]
        why = f": {first.reason}" if first.reason else ""
        yield warn(
            f"{counted(len(waiting), 'session')} to be tried again, {first.agent} {first.session} first{why}",
            "the daemon tries them when it is time; `extractord status` says when",
        )
    if held := ledger.standing.held():
        yield warn(f"held for you: {counted(held, 'fact')}", "`extractord review`")


def spend(patient: Patient) -> Iterator[Finding]:
    """What was spent today, against the day's limits."""
    limits = msgspec.convert(msgspec.structs.asdict(patient.settings.budget), Limits)
    today = patient.ledger.runs.spent(patient.now.replace(hour=0, minute=0, second=0, microsecond=0))
    match judge_spend(limits, today, Spent(), patient.now):
        case Stop(reason=reason) | Warn(reason=reason):
            yield warn(reason, "wait for tomorrow, or raise the limit in [budget]")
        case _:
            yield ok(
                f"{today.requests:,} requests, {today.tokens:,} tokens, {today.dollars:.2f} dollars today"
            )


def confinement(patient: Patient) -> Iterator[Finding]:
    """What a child can do all the same: one is let try."""
    setting = patient.settings.confinement
    if setting == "off":
        yield warn('confinement = "off": nothing is confined', 'set confinement = "required"')
        return
    try:
        level, could = asyncio.run(_probed(patient))
    except ExtractordError as error:
        yield fail(f"no child could be tried: {error}", "see the daemon's log")
        return
    if is_enough(level, could):
        yield ok(f"a child reaches {level}, and none of what it tried succeeded")
    else:
        says = f"a child reaches {level}; it could: {', '.join(could) or 'everything'}"
        remedy = "take a kernel with Landlock (5.13 or newer, `landlock` among the boot's `lsm=`)"
        other = f'{remedy}, or set confinement = "best-effort"'
        yield fail(says, other) if setting == "required" else warn(says, remedy)


async def _probed(patient: Patient) -> tuple[str, tuple[str, ...]]:
    forbidden = patient.copies / "forbidden"
    forbidden.touch()
    root = patient.copies / "root"
    processes = Processes([*OURSELVES, "_processes", patient.settings.confinement])
    processes.start()
    try:
        with closing(Folder.create(root, Path(platform_surroundings()[1]))) as folder:
            tried = await probed(processes, patient.settings, forbidden, folder)
            return tried.level, tried.succeeded
    finally:
        processes.stop()


def model(patient: Patient) -> Iterator[Finding]:
    """Whether the model can be asked; with --online it is, once."""
    settings = patient.settings
    if settings.model.name == EMBEDDED:
        yield ok("the embedded model: no key, no network")
        return
    if fault := key_fault(settings.model):
        says, _, remedy = fault.rpartition(": ")
        yield fail(says, remedy)
        return
    if not patient.is_online:
        yield ok(f"{settings.model.name}, not asked: --online makes one tiny request")
        return
    try:
        tokens = asyncio.run(_asked(patient))
    except BudgetSpent as error:
        yield warn(f"{settings.model.name} was not asked: {error}", "wait for tomorrow, or raise the limit")
    except ModelError as error:
        yield fail(f"{settings.model.name} gives no reply ({error.fault}): {error}", _cure(error))
    except ExtractordError as error:
        yield fail(f"{settings.model.name} could not be asked: {error}", "see the sentence")
    else:
        yield ok(f"{settings.model.name} replied, for {tokens:,} tokens")


def _cure(error: ModelError) -> str:
    match error.fault:
        case "auth":
            return "see that model.name and the key are right: model.key_file, or the provider's variable"
        case "quota":
            return "see the account at the provider"
        case _:
            return "see the network, model.name and model.base_url; the daemon goes on trying"


async def _asked(patient: Patient) -> int:
    """One tiny request, counted and within the budget as every other. Raise what asking raises."""
    settings = patient.settings
    async with AsyncExitStack() as stack:
        processes = Processes([*OURSELVES, "_processes", settings.confinement])
        stack.callback(processes.stop)
        processes.start()
        redaction = Redaction()
        stack.push_async_callback(redaction.close)
        environs = Environs.of(platform_surroundings()[0])
        host = ModelHost(processes, environs.host_command(settings), environs.host, settings.model.idle_s)
        stack.push_async_callback(host.stop)
        ledger = stack.enter_context(Ledger.open(settings.state_dir))
        limits = msgspec.convert(msgspec.structs.asdict(settings.budget), Limits)
        spending = Spending(ledger.runs, host, redaction, limits, now)
        messages: Sequence[Message] = (Message(role="user", content="Answer with one word: ready?"),)
        reply = await spending.complete(f"doctor {patient.now:%Y-%m-%dT%H:%M:%S}", {}, messages, ())
        return reply.usage.prompt_tokens + reply.usage.completion_tokens


def clock(patient: Patient) -> Iterator[Finding]:
    """Whether the clock went back behind what is written down."""
    moments = [row.started_at for row in patient.ledger.runs.recent(1)]
    moments += [row.at for row in patient.ledger.audit.recent(1)]
    ahead = max(moments, default=patient.now) - patient.now
    if ahead > _SLACK:
        yield warn(
            f"the clock is {ahead} behind the ledger's newest row",
            "set the clock: a day's budget and what waits go by it",
        )
    else:
        yield ok(f"it is {patient.now:%Y-%m-%d %H:%M %Z}, and nothing written down is later")
