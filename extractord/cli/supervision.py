"""What `install systemd` and `launchd` find out before they write a unit."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from extractord.config import Settings, platform_surroundings
from extractord.core.connecting.launchd import LABEL
from extractord.core.connecting.target import Receipt
from extractord.core.connecting.unit import Unit
from extractord.edges import supervisors
from extractord.errors import UsageError

UNITS = frozenset({"systemd", "launchd"})
"""The targets that are units of the daemon."""
_EMBEDDED = "heuristic"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the command line says of a unit."""

    is_system: bool
    account: str
    key_file: Path | None
    may_ask: bool
    """A person may be asked, where one sits there."""


def unit_of(target: str, settings: Settings, asked: Asked) -> Unit:
    """Given the target, return what its unit is made for. Raise UsageError for what cannot be."""
    if asked.is_system and target != "systemd":
        raise UsageError(f"--system is for systemd: {target} starts it for the person who is logged in")
    if asked.account and not asked.is_system:
        raise UsageError("--account goes with --system: without it the unit is for you alone")
    if asked.key_file and target != "systemd":
        raise UsageError("--key-file is for systemd: elsewhere set model.key_file in the configuration")
    unit = _found(target, settings, is_system=asked.is_system, account=asked.account)
    return replace(unit, key_file=_key(target, settings, asked))


def everything(target: str, settings: Settings, rows: Iterable[Receipt], *, is_system: bool) -> Unit:
    """Given what is installed, return the unit with everything that may be there to be taken out."""
    was_system = is_system or any(row.path.startswith("/etc/") for row in rows)
    found = _found(target, settings, is_system=was_system, account=supervisors.account())
    return replace(found, has_namespaces=False, key_file="/")


def _found(target: str, settings: Settings, *, is_system: bool, account: str) -> Unit:
    environ, home, _ = platform_surroundings()
    if target == "systemd":
        has_supervisor = supervisors.has_systemd(is_system=is_system)
        has_namespaces = is_system or supervisors.has_namespaces(has_manager=has_supervisor)
        is_loaded = False
    else:
        has_supervisor, has_namespaces = supervisors.has_launchd(), True
        is_loaded = bool(supervisors.agent_of(os.getuid(), LABEL))
    return Unit(
        uid=os.getuid(),
        account=_account(account or environ.get("SUDO_USER", ""), is_system=is_system),
        is_system=is_system,
        has_supervisor=has_supervisor,
        is_loaded=is_loaded,
        has_namespaces=has_namespaces,
        places=tuple(_places(settings, Path(home))),
        data=str(settings.data_dir),
        state=str(settings.state_dir),
        memory=str(settings.memory_dir),
        drain_s=settings.run.drain_s,
        key_file="",
    )


def _account(named: str, *, is_system: bool) -> str:
    if not is_system:
        return supervisors.account()
    if not named or named == "root":
        raise UsageError("whose agents are to be read? name the account: --account NAME, never root")
    return named


def _places(settings: Settings, home: Path) -> Iterator[tuple[str, str]]:
    """Places that a process without this environment would not find."""
    if sys.platform == "darwin":
        base = home / "Library/Application Support/extractord"
        standard = {"CONFIG": base / "config.toml", "DATA_DIR": base, "STATE_DIR": base}
    else:
        standard = {
            "CONFIG": home / ".config/extractord/config.toml",
            "DATA_DIR": home / ".local/share/extractord",
            "STATE_DIR": home / ".local/state/extractord",
        }
    wanted = {"CONFIG": settings.config_file, "DATA_DIR": settings.data_dir, "STATE_DIR": settings.state_dir}
    for name, place in wanted.items():
        if place != standard[name] and (name != "CONFIG" or place.exists()):
            yield f"EXTRACTORD_{name}", str(place)


def _key(target: str, settings: Settings, asked: Asked) -> str:
    """The key's file, as it was named, or as a person names it where a model needs one."""
    if asked.key_file is not None:
        return _checked(asked.key_file)
    needs_one = settings.model.name != _EMBEDDED and not settings.model.key_file
    is_attended = sys.stdin.isatty() and sys.stdout.isatty()
    if target != "systemd" or not needs_one or not (asked.may_ask and is_attended):
        return ""
    said = input(f"the file that holds the key for {settings.model.name} (mode 0600; empty: none): ").strip()
    return _checked(Path(said)) if said else ""


def _checked(key_file: Path) -> str:
    place = key_file.expanduser().absolute()
    try:
        found = place.stat()
    except OSError as error:
        raise UsageError(f"{place} cannot be used ({error.strerror}): put the key alone into it") from error
    if not stat.S_ISREG(found.st_mode) or found.st_size == 0:
        raise UsageError(f"{place} is not a file with a key in it: put the key alone into it")
    if found.st_mode & 0o077:
        raise UsageError(f"{place} can be read by others: run `chmod 600 {place}`")
    return str(place)
