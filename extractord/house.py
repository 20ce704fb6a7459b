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

from extractord.accounts import Accounts
from extractord.agent.catalogue import CATALOGUE
from extractord.agent.heuristic import NAME as EMBEDDED
from extractord.agent.prompts import load as load_agent_prompts
from extractord.briefing import Briefing
from extractord.config import Settings, platform_surroundings
from extractord.core.budget import Limits
from extractord.core.wire import Probe, Provider
from extractord.edges.child import ForkedChild
from extractord.edges.confine import confine_daemon
from extractord.edges.confine.environment import forget
from extractord.edges.confine.trial import is_enough, what_daemon_can
from extractord.edges.folder import Folder
from extractord.edges.ledger import Ledger
from extractord.edges.modelhost import ModelHost
from extractord.edges.processes import Processes
from extractord.edges.prompts import load_prompts
from extractord.edges.redaction import Redaction
from extractord.edges.state import State
from extractord.edges.store import Store
from extractord.errors import ConfinementError
from extractord.extraction import Extraction
from extractord.readingroom import ReadingRoom, reading_room
from extractord.spending import Spending
from extractord.storeroom import now, storeroom, to_stderr

__all__ = ["House", "now", "opened"]

_PASSED_TO_HOST = re.compile(
    r"\w+_API_KEY|\w+_API_BASE|(AWS|AZURE|VERTEX|VERTEXAI|GOOGLE|WATSONX|DATABRICKS|OLLAMA)_\w+"
    r"|https?_proxy|no_proxy|all_proxy|SSL_CERT_FILE|SSL_CERT_DIR|REQUESTS_CA_BUNDLE",
    re.IGNORECASE,
)
"""What of the environment a provider's library may need: keys, addresses, proxies, certificates."""
_KEY = re.compile(r"\w+_API_KEY|\w*(SECRET|TOKEN|PASSWORD)\w*", re.IGNORECASE)
"""What of the environment the model host alone is to have: it is handed on, and then forgotten."""
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
    room: ReadingRoom
    extraction: Extraction
    clock: Callable[[], datetime]


@asynccontextmanager
async def opened(
    settings: Settings,
    *,
    serving: bool = False,
    warn: Callable[[str], None] = to_stderr,
) -> AsyncIterator[House]:
    """Given the settings, open everything; `serving` is for the one daemon of a state.

    `warn` is told what a person should know of ledger and memories.
    Raise AlreadyRunning, ConfigError, LedgerError or StoreError with what to do.
    """
    environ, _home, _platform = platform_surroundings()
    tmp = tempfile.gettempdir()  # found by writing, which this process soon can't
    async with AsyncExitStack() as stack:
        opened_store = stack.enter_context(storeroom(settings, warn, serving=serving))
        state, ledger, store = opened_store.state, opened_store.ledger, opened_store.store
        room = reading_room(settings, ledger.ranges, str(settings.state_dir), ledger.transaction)
        processes = Processes([*_OURSELVES, "_processes", settings.confinement])
        stack.callback(processes.stop)
        processes.start()
        _confine(settings, Path(tmp))
        redaction = Redaction()
        stack.push_async_callback(redaction.close)
        child = ForkedChild(processes, settings.budget.run_s, CATALOGUE)
        await redaction.start()
        level = await _tried(settings, child, state)
        host = ModelHost(
            processes, _host_command(settings, environ), _host_environment(environ), settings.model.idle_s
        )
        stack.push_async_callback(host.stop)
        forget([name for name in environ if _KEY.fullmatch(name)])
        limits = msgspec.convert(msgspec.structs.asdict(settings.budget), Limits)
        extraction = Extraction(
            accounts=Accounts(
                ledger=ledger, owner=ledger.present(), model=settings.model.name, confinement=level
            ),
            briefing=_briefing(settings, store, redaction),
            child=child,
            spending=Spending(ledger.runs, host, redaction, limits, now),
            store=store,
            clock=now,
            mode="ask" if settings.mode == "ask" else "auto",
            embedded=settings.model.name == EMBEDDED,
            turns=settings.budget.turns,
            parked_after=settings.budget.attempts,
        )
        extraction.accounts.reaped(now())
        yield House(
            settings=settings,
            state=state,
            ledger=ledger,
            store=store,
            room=room,
            extraction=extraction,
            clock=now,
        )


def _confine(settings: Settings, tmp: Path) -> None:
    """Give up this process's own writing, and try it. Raise ConfinementError where that does not hold."""
    if settings.confinement == "off":
        return
    level = confine_daemon([settings.memory_dir, settings.state_dir], network=False)
    wrong = what_daemon_can(settings.state_dir, tmp)
    if settings.confinement == "required" and not is_enough(level, wrong):
        could = ", ".join(wrong) or "everything"
        raise ConfinementError(
            f"this process cannot be confined here (reached: {level}; {could}): "
            'set confinement = "best-effort" to run all the same'
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


def _briefing(settings: Settings, store: Store, redaction: Redaction) -> Briefing:
    return Briefing(
        store=store,
        redaction=redaction,
        system=load_agent_prompts().system,
        tools=CATALOGUE,
        prompts=load_prompts(),
        tokens=settings.model.context_tokens,
        clock=now,
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
