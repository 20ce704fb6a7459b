"""`config show`, `check` and `sample`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import msgspec
from cyclopts import App, Parameter

from extractord.config import load_settings, platform_surroundings
from extractord.config.broker import broker_of
from extractord.config.sample import sample
from extractord.edges.ledger import Ledger
from extractord.errors import ConfigError
from extractord.storeroom import now, require_memory

app = App(name="config", help="What is set, whether it can be used, and what could be set.")

Json = Annotated[bool, Parameter(name="--json", negative=(), help="One JSON object.")]


@app.command(name="show")
def show(*, json: Json = False) -> None:
    """Print every setting as it is in force, and where it was looked for."""
    settings = load_settings()
    plain = msgspec.to_builtins(settings, enc_hook=_path)
    plain["memory"]["dir"] = str(settings.memory_dir)
    if json:
        print(msgspec.json.encode(plain).decode())
        return
    for key, value in plain.items():
        if isinstance(value, dict) and value:
            print(f"[{key}]")
            for name, inner in value.items():
                print(f"  {name} = {msgspec.json.encode(inner).decode()}")
        else:
            print(f"{key} = {msgspec.json.encode(value).decode()}")


@app.command(name="check")
def check() -> None:
    """Say whether the configuration can be used; name every problem where it cannot."""
    settings = load_settings()
    _require_usable(settings.memory_dir)
    broker_of(settings.mqtt)
    found = "" if settings.config_file.exists() else " (not there: every setting has its default)"
    print(f"{settings.config_file}{found}: nothing to say against it")
    since = settings.kept_since(now())
    if not any(since):
        return
    with Ledger.open(settings.state_dir, readonly=True) as ledger:
        gone = ledger.retention.expired(*since)
    print(
        f"the daemon will let go of {gone.versions:,} old versions of {gone.memories:,} memories, of "
        f"{gone.audit_rows:,} rows of the audit, of {gone.runs:,} runs and of {gone.held:,} decisions in "
        "review, as [keep] says"
    )


@app.command(name="sample")
def print_sample() -> None:
    """Print a commented configuration with every setting and its default."""
    sys.stdout.write(sample())


def _require_usable(memory: Path) -> None:
    """Raise ConfigError for a memory directory that may not be one, or cannot be made; nothing is made."""
    if os.path.lexists(memory):
        require_memory(memory, Path(platform_surroundings()[1]))
        return
    above = next(folder for folder in memory.parents if folder.exists())
    if not above.is_dir() or not os.access(above, os.W_OK):
        raise ConfigError(f"`memory.dir` is {memory}, which cannot be made below {above}")


def _path(value: object) -> str:
    if isinstance(value, Path):
        return str(value)
    raise NotImplementedError(type(value))
