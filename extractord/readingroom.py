"""What reads: sources, adapters, gate and projects over a ledger's ranges."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from extractord.agent.prompts import load as load_agent_prompts
from extractord.config import Settings, platform_surroundings
from extractord.core.gate import GateSettings
from extractord.core.ports import Ranges, Uses
from extractord.core.records import Project
from extractord.core.transcripts import SOURCES
from extractord.core.transcripts.source import Source, Surroundings
from extractord.edges import projects
from extractord.edges.ledger import Ledger
from extractord.edges.state import excluded_in
from extractord.errors import ConfigError
from extractord.reading import Reading
from extractord.reading.gating import Resolve
from extractord.reading.unkept import Unkept
from extractord.storeroom import now


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingRoom:
    """Turns transcripts into windows."""

    reading: Reading
    known: tuple[Source, ...]
    """Each agent that is read, also where no folder of its own is known."""
    sources: tuple[tuple[Source, str], ...]
    """Each of them with each folder where its transcripts may be."""
    around: Surroundings
    resolve: Resolve
    """The project of an agent's session in a directory."""
    clock: Callable[[], datetime]


def reading_room(
    settings: Settings,
    ranges: Ranges,
    copy_dir: str,
    transaction: Callable[[], AbstractContextManager[None]],
    clock: Callable[[], datetime] = now,
    uses: Uses | None = None,
) -> ReadingRoom:
    """Given the settings and a ledger's ranges, return what reads. Raise ConfigError for unknown agents.

    `copy_dir` takes copies of databases; `transaction` is the ledger's; `uses` is told
    which memories were opened.
    """
    environ, home, platform = platform_surroundings()
    around = Surroundings(environ, home, platform)
    resolve = _resolver(settings, ranges, home, tempfile.gettempdir())
    known = known_agents(settings)
    return ReadingRoom(
        reading=Reading(
            ranges,
            resolve,
            _gate(settings, home),
            settle_s=settings.run.settle_s,
            copy_dir=copy_dir,
            headless=frozenset(name for name, agent in settings.agents.items() if agent.headless),
            transaction=transaction,
            uses=uses,
        ),
        known=known,
        sources=tuple((source, root) for source in known for root in source.roots(around)),
        around=around,
        resolve=resolve,
        clock=clock,
    )


@contextmanager
def planning_room(settings: Settings) -> Iterator[ReadingRoom]:
    """Given the settings, yield what reads and changes nothing, not even the ledger."""
    with (
        Ledger.open(settings.state_dir, readonly=True) as ledger,
        tempfile.TemporaryDirectory(prefix="extractord-") as copies,
    ):
        yield reading_room(settings, Unkept(ledger.ranges), copies, ledger.transaction)


def _resolver(settings: Settings, ranges: Ranges, home: str, tmp: str) -> Resolve:
    """A project is found once, when a session's directory is first seen: tomorrow it may be gone."""

    def resolve(agent: str, session: str, cwd: str) -> Project:
        known = ranges.project(agent, session, cwd)
        if known is not None:
            return known
        project = projects.resolve(
            cwd or home,
            configured=settings.projects.identities,
            worktrees=settings.projects.worktrees,
            home=home,
            tmp=tmp,
        )
        ranges.note_project(agent, session, cwd, project)
        return project

    return resolve


def _gate(settings: Settings, home: str) -> GateSettings:
    memory = settings.memory_dir
    return GateSettings(
        home=home,
        memory_roots=tuple(dict.fromkeys((str(memory), str(memory.resolve())))),
        excluded=(
            *(str(Path(place).expanduser()) for place in settings.projects.exclude),
            *excluded_in(settings.state_dir),
        ),
        own_marker=load_agent_prompts().system.partition("\n")[0],
    )


def known_agents(settings: Settings) -> tuple[Source, ...]:
    """The agents that are read; folders that the settings name for one are its own.

    Raise ConfigError for agents that are not known.
    """
    known = {source.agent for source in SOURCES}
    unknown = [name for name in settings.agents if name not in known]
    if unknown:
        raise ConfigError(
            *(
                f"`agents.{name}` is not an agent that can be read: {', '.join(sorted(known))}"
                for name in unknown
            )
        )
    wanted = ((source, settings.agents.get(source.agent)) for source in SOURCES)
    return tuple(
        _lying_at(source, agent.paths) if agent and agent.paths else source
        for source, agent in wanted
        if agent is None or agent.enabled
    )


def _lying_at(source: Source, places: Iterable[str]) -> Source:
    roots = tuple(str(Path(place).expanduser().resolve()) for place in places)
    return replace(source, roots=lambda _around: roots)
