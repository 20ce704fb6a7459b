"""Checks of what is around: the system's limits, units, the agents' own hooks, the broker."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Iterator
from pathlib import Path

from extractord.cli.checks.finding import Finding, Patient, fail, ok, warn
from extractord.cli.planning import put_in
from extractord.cli.supervision import UNITS
from extractord.cli.targets import TARGETS, ground_of, target_of
from extractord.config.broker import broker_of
from extractord.core.broker import Broker, Calling
from extractord.core.connecting.launchd import LABEL
from extractord.core.connecting.unit import GRACE_S
from extractord.edges import supervisors
from extractord.edges.bus import line_to
from extractord.edges.personal import read
from extractord.edges.receipts import Receipts
from extractord.errors import BusError, InstallError

_SERVICE = "extractord.service"
_STOP = re.compile(r"(?m)^TimeoutStopSec=(\d+)$|<key>ExitTimeOut</key>\s*<integer>(\d+)</integer>")
_HALF = 0.5
_CALL_S = 10.0


def inotify(patient: Patient) -> Iterator[Finding]:
    """Whether the system watches as many folders as there are."""
    if patient.settings.run.polling:
        yield ok("run.polling: nothing is asked of the system")
        return
    limit = _number(patient.system / "fs/inotify/max_user_watches")
    if limit is None:
        yield ok("this system counts no watches")
        return
    need = sum(1 for _, root in set(patient.room.sources) for _ in os.walk(root))
    says = f"{need:,} folders to watch, and a limit of {limit:,} for all programs of this user"
    raising = f"`sysctl fs.inotify.max_user_watches={max(524_288, 4 * need)}`, kept in /etc/sysctl.d"
    if need > limit:
        yield fail(says, f"{raising}; until then it polls")
    elif need > _HALF * limit:
        yield warn(says, raising)
    else:
        yield ok(says)


def units(patient: Patient) -> Iterator[Finding]:
    """Whether what starts the daemon is installed, runs, and waits long enough at its end."""
    installed = {name: Receipts(patient.settings.state_dir, name).rows() for name in sorted(UNITS)}
    if not any(installed.values()):
        yield ok("no unit is installed: it is started by hand, or by something else")
    for name, rows in installed.items():
        for row in rows:
            yield from _unit(patient, name, row.path)
    if rows := installed["systemd"]:
        yield _systemd(is_system=any(row.path.startswith("/etc/") for row in rows))
    if rows := installed["launchd"]:
        yield _launchd(rows[0].path)


def _unit(patient: Patient, name: str, path: str) -> Iterator[Finding]:
    """Whether a unit's file is there, and gives it the time that it takes to end."""
    text, wanted = read(path), int(patient.settings.run.drain_s) + GRACE_S
    if text is None:
        yield warn(f"{path} was installed, and is gone", f"`extractord install {name}`")
    elif (found := _STOP.search(text)) and int(given := found[1] or found[2]) < wanted:
        yield warn(
            f"{path} gives it {given} s to stop, and run.drain_s wants {wanted}",
            f"`extractord install {name}` rewrites it",
        )


def _systemd(*, is_system: bool) -> Finding:
    own, state = "" if is_system else "--user ", supervisors.state_of(_SERVICE, is_system=is_system)
    if state == "active":
        return ok(f"{_SERVICE} is active")
    return fail(
        f"{_SERVICE} is {state or 'not known: no systemd answers'}",
        f"`systemctl {own}status {_SERVICE}`, then `systemctl {own}restart {_SERVICE}`",
    )


def _launchd(path: str) -> Finding:
    state, domain = supervisors.agent_of(os.getuid(), LABEL), f"gui/{os.getuid()}"
    match state:
        case "running":
            return ok("launchd's agent is running")
        case "":
            return fail("launchd knows of no such agent", f"`launchctl bootstrap {domain} {path}`")
        case _:
            return fail(
                f"launchd's agent is {state}",
                f"~/Library/Logs/extractord.log says why; then `launchctl kickstart -k {domain}/{LABEL}`",
            )


def hooks(patient: Patient) -> Iterator[Finding]:
    """Whether each agent that is used is given the memories."""
    used = {source.agent for source, _, _ in patient.transcripts}
    given = []
    for name in TARGETS:
        if name in UNITS:
            continue
        rows = Receipts(patient.settings.state_dir, name).rows()
        if not rows and name in used:
            yield warn(f"{name} is used, and is not given the memories", f"`extractord install {name}`")
        elif rows:
            has_mcp = any(row.key == "mcp" for row in rows)
            projects = {Path(row.path).parent for row in rows} if name == "agents-md" else {None}
            try:
                changed = [
                    path
                    for project in projects
                    if project is None or project.is_dir()
                    for path in put_in(
                        target_of(name).additions(ground_of(project, mcp=has_mcp)), rows
                    ).changed
                ]
            except InstallError as error:
                yield fail(f"{name}: {error}", "mend the file")
                continue
            if changed:
                yield warn(
                    f"{name}: {changed[0]} is not as it was installed", f"`extractord install {name}` again"
                )
            else:
                given.append(name)
    if given:
        yield ok(f"given the memories: {', '.join(given)}")
    elif used.isdisjoint(TARGETS):
        yield ok("no agent that could be given the memories is used")


def broker(patient: Patient) -> Iterator[Finding]:
    """Whether the broker lets us in, where there is to be one, and what waits for it."""
    called = broker_of(patient.settings.mqtt)
    if called is None:
        yield ok("no broker is configured")
        return
    place = f"{called.host}:{called.port}"
    try:
        asyncio.run(_called(called))
    except (BusError, TimeoutError) as error:
        yield warn(
            f"{place} cannot be reached ({str(error) or 'no answer'}): events wait",
            "see the network, the broker's log and [mqtt]; memories do not need it",
        )
    else:
        yield ok(f"{place} lets us in")
    waiting, dropped = patient.ledger.outbox.waiting(), patient.ledger.outbox.dropped()
    if waiting > _HALF * patient.settings.mqtt.outbox:
        yield warn(f"{waiting:,} events wait for the broker", "repair the connection, or raise mqtt.outbox")
    if dropped:
        yield warn(f"{dropped:,} events were dropped, since too many waited", "raise mqtt.outbox")


async def _called(called: Broker) -> None:
    async with asyncio.timeout(_CALL_S), line_to(called, Calling(client=f"extractord-doctor-{os.getpid()}")):
        pass


def _number(place: Path) -> int | None:
    try:
        return int(place.read_text("ascii"))
    except (OSError, ValueError):
        return None
