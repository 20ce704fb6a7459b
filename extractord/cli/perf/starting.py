"""How long whole processes take: `--version`, and `status` over a long history."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from extractord.cli.perf.rows import Conditions, Row, at_most
from extractord.cli.perf.timing import interleaved, own_process
from extractord.core.ports import RunRow
from extractord.core.records import Usage
from extractord.edges.ledger import Ledger

GROUP = "start"
_RUNS, _QUICK_RUNS = 100_000, 1_000
_ROUNDS, _QUICK_ROUNDS = 15, 5
_RUN_EVERY = timedelta(minutes=7)
_PARKED_EVERY = 1000
_VERSION_S, _STATUS_S = 0.1, 0.4


def measure(conditions: Conditions) -> Sequence[Row]:
    """Start each in turn with a bare interpreter, for the machine's sake."""
    runs = _QUICK_RUNS if conditions.quick else _RUNS
    environ = alone_in(conditions.folder)
    _fill(Path(environ["EXTRACTORD_STATE_DIR"]), runs)
    taken = interleaved(
        {
            "python": lambda: own_process(["-c", "pass"], environ),
            "version": lambda: own_process(["-m", "extractord", "--version"], environ),
            "status": lambda: own_process(["-m", "extractord", "status"], environ),
        },
        _QUICK_ROUNDS if conditions.quick else _ROUNDS,
    )
    bare, version, status = taken["python"], taken["version"], taken["status"]
    python = f"a bare interpreter {bare.wall:.3f} s, {bare.cpu:.3f} s"
    detail = f"{runs:,} runs; of the processor {status.cpu:.3f} s; {python}"
    return [
        at_most(
            GROUP,
            "--version",
            version.wall,
            _VERSION_S,
            "s",
            "a limit",
            f"of the processor {version.cpu:.3f} s; {python}",
        ),
        at_most(GROUP, "status", status.wall, _STATUS_S, "s", "a limit", detail),
    ]


def alone_in(folder: Path) -> Mapping[str, str]:
    """Given a folder, return an environment in which it is the home, with a state of its own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("EXTRACTORD_", "XDG_"))}
    return {
        **kept,
        "HOME": str(folder),
        "EXTRACTORD_STATE_DIR": str(folder / "state"),
        "EXTRACTORD_DATA_DIR": str(folder / "share"),
    }


def _fill(state: Path, runs: int) -> None:
    now = datetime.now(UTC)
    with Ledger.open(state) as ledger, ledger.transaction():
        for number in range(runs):
            began = now - _RUN_EVERY * number
            run = f"01{runs - number:024d}"
            usage = Usage(prompt_tokens=6_000, completion_tokens=300, dollars=0.004)
            ledger.runs.start(
                RunRow(
                    run=run,
                    agent="claude-code",
                    session=f"session-{number % 500}",
                    project="shop-0123456789abcdef",
                    model="stand-in",
                    started_at=began,
                    ended_at=began + timedelta(seconds=4),
                    outcome="saved" if number % _PARKED_EVERY else "parked",
                    written=("/memory/project/deploys-on-tuesdays.md",),
                    requests=1,
                    prompt_tokens=usage.prompt_tokens,
                    completion_tokens=usage.completion_tokens,
                    dollars=usage.dollars,
                    ms=4_000,
                )
            )
            ledger.runs.spend(run, usage, began, None)
