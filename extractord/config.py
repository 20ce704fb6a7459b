"""The settings: their types, where they come from, and every problem with them at once."""

from __future__ import annotations

import difflib
import os
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta, Struct

from extractord.errors import ConfigError

PREFIX = "EXTRACTORD_"
PLACES = ("EXTRACTORD_CONFIG", "EXTRACTORD_DATA_DIR", "EXTRACTORD_STATE_DIR")
"""Variables that say where things are; every other one is a setting."""

Count = Annotated[int, Meta(ge=0)] | Literal["unlimited"]
Dollars = Annotated[float, Meta(ge=0)] | Literal["unlimited"]
Seconds = Annotated[float, Meta(ge=0)]


class Memory(Struct, frozen=True, kw_only=True):
    """The section [memory]."""

    dir: Annotated[str, Meta(description="where memories live; empty: <data>/memory")] = ""


class Model(Struct, frozen=True, kw_only=True):
    """The section [model]."""

    name: Annotated[
        str, Meta(description='"heuristic", the embedded model, or any name that litellm knows')
    ] = "heuristic"
    key_file: Annotated[str, Meta(description="a file of mode 0600 that holds the API key alone")] = ""
    base_url: Annotated[str, Meta(description="a local server or proxy instead of the provider's own")] = ""
    timeout_s: Annotated[Seconds, Meta(description="how long one request may take")] = 60.0
    retries: Annotated[int, Meta(ge=0, description="tries after a failure that may pass")] = 4
    output_tokens: Annotated[int, Meta(ge=256, description="the longest reply asked for")] = 4096
    context_tokens: Annotated[int, Meta(ge=4096, description="the longest brief sent")] = 24_000
    idle_s: Annotated[Seconds, Meta(description="the model host is let go after this long unused")] = 300.0


class Run(Struct, frozen=True, kw_only=True):
    """The section [run]."""

    concurrency: Annotated[int, Meta(ge=1, description="runs at once; one at a time in a project")] = 2
    settle_s: Annotated[
        Seconds, Meta(description="quiet that ends an exchange where the agent writes no end")
    ] = 20.0
    drain_s: Annotated[Seconds, Meta(description="how long runs in flight may end after SIGTERM")] = 60.0
    polling: Annotated[bool, Meta(description="poll instead of inotify (network folders)")] = False
    rescan_s: Annotated[Seconds, Meta(description="look through every source again after this long")] = 600.0


class Projects(Struct, frozen=True, kw_only=True):
    """The section [projects]."""

    worktrees: Annotated[
        Literal["shared", "separate"],
        Meta(description="worktrees of one repository share memories, or each has its own"),
    ] = "shared"
    exclude: Annotated[tuple[str, ...], Meta(description="directories whose sessions are never read")] = ()
    identities: Annotated[
        dict[str, str], Meta(description="directory = name, where the name is to outlive the place")
    ] = {}


class Agent(Struct, frozen=True, kw_only=True):
    """A section [agents.<name>]."""

    enabled: Annotated[bool, Meta(description="read this agent's transcripts")] = True
    headless: Annotated[bool, Meta(description="its prompts come from a program: never `stated`")] = False
    paths: Annotated[tuple[str, ...], Meta(description="folders instead of the standard ones")] = ()


class Budget(Struct, frozen=True, kw_only=True):
    """The section [budget]."""

    turns: Annotated[int, Meta(ge=1, le=5, description="replies of the model a run")] = 5
    run_s: Annotated[Seconds, Meta(description="seconds a run")] = 120.0
    run_requests: Annotated[Count, Meta(description="requests a run")] = 8
    run_tokens: Annotated[Count, Meta(description="tokens a run")] = 200_000
    day_requests: Annotated[Count, Meta(description='requests a day, or "unlimited"; 0 is zero')] = 200
    day_tokens: Annotated[Count, Meta(description='tokens a day, or "unlimited"')] = 2_000_000
    day_dollars: Annotated[Dollars, Meta(description='dollars a day, or "unlimited"')] = 1.0
    soft: Annotated[
        float, Meta(ge=0, le=1, description="the part of a day's budget after which status warns")
    ] = 0.8
    attempts: Annotated[int, Meta(ge=1, description="failed attempts after which a run is parked")] = 3


class Settings(Struct, frozen=True, kw_only=True):
    """Everything that can be set; `config_file`, `data_dir` and `state_dir` are places."""

    mode: Annotated[
        Literal["auto", "ask", "recall"],
        Meta(description="auto commits what is allowed; ask holds everything; recall extracts nothing"),
    ] = "auto"
    confinement: Annotated[
        Literal["required", "best-effort", "off"],
        Meta(description="what to do where the kernel cannot confine the sub-agent"),
    ] = "required"
    memory: Memory = Memory()
    model: Model = Model()
    run: Run = Run()
    projects: Projects = Projects()
    agents: dict[str, Agent] = {}
    budget: Budget = Budget()
    config_file: Path = Path()
    data_dir: Path = Path()
    state_dir: Path = Path()

    @property
    def memory_dir(self) -> Path:
        """Where memories live, absolute."""
        return Path(self.memory.dir).expanduser().absolute() if self.memory.dir else self.data_dir / "memory"


_PLACES = ("config_file", "data_dir", "state_dir")


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
    if problems:
        raise ConfigError(*problems)
    return Settings(**{**values, **places})


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
        raw = path.read_bytes()
    except FileNotFoundError:
        if named:
            problems.append(f"EXTRACTORD_CONFIG names {path}, which is not there")
        return {}
    except OSError as error:
        problems.append(f"{path} cannot be read: {error.strerror}")
        return {}
    try:
        return tomllib.loads(raw.decode())
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        problems.append(f"{path} is not TOML: {error}")
        return {}


def _merge_environment(given: dict[str, Any], environ: Mapping[str, str], problems: list[str]) -> None:
    """Lay `EXTRACTORD_<SECTION>__<KEY>` over what the file gave; the environment wins."""
    for name in sorted(environ):
        if not name.startswith(PREFIX) or name in PLACES:
            continue
        *sections, key = name.removeprefix(PREFIX).lower().split("__")
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
    known = [key for key in hints if key not in _PLACES]
    for key, value in given.items():
        name = f"{where}{key}"
        if key not in known:
            near = [f": did you mean `{where}{best}`?" for best in difflib.get_close_matches(key, known, n=1)]
            problems.append(f"unknown setting `{name}`{''.join(near)}")
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
        wish = 'give a number, or "unlimited"' if "unlimited" in str(kind) else str(error)
        problems.append(f"`{name}` is {value!r}: {wish}")


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


def sample() -> str:
    """Return the commented configuration, made from the types above: every key, its default, its use."""
    lines = ["# extractord's settings; every line that is commented out shows the default.", ""]
    lines += _sample_of(Settings(), "")
    return "\n".join(lines) + "\n"


def _sample_of(struct: Any, where: str) -> Iterator[str]:
    hints = get_type_hints(type(struct), include_extras=True)
    nested = []
    for key, kind in hints.items():
        value = getattr(struct, key)
        if key in _PLACES:
            continue
        if isinstance(value, Struct) or key == "agents":
            nested.append((key, value))
            continue
        choices = _choices(kind)
        yield f"# {_described(kind)}" + (f" ({choices})" if choices else "")
        yield f"# {key} = {msgspec.json.encode(value).decode()}"  # these values are TOML too
    for key, value in nested:
        section = "agents.claude-code" if key == "agents" else f"{where}{key}"
        yield ""
        yield f"# [{section}]"
        yield from _sample_of(Agent() if key == "agents" else value, f"{section}.")


def _choices(kind: Any) -> str:
    """The words that a setting takes, where it takes only some."""
    if get_origin(kind) is Annotated:
        return _choices(get_args(kind)[0])
    if get_origin(kind) is Literal:
        return " | ".join(get_args(kind))
    return ""


def _described(kind: Any) -> str:
    return next(m.description for m in reversed(kind.__metadata__) if isinstance(m, Meta) and m.description)


def platform_surroundings(environ: Mapping[str, str] | None = None) -> tuple[Mapping[str, str], str, str]:
    """Return the environment, the home folder and the platform: the one place that reads them."""
    environ = os.environ if environ is None else environ
    return environ, environ.get("HOME") or str(Path.home()), sys.platform
