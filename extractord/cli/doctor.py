"""`doctor`: the path from a transcript to a memory, proved end to end, a line each with what to do."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from msgspec.structs import replace

from extractord.cli.checks import around, kept, transcribed, working
from extractord.cli.checks.finding import Check, Finding, Health, Patient, fail, warn
from extractord.cli.json_lines import print_json
from extractord.cli.listing import hung
from extractord.cli.options import Json
from extractord.config import Settings, load_settings
from extractord.core.printable import printable
from extractord.edges.ledger import Ledger
from extractord.edges.watch import scan
from extractord.errors import EXIT_FAILED, ConfigError, ExtractordError, LedgerError
from extractord.reading.unkept import Unkept
from extractord.readingroom import reading_room
from extractord.storeroom import now

CHECKS: Mapping[str, Check] = {
    "sources": transcribed.sources,
    "format": transcribed.drift,
    "exchange": transcribed.exchange,
    "purge": transcribed.purge,
    "daemon": working.daemon,
    "units": around.units,
    "runs": working.runs,
    "spend": working.spend,
    "confinement": working.confinement,
    "model": working.model,
    "memory": kept.memory,
    "index": kept.index,
    "ledger": kept.ledger,
    "audit": kept.audit,
    "projects": kept.projects,
    "orphans": kept.orphans,
    "places": kept.writable,
    "disk": kept.disk,
    "inotify": around.inotify,
    "agents": around.hooks,
    "broker": around.broker,
    "clock": working.clock,
}
"""Every check, in the order of a line's journey."""

_SYSTEM = Path("/proc/sys")
_COLOURS = {Health.OK: "32", Health.WARN: "33", Health.FAIL: "31"}


def doctor(
    *,
    online: Annotated[
        bool, Parameter(negative=(), help="Ask the model too: one tiny request, counted as every other.")
    ] = False,
    json: Json = False,
) -> int:
    """Prove the path from a transcript to a memory, and say of each break what to do.

    It ends with 1 where something is broken (`fail`); what only wants looking at is `warn`.
    """
    worst = 0
    for finding in _findings(is_online=online):
        worst = max(worst, EXIT_FAILED if finding.health is Health.FAIL else 0)
        if json:
            print_json(finding, flush=True)
        else:
            _say(finding)
    return worst


def _findings(*, is_online: bool) -> Iterator[Finding]:
    try:
        settings = load_settings()
        with examined(settings, is_online=is_online) as patient:
            for name, check in CHECKS.items():
                for finding in _looked(check, patient):
                    yield replace(finding, check=name)
    except ConfigError as error:
        for problem in error.problems:
            yield replace(
                fail(problem, "fix it; `extractord config check` names every problem"), check="configuration"
            )


def _looked(check: Check, patient: Patient) -> Iterator[Finding]:
    """What a check finds; what stops the check is a finding too."""
    try:
        yield from check(patient)
    except LedgerError:
        yield warn("it could not be looked at, since the ledger cannot be read", "repair the ledger first")
    except ExtractordError as error:
        yield fail(str(error), "see the sentence")
    except OSError as error:
        yield warn(f"it could not be looked at: {error}", "see the sentence")


@contextmanager
def examined(settings: Settings, *, is_online: bool) -> Iterator[Patient]:
    """Given the settings, yield what the checks look at; nothing is made or changed."""
    is_readable = True
    try:
        ledger = Ledger.open(settings.state_dir, readonly=True)
    except LedgerError:
        is_readable, ledger = False, Ledger.in_memory()
    with ledger, tempfile.TemporaryDirectory(prefix="extractord-") as copies:
        room = reading_room(settings, Unkept(ledger.ranges), copies, ledger.transaction)
        transcripts = tuple(
            (source, os.path.realpath(path), written)
            for source, root in room.sources
            for path, (_, written, _) in scan(source, root).items()
        )
        yield Patient(
            settings=settings,
            opened=ledger if is_readable else None,
            room=room,
            transcripts=transcripts,
            copies=Path(copies),
            now=now(),
            system=_SYSTEM,
            is_online=is_online,
        )


def _say(finding: Finding) -> None:
    health = f"{finding.health:<5}"
    if sys.stdout.isatty() and not os.environ.get("NO_COLOR"):
        health = f"\x1b[{_COLOURS[finding.health]}m{health}\x1b[0m"
    told = hung(f"{finding.health:<5}{finding.check:<14}", printable(finding.says))
    print(told.replace(f"{finding.health:<5}", health, 1), flush=True)
    if finding.remedy:
        print(hung(f"{'':<19}→ ", printable(finding.remedy)), flush=True)
