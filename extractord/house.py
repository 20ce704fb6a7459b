"""The rooms, opened in order and closed in reverse: what `run`, `extract` and `bench` stand in."""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import msgspec

from extractord.agent.catalogue import CATALOGUE
from extractord.agent.prompts import load as load_agent_prompts
from extractord.config import Settings, platform_surroundings
from extractord.core.budget import Limits
from extractord.core.gate import GateSettings
from extractord.core.ports import Ranges
from extractord.core.records import Project
from extractord.core.redact import redact
from extractord.core.transcripts import SOURCES
from extractord.core.transcripts.source import Source, Surroundings
from extractord.core.wire import Probe, Provider
from extractord.edges import projects
from extractord.edges.child import ForkedChild
from extractord.edges.confine import confine_daemon
from extractord.edges.confine.trial import is_enough
from extractord.edges.folder import Folder
from extractord.edges.ledger import Ledger
from extractord.edges.modelhost import ModelHost
from extractord.edges.processes import Processes
from extractord.edges.prompts import load_prompts
from extractord.edges.redaction import Redaction
from extractord.edges.state import State
from extractord.edges.store import Store
from extractord.errors import ConfigError, ConfinementError
from extractord.extraction import Extraction, Terms
from extractord.reading import Reading
from extractord.reading.gating import Resolve
from extractord.reading.unkept import Unkept
from extractord.spending import Spending

_PASSED_TO_HOST = re.compile(
    r"\w+_API_KEY|\w+_API_BASE|(AWS|AZURE|VERTEX|VERTEXAI|GOOGLE|WATSONX|DATABRICKS|OLLAMA)_\w+"
    r"|https?_proxy|no_proxy|all_proxy|SSL_CERT_FILE|SSL_CERT_DIR|REQUESTS_CA_BUNDLE",
    re.IGNORECASE,
)
"""What of the environment a provider's library may need: keys, addresses, proxies, certificates."""
_OURSELVES = (sys.executable, "-P", "-m", "extractord")
_HOST_ENVIRONMENT = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_MODE": "PRODUCTION",
    "PYTHONSAFEPATH": "1",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class House:
    """What stands open while extractord works."""

    settings: Settings
    state: State
    ledger: Ledger
    store: Store
    reading: Reading
    extraction: Extraction
    sources: tuple[tuple[Source, str], ...]
    """Each agent that is read, with each folder where its transcripts may be."""
    around: Surroundings
    resolve: Resolve
    """The project of an agent's session in a directory."""
    clock: Callable[[], datetime]


def now() -> datetime:
    """The one clock: aware, in the person's zone."""
    return datetime.now().astimezone()


@asynccontextmanager
async def opened(
    settings: Settings, *, serving: bool = False, planning: bool = False
) -> AsyncIterator[House]:
    """Given the settings, open everything; `serving` is for the one daemon of a state.

    `planning` reads and gates without closing anything in the ledger.
    Raise AlreadyRunning, ConfigError, LedgerError or StoreError with what to do.
    """
    environ, home, platform = platform_surroundings()
    around = Surroundings(environ, home, platform)
    tmp = tempfile.gettempdir()  # found by writing, which this process soon can't
    async with AsyncExitStack() as stack:
        state = stack.enter_context(State.open(settings.state_dir))
        if serving:
            state.lock()
        ledger = stack.enter_context(Ledger.open(settings.state_dir))
        store = _store(settings, state, ledger, home, stack)
        store.recover()
        ledger.ranges.reap()
        processes = Processes([*_OURSELVES, "_processes", settings.confinement])
        stack.callback(processes.stop)
        level = ""
        if not planning:
            processes.start()
            if settings.confinement != "off":
                confine_daemon([settings.memory_dir, settings.state_dir], network=False)
        redaction = Redaction()
        stack.push_async_callback(redaction.close)
        child = ForkedChild(processes, settings.budget.run_s)
        if not planning:
            await redaction.start()
            level = await _tried(settings, child, state)
        host = ModelHost(
            processes, _host_command(settings, environ), _host_environment(environ), settings.model.idle_s
        )
        stack.push_async_callback(host.stop)
        limits = msgspec.convert(msgspec.structs.asdict(settings.budget), Limits)
        extraction = Extraction(
            ledger=ledger,
            store=store,
            child=child,
            redaction=redaction,
            spending=Spending(ledger.runs, host, redaction, limits, now),
            terms=_terms(settings, level),
            owner=ledger.present(),
            clock=now,
        )
        ranges = Unkept(ledger.ranges) if planning else ledger.ranges
        resolve = _resolver(settings, ranges, home, tmp)
        yield House(
            settings=settings,
            state=state,
            ledger=ledger,
            store=store,
            reading=_reading(settings, ledger, ranges, resolve, home),
            extraction=extraction,
            sources=_sources(settings, around),
            around=around,
            resolve=resolve,
            clock=now,
        )


async def _tried(settings: Settings, child: ForkedChild, state: State) -> str:
    """The level that a child reaches, found by letting one try. Raise ConfinementError where too low."""
    probe = Probe(forbidden=str(state.directory / "identity"))
    with closing(Folder.create(settings.memory_dir / "user", Path(platform_surroundings()[1]))) as root:
        tried = await child.probe(probe, [root.fileno()])
    if settings.confinement == "required" and not is_enough(tried.level, tried.succeeded):
        could = ", ".join(tried.succeeded) or "everything"
        raise ConfinementError(
            f"the sub-agent cannot be confined here (reached: {tried.level}; it could: {could}): "
            'set confinement = "best-effort" to run all the same'
        )
    return tried.level


def _store(settings: Settings, state: State, ledger: Ledger, home: str, stack: AsyncExitStack) -> Store:
    memory = settings.memory_dir
    Folder.create(memory, Path(home)).close()
    state.claim_memory(memory)
    folders: dict[str, Folder] = {}

    def folder(root: str) -> Folder:
        if root not in folders:
            if "/" in root:
                Folder.create(memory / Path(root).parent, Path(home)).close()
            folders[root] = Folder.create(memory / root, Path(home))
            stack.callback(folders[root].close)
        return folders[root]

    return Store(
        memory,
        folder,
        ledger,
        state.identity.key,
        settings.state_dir / "tombstones.jsonl",
        clock=now,
        redact=lambda text: redact(text)[0],
    )


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


def _reading(settings: Settings, ledger: Ledger, ranges: Ranges, resolve: Resolve, home: str) -> Reading:
    memory = settings.memory_dir
    gate = GateSettings(
        home=home,
        memory_roots=tuple(dict.fromkeys((str(memory), str(memory.resolve())))),
        excluded=tuple(str(Path(place).expanduser()) for place in settings.projects.exclude),
        own_marker=load_agent_prompts().system.partition("\n")[0],
    )
    return Reading(
        ranges,
        resolve,
        gate,
        settle_s=settings.run.settle_s,
        copy_dir=str(settings.state_dir),
        headless=frozenset(name for name, agent in settings.agents.items() if agent.headless),
        transaction=ledger.transaction,
    )


def _sources(settings: Settings, surroundings: Surroundings) -> tuple[tuple[Source, str], ...]:
    known = {source.agent for source in SOURCES}
    unknown = [name for name in settings.agents if name not in known]
    if unknown:
        raise ConfigError(
            *(f"`agents.{name}` is no agent that can be read: {', '.join(sorted(known))}" for name in unknown)
        )
    found = []
    for source in SOURCES:
        agent = settings.agents.get(source.agent)
        if agent is None or agent.enabled:
            roots = (agent.paths if agent else ()) or source.roots(surroundings)
            found += [(source, str(Path(root).expanduser())) for root in roots]
    return tuple(found)


def _terms(settings: Settings, level: str) -> Terms:
    return Terms(
        model=settings.model.name,
        system=load_agent_prompts().system,
        tools=CATALOGUE,
        prompts=load_prompts(),
        tokens=settings.model.context_tokens,
        turns=settings.budget.turns,
        attempts=settings.budget.attempts,
        mode="ask" if settings.mode == "ask" else "auto",
        confinement=level,
    )


def _host_command(settings: Settings, environ: Mapping[str, str]) -> list[str]:
    model = settings.model
    credentials = environ.get("CREDENTIALS_DIRECTORY")
    credential = Path(credentials, "model_key") if credentials else None
    key_file = model.key_file or (str(credential) if credential and credential.exists() else "")
    provider = Provider(
        model=model.name,
        key_file=str(Path(key_file).expanduser()) if key_file else "",
        base_url=model.base_url,
        timeout_s=model.timeout_s,
        retries=model.retries,
        output_tokens=model.output_tokens,
    )
    return [*_OURSELVES, "_modelhost", settings.confinement, msgspec.json.encode(provider).decode()]


def _host_environment(environ: Mapping[str, str]) -> dict[str, str]:
    return {
        **{name: environ[name] for name in environ if _PASSED_TO_HOST.fullmatch(name)},
        **_HOST_ENVIRONMENT,
    }
