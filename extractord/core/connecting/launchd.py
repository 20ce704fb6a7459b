"""launchd: an agent of the person who is logged in, under sandbox-exec's profile."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.sax.saxutils import escape

from extractord.core.connecting.target import Addition, Ground, Target, own_file
from extractord.core.connecting.unit import UNITS, Unit
from extractord.errors import InstallError, UsageError

NAME = "launchd"
LABEL = "extractord"
_MARK = "extractord"


def _additions(ground: Ground) -> tuple[Addition, ...]:
    return (own_file("agent", _place(ground), _text(ground, _unit(ground)), _MARK),)


def _place(ground: Ground) -> str:
    return f"{ground.around.home}/Library/LaunchAgents/extractord.plist"


def _text(ground: Ground, unit: Unit) -> str:
    """The agent as it ships, with this machine's command and places."""
    text = ground.read(f"{UNITS}/launchd/extractord.plist")
    if text is None:
        raise InstallError(f"{UNITS}/launchd/extractord.plist is missing: install extractord again")
    arguments = (
        "/usr/bin/sandbox-exec", "-D", f"MEMORY={unit.memory}", "-D", f"STATE={unit.state}",
        "-f", f"{UNITS}/launchd/daemon.sb", *ground.command, "run",
    )  # fmt: skip
    strings = "".join(f"    <string>{_written(word)}</string>\n" for word in arguments)
    text = _between(text, "<key>ProgramArguments</key>\n  <array>\n", strings, "  </array>")
    given = (("PYTHONSAFEPATH", "1"), *unit.places)
    pairs = "".join(
        f"    <key>{_written(name)}</key>\n    <string>{_written(value)}</string>\n" for name, value in given
    )
    text = _between(text, "<key>EnvironmentVariables</key>\n  <dict>\n", pairs, "  </dict>")
    text = _between(
        text, "<key>ExitTimeOut</key>\n  ", f"<integer>{unit.stop_s}</integer>\n", "\n  <!-- It never"
    )
    log = f"<string>{_written(ground.around.home)}/Library/Logs/extractord.log</string>\n"
    text = _between(text, "<key>StandardErrorPath</key>\n  ", log, "</dict>\n</plist>")
    made = (
        "  extractord: `extractord install launchd` wrote it, `extractord uninstall launchd` takes it out.\n"
    )
    return _between(text, "<!--\n", made, "-->")


def _between(text: str, before: str, inside: str, after: str) -> str:
    pattern = re.compile(f"({re.escape(before)}).*?({re.escape(after)})", re.DOTALL)
    made, count = pattern.subn(lambda found: f"{found[1]}{inside}{found[2]}", text, count=1)
    if not count:
        raise InstallError(f"{UNITS}/launchd/extractord.plist is not as it shipped: install extractord again")
    return made


def _written(text: str) -> str:
    if any(not character.isprintable() for character in text):
        raise InstallError(
            f"{text!r} cannot stand in a property list: choose a place without control characters"
        )
    return escape(text)


def _unit(ground: Ground) -> Unit:
    if ground.unit is None:
        raise UsageError("nobody found out whose agent it is to be")
    return ground.unit


def _start(ground: Ground) -> Iterator[tuple[str, ...]]:
    unit = _unit(ground)
    yield "install", "-d", "-m", "0700", *sorted({unit.data, unit.state})
    if unit.has_supervisor:
        yield from _stop(ground)
        yield "launchctl", "bootstrap", f"gui/{unit.uid}", _place(ground)
        yield "launchctl", "print", f"gui/{unit.uid}/{LABEL}"


def _stop(ground: Ground) -> tuple[tuple[str, ...], ...]:
    unit = _unit(ground)
    return (("launchctl", "bootout", f"gui/{unit.uid}/{LABEL}"),) if unit.is_loaded else ()


def _notes(ground: Ground) -> Iterator[str]:
    unit = _unit(ground)
    if not unit.has_supervisor:
        yield (
            f"No launchd answers here: the agent is written, and on a Mac "
            f"`launchctl bootstrap gui/{unit.uid} {_place(ground)}` starts it."
        )
    yield (
        'A Mac confines nothing from inside: `confinement = "required"`, the default, refuses to serve '
        'there. Set confinement = "best-effort"; sandbox-exec\'s profile holds all the same.'
    )


TARGET = Target(
    name=NAME,
    purpose="the daemon runs while you are logged in, on a Mac",
    additions=_additions,
    notes=lambda ground: tuple(_notes(ground)),
    afterwards=lambda ground: tuple(_start(ground)),
    beforehand=_stop,
    left=lambda ground: (
        f"The memories stay in {_unit(ground).memory}, the ledger in {_unit(ground).state}.",
    ),
)
