"""Where the settings come from, and every problem with them at once."""

from __future__ import annotations

import difflib
import os
import stat
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Struct

from extractord.config.settings import MQTT_FILES, PLACES, Agent, Settings
from extractord.errors import ConfigError

_PREFIX = "EXTRACTORD_"
__all__ = ["Settings", "load_settings", "platform_surroundings"]

_WISHES = {int: "give a whole number", float: "give a number", bool: "give true or false", str: "give text"}
_VARIABLES = ("EXTRACTORD_CONFIG", "EXTRACTORD_DATA_DIR", "EXTRACTORD_STATE_DIR")
"""Variables that say where things are; every other one is a setting."""


def load_settings(environ: Mapping[str, str] | None = None) -> Settings:
    """Given the environment, read the file that it names, or the standard one, and return the settings.

    Raise ConfigError with a sentence for every problem: unknown keys, wrong types, a file that
    is named and missing, TOML that does not parse.
    """
    environ = os.environ if environ is None else environ
    places = _places(environ)
    problems: list[str] = []
    given = _from_file(places["config_file"], named="EXTRACTORD_CONFIG" in environ, problems=problems)
    _merge_environment(given, environ, problems)
    values = dict(_convert(Settings, given, "", problems))
    settings = Settings(**{**values, **places})
    problems += _relative(settings)
    if problems:
        raise ConfigError(*problems)
    return settings


def _relative(settings: Settings) -> Iterator[str]:
    """Places that would be others wherever a command is typed."""
    named = [("memory.dir", settings.memory.dir), ("model.key_file", settings.model.key_file)]
    named += [(f"mqtt.{key}", getattr(settings.mqtt, key)) for key in MQTT_FILES]
    named += [("projects.exclude", place) for place in settings.projects.exclude]
    named += [(f"agents.{name}.paths", path) for name, each in settings.agents.items() for path in each.paths]
    for name, place in named:
        if place and not place.startswith(("/", "~")):
            yield f"`{name}` is {place!r}: give a path that begins with / or ~"


def _places(environ: Mapping[str, str]) -> dict[str, Path]:
    from platformdirs import PlatformDirs  # noqa: PLC0415 - 30 ms that `--version` need not pay

    dirs = PlatformDirs("extractord", appauthor=False)
    config = environ.get("EXTRACTORD_CONFIG") or str(Path(dirs.user_config_dir) / "config.toml")
    return {
        "config_file": Path(config).expanduser().absolute(),
        "data_dir": Path(environ.get("EXTRACTORD_DATA_DIR") or dirs.user_data_dir).expanduser().absolute(),
        "state_dir": Path(environ.get("EXTRACTORD_STATE_DIR") or dirs.user_state_dir).expanduser().absolute(),
    }


def _from_file(path: Path, *, named: bool, problems: list[str]) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            raw, mode = file.read(), os.fstat(file.fileno()).st_mode
    except FileNotFoundError:
        if named:
            problems.append(f"EXTRACTORD_CONFIG names {path}, which is not there")
        return {}
    except OSError as error:
        problems.append(f"{path} cannot be read: {error.strerror}")
        return {}
    if stat.S_ISREG(mode) and mode & stat.S_IWOTH:
        problems.append(f"{path} can be changed by anybody on this machine: run `chmod o-w {path}`")
        return {}
    try:
        return tomllib.loads(raw.decode())
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        problems.append(f"{path} is not TOML: {error}")
        return {}


def _merge_environment(given: dict[str, Any], environ: Mapping[str, str], problems: list[str]) -> None:
    """Lay `EXTRACTORD_<SECTION>__<KEY>` over what the file gave; the environment wins."""
    for name in sorted(environ):
        if not name.startswith(_PREFIX) or name in _VARIABLES:
            continue
        *sections, key = name.removeprefix(_PREFIX).lower().split("__")
        table = given
        for section in sections:
            spelt = section.replace("_", "-") if table is given.get("agents") else section
            table = table.setdefault(spelt, {})
            if not isinstance(table, dict):
                problems.append(f"{name}: `{section}` is not a section")
                break
        else:
            table[key] = _Text(environ[name])


class _Text(str):
    """A value from the environment: text that stands for whatever the setting's type is."""

    __slots__ = ()

    def __repr__(self) -> str:
        return repr(str(self))


def _convert(
    struct: Any, given: Mapping[str, Any], where: str, problems: list[str]
) -> Iterator[tuple[str, Any]]:
    """Given a table, yield each of the struct's settings that it holds; note every problem."""
    hints = get_type_hints(struct, include_extras=True)
    known = [key for key in hints if key not in PLACES]
    for key, value in given.items():
        name = f"{where}{key}"
        if key not in known:
            near = [f": did you mean `{where}{best}`?" for best in difflib.get_close_matches(key, known, n=1)]
            problems.append(f"unknown setting `{name}`{_source(name, value)}{''.join(near)}")
        elif struct is Settings and key == "agents":
            yield key, _agents(value, problems)
        elif isinstance(hints[key], type) and issubclass(hints[key], Struct):
            if isinstance(value, Mapping):
                yield key, hints[key](**dict(_convert(hints[key], value, f"{name}.", problems)))
            else:
                problems.append(f"`{name}` is a section: write [{name}]")
        else:
            yield from _leaf(key, name, value, hints[key], problems)


def _leaf(key: str, name: str, value: Any, kind: Any, problems: list[str]) -> Iterator[tuple[str, Any]]:
    spelt = _split(value, kind) if isinstance(value, _Text) else value
    try:
        yield key, msgspec.convert(spelt, kind, strict=not isinstance(value, _Text))
    except msgspec.ValidationError as error:
        problems.append(f"`{name}`{_source(name, value)} is {value!r}: {_wish(kind, error)}")


def _source(name: str, value: Any) -> str:
    """Where a value was given, where that is not the file."""
    if not isinstance(value, _Text):
        return ""
    return f" ({_PREFIX}{name.upper().replace('-', '_').replace('.', '__')})"


def _wish(kind: Any, error: msgspec.ValidationError) -> str:
    """What may stand there."""
    inner = get_args(kind)[0] if get_origin(kind) is Annotated else kind
    if get_origin(inner) is Literal:
        return f"give one of {', '.join(map(repr, get_args(inner)))}"
    if "unlimited" in str(kind):
        return 'give a number of 0 or more, or "unlimited"'
    return _WISHES.get(inner, str(error)) if ", got " in str(error) else str(error)


def _split(value: str, kind: Any) -> Any:
    """A list in the environment is separated as PATH is."""
    inner = get_args(kind)[0] if get_origin(kind) is Annotated else kind
    if get_origin(inner) is tuple:
        return [part for part in value.split(os.pathsep) if part]
    return str(value)


def _agents(value: Any, problems: list[str]) -> dict[str, Agent]:
    if not isinstance(value, Mapping):
        problems.append("`agents` holds a section for each agent: write [agents.claude-code]")
        return {}
    found = {}
    for name, table in value.items():
        if isinstance(table, Mapping):
            found[name] = Agent(**dict(_convert(Agent, table, f"agents.{name}.", problems)))
        else:
            problems.append(f"`agents.{name}` is a section: write [agents.{name}]")
    return found


def platform_surroundings(environ: Mapping[str, str] | None = None) -> tuple[Mapping[str, str], str, str]:
    """Return the environment, the home folder and the platform: the one place that reads them."""
    environ = os.environ if environ is None else environ
    return environ, environ.get("HOME") or str(Path.home()), sys.platform
