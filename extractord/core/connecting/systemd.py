"""systemd: a unit of the person's own, or the system's, its drop-ins, and the commands around them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from extractord.core.connecting.target import Addition, Ground, Target, own_file
from extractord.core.connecting.unit import UNITS, Unit
from extractord.errors import InstallError, UsageError

NAME = "systemd"
SERVICE = "extractord.service"
SYSTEM_CONFIG = "/etc/extractord/config.toml"
_MARK = "extractord"
_PLAIN = re.compile(r"[\w@%+=:,./-]+", re.ASCII)


def folder_of(unit: Unit, home: str, config_home: str) -> str:
    """Given whose it is, return the folder where its unit lies."""
    return "/etc/systemd/system" if unit.is_system else f"{config_home or f'{home}/.config'}/systemd/user"


def _additions(ground: Ground) -> tuple[Addition, ...]:
    unit = _unit(ground)
    around = ground.around
    folder = folder_of(unit, around.home, around.env.get("XDG_CONFIG_HOME", ""))
    found = [own_file("unit", f"{folder}/{SERVICE}", _text(ground, unit), _MARK)]
    if not unit.is_system and not unit.has_namespaces:
        name = "without-user-namespaces.conf"
        text = _template(ground, f"user/{SERVICE}.d/{name}")
        found.append(own_file("namespaces", f"{folder}/{SERVICE}.d/{name}", text, _MARK))
    if unit.key_file:
        text = f"{_KEY_WHY}\n\n[Service]\nLoadCredential=model_key:{_escaped(unit.key_file)}\n"
        found.append(own_file("key", f"{folder}/{SERVICE}.d/model-key.conf", text, _MARK))
    return tuple(found)


_KEY_WHY = (
    "# The provider's key, handed over by systemd: in memory, for this service alone, never in a variable.\n"
    "# extractord takes `model_key` where `model.key_file` is empty."
)


def _text(ground: Ground, unit: Unit) -> str:
    """The unit as it ships, with this machine's command and places."""
    text = _template(ground, SERVICE if unit.is_system else f"user/{SERVICE}")
    head, _, rest = text.partition("\n[Unit]")
    made = "# extractord: `extractord install systemd` wrote it, `extractord uninstall systemd` takes it out."
    command = " ".join(_quoted(word).replace("$", "$$") for word in ground.command)
    text = f"{made}\n# Every line says why it is here.\n\n[Unit]{rest}" if head else text
    text = _set(text, "ExecStart", f"{command} run")
    text = _set(text, "TimeoutStopSec", str(unit.stop_s))
    if unit.is_system:
        return _set(text, "User", unit.account)
    text = _set(text, "ReadWritePaths", " ".join(_quoted(f"-{place}") for place in unit.writable))
    given = " ".join(_quoted(f"{name}={value}") for name, value in unit.places)
    if not given:
        return text
    where = f"WorkingDirectory=/\n# Where its places are, as `install` found them.\nEnvironment={given}\n"
    return text.replace("WorkingDirectory=/\n", where)


def _set(text: str, name: str, value: str) -> str:
    return re.sub(rf"(?m)^{name}=.*$", lambda _: f"{name}={value}", text)


def _quoted(word: str) -> str:
    """A word as systemd reads it: `%` doubled, in quotes where it has to be."""
    word = _escaped(word)
    if _PLAIN.fullmatch(word):
        return word
    inside = word.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{inside}"'


def _escaped(word: str) -> str:
    if any(not character.isprintable() for character in word):
        raise InstallError(f"{word!r} cannot stand in a unit: choose a place without control characters")
    return word.replace("%", "%%")


def _template(ground: Ground, name: str) -> str:
    text = ground.read(f"{UNITS}/systemd/{name}")
    if text is None:
        raise InstallError(f"{UNITS}/systemd/{name} is missing: install extractord again")
    return text


def _unit(ground: Ground) -> Unit:
    if ground.unit is None:
        raise UsageError("nobody found out whose unit it is to be")
    return ground.unit


def _systemctl(unit: Unit, *words: str) -> tuple[str, ...]:
    return ("systemctl", *(() if unit.is_system else ("--user",)), *words)


def _start(ground: Ground) -> Iterator[tuple[str, ...]]:
    unit = _unit(ground)
    if unit.is_system:
        if ground.read(SYSTEM_CONFIG) is None:
            yield "install", "-D", "-m", "0644", "/dev/null", SYSTEM_CONFIG
    else:
        yield "install", "-d", "-m", "0700", *sorted({unit.data, unit.state})
    if unit.has_supervisor:
        yield _systemctl(unit, "daemon-reload")
        yield _systemctl(unit, "enable", SERVICE)
        yield _systemctl(unit, "restart", SERVICE)
        yield _systemctl(unit, "show", "--property=ActiveState,StatusText", SERVICE)


def _stop(ground: Ground) -> tuple[tuple[str, ...], ...]:
    unit = _unit(ground)
    return (_systemctl(unit, "disable", "--now", SERVICE),) if unit.has_supervisor else ()


def _forget(ground: Ground) -> tuple[tuple[str, ...], ...]:
    unit = _unit(ground)
    return (_systemctl(unit, "daemon-reload"),) if unit.has_supervisor else ()


def _notes(ground: Ground) -> Iterator[str]:
    unit = _unit(ground)
    if not unit.has_supervisor:
        words = " ".join(_systemctl(unit, "enable", "--now", SERVICE))
        yield f"No systemd answers here: the unit is written, and where one does, `{words}` starts it."
    if unit.is_system:
        yield f"It reads the sessions of {unit.account}'s agents. Its settings are in {SYSTEM_CONFIG}."
    elif not unit.has_namespaces:
        yield (
            "This kernel gives services no user namespace, so a drop-in takes back what needs one; "
            "Landlock and seccomp hold without."
        )
    if not unit.is_system:
        yield (
            f"It runs while you are logged in. `loginctl enable-linger {unit.account}` lets it run from the "
            "machine's start, whether you are or not."
        )
    yield f"Its log: `journalctl {'' if unit.is_system else '--user '}-u extractord`."


def _left(ground: Ground) -> tuple[str, ...]:
    unit = _unit(ground)
    if unit.is_system:
        return (f"What it remembered stays in /var/lib/extractord, its settings in {SYSTEM_CONFIG}.",)
    return (f"The memories stay in {unit.memory}, the ledger in {unit.state}.",)


TARGET = Target(
    name=NAME,
    purpose="the daemon runs with your session, or with the machine (--system)",
    additions=_additions,
    notes=lambda ground: tuple(_notes(ground)),
    afterwards=lambda ground: tuple(_start(ground)),
    beforehand=_stop,
    behind=_forget,
    left=_left,
)
