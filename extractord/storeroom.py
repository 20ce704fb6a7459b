"""State, ledger and store, opened together: whoever changes memories stands in it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from extractord.config import Settings, platform_surroundings
from extractord.core.printable import LINES, printable
from extractord.core.redact import redact
from extractord.edges.confine import confine_daemon
from extractord.edges.confine.trial import is_enough, not_enough, what_daemon_can
from extractord.edges.folder import Folder
from extractord.edges.ledger import Ledger
from extractord.edges.state import State, daemon_of
from extractord.edges.store import Store
from extractord.edges.store.lock import locked
from extractord.errors import ConfigError, ConfinementError, DamagedLedgerError, LedgerError, StoreError


@dataclass(frozen=True, slots=True, kw_only=True)
class Storeroom:
    """What stands open while memories are changed."""

    state: State
    ledger: Ledger
    store: Store


def now() -> datetime:
    """The one clock: aware, in the person's zone."""
    return datetime.now().astimezone()


def to_stderr(warning: str) -> None:
    """Tell a person."""
    sys.stderr.write(f"extractord: {printable(warning, LINES)}\n")


def confined(
    settings: Settings, beside: Path, writable: Sequence[Path], *, broker_port: int | None = None
) -> str:
    """Leave this process to write below these folders alone, and no network but the broker's; try the first.

    Return the level reached. `beside` is a folder that the person may write in; the last of the
    folders is tried. Raise ConfinementError where that does not hold and the settings require it.
    """
    if settings.confinement == "off":
        return "none"
    level = confine_daemon(writable, broker_port=broker_port)
    wrong = what_daemon_can(writable[-1], beside)
    if settings.confinement == "required" and not is_enough(level, wrong):
        raise ConfinementError(not_enough("this process", level, wrong))
    return level


@contextmanager
def storeroom(
    settings: Settings,
    warn: Callable[[str], None],
    *,
    serving: bool = False,
    clock: Callable[[], datetime] = now,
) -> Iterator[Storeroom]:
    """Given the settings, open state, ledger and store; what a crash left is put right first.

    `serving` is for the one daemon of a state, which looks through the whole ledger too. `warn` is
    told of a damaged ledger that was set aside. Raise AlreadyRunning, ConfigError, LedgerError or
    StoreError with what to do.
    """
    home = Path(platform_surroundings()[1])
    with ExitStack() as stack:
        state = stack.enter_context(State.open(settings.state_dir))
        if serving:
            state.lock()
        require_memory(settings.memory_dir, home)
        state.claim_memory(settings.memory_dir)
        ledger, aside = _ledger(settings, thorough=serving)
        stack.callback(ledger.close)
        store = _store(settings, state, ledger, home, stack, clock)
        store.recover(warn)
        if aside is not None:
            store.rebuild(aside.name)
            warn(
                f"the ledger was damaged and is kept as {aside}; a new one was begun. What was forgotten "
                "stays forgotten; every memory counts as written by hand until it is changed; the "
                "history of memories, runs and spending, and what was held, are in the damaged file only"
            )
        yield Storeroom(state=state, ledger=ledger, store=store)


@contextmanager
def another_store(
    settings: Settings, state: State, clock: Callable[[], datetime] = now, *, confinement: str = "none"
) -> Iterator[Store]:
    """The store once more, over a connection of its own: for the thread that asks.

    `confinement` is what this process gave up, for the audit.
    """
    with ExitStack() as stack:
        ledger = stack.enter_context(Ledger.open(settings.state_dir))
        ledger.confined(confinement)
        yield _store(settings, state, ledger, Path(platform_surroundings()[1]), stack, clock)


def require_memory(memory: Path, home: Path) -> None:
    """Make the memory directory if it is missing. Raise ConfigError where it cannot be used as one."""
    try:
        Folder.create(memory, home).close()
    except StoreError as error:
        raise ConfigError(
            f"{error} (`memory.dir` or EXTRACTORD_DATA_DIR says where memories live)"
        ) from error


def _ledger(settings: Settings, *, thorough: bool) -> tuple[Ledger, Path | None]:
    """The ledger, and where the damaged one is that it replaces."""
    try:
        return _sound(settings, thorough=thorough), None
    except DamagedLedgerError as error:
        daemon = daemon_of(settings.state_dir)
        if daemon is not None and daemon.pid != os.getpid():
            raise LedgerError(f"{error}. A daemon uses it: restart it, and it begins a new ledger") from error
    with locked(settings.memory_dir):
        try:
            return _sound(settings, thorough=thorough), None  # another process was first
        except DamagedLedgerError:
            aside = Ledger.set_aside(settings.state_dir, now())
            return Ledger.open(settings.state_dir), aside


def _sound(settings: Settings, *, thorough: bool) -> Ledger:
    ledger = Ledger.open(settings.state_dir)
    if thorough:
        try:
            ledger.check()
        except LedgerError:
            ledger.close()
            raise
    return ledger


def _store(
    settings: Settings,
    state: State,
    ledger: Ledger,
    home: Path,
    stack: ExitStack,
    clock: Callable[[], datetime],
) -> Store:
    memory = settings.memory_dir
    folders: dict[str, Folder] = {}

    def folder(root: str) -> Folder:
        if root not in folders or not folders[root].is_at(memory / root):
            if "/" in root:
                Folder.create(memory / Path(root).parent, home).close()
            folders[root] = Folder.create(memory / root, home)
            stack.callback(folders[root].close)
        return folders[root]

    return Store(
        memory,
        folder,
        ledger,
        state.identity.key,
        settings.state_dir / "tombstones.jsonl",
        clock=clock,
        redact=redact,
    )
