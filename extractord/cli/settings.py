"""`config show`, `check` and `sample`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import tomlkit
from cyclopts import App

from extractord.cli.json_lines import print_json
from extractord.cli.options import Json
from extractord.config import load_settings, platform_surroundings
from extractord.config.sample import sample
from extractord.config.settings import PLACES, Settings
from extractord.config.usable import folder_fault, required
from extractord.edges.ledger import Ledger
from extractord.errors import ConfigError
from extractord.readingroom import known_agents
from extractord.storeroom import now, require_memory

app = App(name="config", help="What is set, whether it can be used, and what could be set.")


@app.command(name="show")
def show(*, json: Json = False) -> None:
    """Print every setting as it is in force, and where it was looked for."""
    settings = load_settings()
    plain = msgspec.to_builtins(settings, enc_hook=_path)
    plain["memory"]["dir"] = str(settings.memory_dir)
    if json:
        print_json(plain)
        return
    for place in PLACES:
        print(f"# {place} = {plain.pop(place)}")
    print(tomlkit.dumps(_set(plain)), end="")


def _set(table: dict[str, Any]) -> dict[str, Any]:
    """What TOML can say: it has no word for nothing."""
    return {
        key: _set(value) if isinstance(value, dict) else value
        for key, value in table.items()
        if value is not None
    }


@app.command(name="check")
def check() -> None:
    """Say whether the configuration can be used; name every problem where it cannot."""
    settings = load_settings()
    problems = [*_problems(settings)]
    if problems:
        raise ConfigError(*problems)
    found = "" if settings.config_file.exists() else " (does not exist: every setting has its default)"
    print(f"{settings.config_file}{found}: no problems found")
    since = settings.kept_since(now())
    if not any(since):
        return
    with Ledger.open(settings.state_dir, readonly=True) as ledger:
        gone = ledger.retention.expired(*since)
    print(
        f"the daemon will delete {gone.versions:,} old versions of {gone.memories:,} memories, of "
        f"{gone.audit_rows:,} rows of the audit, of {gone.runs:,} runs and of {gone.held:,} decisions in "
        "review, as [keep] says"
    )


@app.command(name="sample")
def print_sample() -> None:
    """Print a commented configuration with every setting and its default."""
    sys.stdout.write(sample())


def _problems(settings: Settings) -> Iterator[str]:
    """All that would keep a command from doing its work; nothing is made."""
    proofs: tuple[Callable[[Settings], object], ...] = (required, known_agents, _require_memory)
    for proof in proofs:
        try:
            proof(settings)
        except ConfigError as error:
            yield from error.problems
    if fault := folder_fault("the state directory", settings.state_dir):
        yield fault


def _require_memory(settings: Settings) -> None:
    """Raise ConfigError for a memory directory that may not be one, or cannot be made."""
    if os.path.lexists(settings.memory_dir):
        require_memory(settings.memory_dir, Path(platform_surroundings()[1]))
    elif fault := folder_fault("`memory.dir`", settings.memory_dir):
        raise ConfigError(fault)


def _path(value: object) -> str:
    if isinstance(value, Path):
        return str(value)
    raise NotImplementedError(type(value))
