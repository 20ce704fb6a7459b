"""The rooms, opened in order and closed in reverse: what `run`, `extract` and `bench` stand in."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path

import msgspec

from extractord.accounts import Accounts
from extractord.agent.catalogue import CATALOGUE
from extractord.agent.prompts import load as load_agent_prompts
from extractord.briefing import Briefing
from extractord.config import Settings, platform_surroundings
from extractord.config.usable import required
from extractord.core.budget import Limits
from extractord.core.embedded import NAME as EMBEDDED
from extractord.core.ports import Runner
from extractord.core.wire import Probe, Probed
from extractord.edges.child import ForkedChild
from extractord.edges.confine.trial import is_enough, not_enough
from extractord.edges.folder import Folder
from extractord.edges.ledger import Ledger
from extractord.edges.modelhost import ModelHost
from extractord.edges.processes import Processes
from extractord.edges.prompts import load_prompts
from extractord.edges.redaction import Redaction
from extractord.edges.state import State
from extractord.edges.store import Writer
from extractord.environs import OURSELVES, Environs
from extractord.errors import ConfinementError
from extractord.extraction import Extraction
from extractord.readingroom import ReadingRoom, reading_room
from extractord.spending import Spending
from extractord.storeroom import another_store, confined, now, storeroom, to_stderr

__all__ = ["House", "extraction_of", "now", "opened", "probed", "rearranged"]


@dataclass(frozen=True, slots=True, kw_only=True)
class House:
    """What stands open while extractord works."""

    settings: Settings
    state: State
    ledger: Ledger
    writer: Writer
    """The one way to the memories."""
    room: ReadingRoom
    extraction: Extraction
    clock: Callable[[], datetime]
    means: Means
    elsewhere: Runner | None = None
    """What takes the snapshots instead, where runs are made on another machine."""

    @property
    def runner(self) -> Runner:
        """What takes the snapshots."""
        return self.elsewhere or self.extraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What runs are made with, whatever the settings."""

    processes: Processes
    redaction: Redaction
    environs: Environs
    host: ModelHost
    level: str
    """The confinement that a child reaches."""
    is_told: bool
    """Each run that ends is reported: this is a daemon."""
    closing: AsyncExitStack


@asynccontextmanager
async def opened(
    settings: Settings,
    *,
    serving: bool = False,
    warn: Callable[[str], None] = to_stderr,
    writable: Sequence[Path] = (),
) -> AsyncIterator[House]:
    """Given the settings, open everything; `serving` is for the one daemon of a state.

    `writable` are folders that this process goes on to write in besides memory and state.
    `warn` is told what a person should know of ledger and memories.
    Raise AlreadyRunning, ConfigError, LedgerError or StoreError with what to do.
    """
    broker = required(settings)
    tmp = tempfile.gettempdir()  # found by writing, which this process soon can't
    async with AsyncExitStack() as stack:
        opened_store = stack.enter_context(storeroom(settings, warn, serving=serving))
        state, ledger = opened_store.state, opened_store.ledger
        ledger.hurry()  # the store's own connection, in the writer's thread, does not
        room = _room(settings, ledger)
        processes = Processes([*OURSELVES, "_processes", settings.confinement])
        stack.callback(processes.stop)
        processes.start()
        own = confined(
            settings,
            Path(tmp),
            [*writable, settings.memory_dir, settings.state_dir],
            broker_port=broker.port if broker and serving else None,
        )
        ledger.confined(own)
        writer = Writer(partial(another_store, settings, state, confinement=own))  # bound by that too
        stack.push_async_callback(writer.close)
        redaction = Redaction()
        stack.push_async_callback(redaction.close)
        await redaction.start()
        level = await _tried(settings, processes, state)
        environs = Environs.of(platform_surroundings()[0])
        means = Means(
            processes=processes,
            redaction=redaction,
            environs=environs,
            host=_host(settings, processes, environs, stack),
            level=level,
            is_told=serving,
            closing=stack,
        )
        extraction = extraction_of(settings, ledger, writer, means)
        extraction.accounts.reaped(now())
        yield House(
            settings=settings,
            state=state,
            ledger=ledger,
            writer=writer,
            room=room,
            extraction=extraction,
            clock=now,
            means=means,
        )


def rearranged(house: House, settings: Settings) -> House:
    """Given an open house and other settings, return it as they want it; runs in flight keep the old.

    Places and confinement stay as they were opened. A model host that is no longer wanted goes when
    it was `model.idle_s` unused. Raise ConfigError, and nothing is changed.
    """
    required(settings)
    means, room = house.means, _room(settings, house.ledger)
    if settings.model != house.settings.model:
        host = _host(settings, means.processes, means.environs, means.closing)
        means = replace(means, host=host)
    return replace(
        house,
        settings=settings,
        room=room,
        extraction=extraction_of(settings, house.ledger, house.writer, means),
        means=means,
    )


def _room(settings: Settings, ledger: Ledger) -> ReadingRoom:
    return reading_room(
        settings, ledger.ranges, str(settings.state_dir), ledger.transaction, uses=ledger.uses
    )


def _host(settings: Settings, processes: Processes, environs: Environs, closing: AsyncExitStack) -> ModelHost:
    host = ModelHost(processes, environs.host_command(settings), environs.host, settings.model.idle_s)
    closing.push_async_callback(host.stop)
    return host


def extraction_of(settings: Settings, ledger: Ledger, writer: Writer, means: Means) -> Extraction:
    """Given a ledger and a writer, return what makes runs over them."""
    limits = msgspec.convert(msgspec.structs.asdict(settings.budget), Limits)
    return Extraction(
        accounts=Accounts(
            ledger=ledger,
            owner=ledger.present(),
            model=settings.model.name,
            confinement=means.level,
            is_told=means.is_told,
        ),
        briefing=_briefing(settings, means.redaction),
        child=ForkedChild(means.processes, settings.budget.run_s, CATALOGUE),
        spending=Spending(ledger.runs, means.host, means.redaction, limits, now),
        writer=writer,
        clock=now,
        mode="ask" if settings.mode == "ask" else "auto",
        embedded=settings.model.name == EMBEDDED,
        turns=settings.budget.turns,
        parked_after=settings.budget.attempts,
    )


async def _tried(settings: Settings, processes: Processes, state: State) -> str:
    """The level that a child reaches, found by letting one try. Raise ConfinementError where too low."""
    with closing(Folder.create(settings.memory_dir / "user", Path(platform_surroundings()[1]))) as root:
        tried = await probed(processes, settings, state.directory / "identity", root)
    if settings.confinement == "required" and not is_enough(tried.level, tried.succeeded):
        raise ConfinementError(not_enough("the sub-agent", tried.level, tried.succeeded))
    return tried.level


async def probed(processes: Processes, settings: Settings, forbidden: Path, root: Folder) -> Probed:
    """Let a child try what it must not be able to do: read a file that is not its own, write, connect."""
    child = ForkedChild(processes, settings.budget.run_s, CATALOGUE)
    return await child.probe(Probe(forbidden=str(forbidden)), [root.fileno()])


def _briefing(settings: Settings, redaction: Redaction) -> Briefing:
    return Briefing(
        redaction=redaction,
        system=load_agent_prompts().system,
        tools=CATALOGUE,
        prompts=load_prompts(),
        tokens=settings.model.context_tokens,
        clock=now,
    )
