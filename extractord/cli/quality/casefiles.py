"""Cases from files: YAML, one document a case or several, or JSON; every problem at once."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml
from msgspec import Struct
from msgspec.structs import replace

from extractord.core.casereading import read_case
from extractord.core.cases import Case
from extractord.errors import ConfigError, UsageError

_ENDINGS = (".yaml", ".yml", ".json")
_LOADER: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
"""Every scalar stays the text that it is: a pattern may be `4`, `no` or `1.10`."""


class Placed(Struct, frozen=True):
    """A case, and the file that it stands in."""

    case: Case
    path: Path


def shipped() -> Path:
    """Return the folder of the cases that come with extractord."""
    return Path(str(files("extractord"))) / "cases"


def load(places: Sequence[Path]) -> list[Placed]:
    """Given files and folders, return their cases in the order of their paths; shipped ones for none.

    Raise UsageError where there is no case, ConfigError with every problem of every file.
    """
    problems: list[str] = []
    found: list[Placed] = []
    for path in _paths(places or [shipped()]):
        found += _of_file(path, problems)
    first: dict[str, Path] = {}
    for placed in found:
        if placed.case.id in first:
            problems.append(f"{placed.path}: id: {placed.case.id} is a case of {first[placed.case.id]} too")
        first.setdefault(placed.case.id, placed.path)
    if problems:
        raise ConfigError(*problems)
    if not found:
        raise UsageError(
            f"{' '.join(map(str, places))}: there is no case in it: a case is a YAML or JSON file"
        )
    return found


def _paths(places: Sequence[Path]) -> Iterator[Path]:
    for place in map(Path.expanduser, places):
        if place.is_dir():
            yield from sorted(each for each in place.rglob("*") if each.suffix in _ENDINGS and each.is_file())
        elif place.is_file():
            yield place
        else:
            raise UsageError(
                f"{place}: there is no such file or folder; give cases, or none for those shipped"
            )


def _of_file(path: Path, problems: list[str]) -> Iterator[Placed]:
    try:
        text = path.read_text("utf-8-sig")
        documents = [json.loads(text)] if path.suffix == ".json" else list(yaml.load_all(text, _LOADER))
    except OSError as error:
        problems.append(f"{path} cannot be read: {error.strerror}")
        return
    except UnicodeDecodeError:
        problems.append(f"{path} is not UTF-8")
        return
    except json.JSONDecodeError as error:
        problems.append(f"{path} is not JSON: {error}")
        return
    except yaml.YAMLError as error:
        problems.append(f"{path} is not YAML: {' '.join(str(error).split())}")
        return
    cases = [each for one in documents if one for each in (one if isinstance(one, list) else [one])]
    if not cases:
        problems.append(f"{path} is empty: it holds no case")
    for number, given in enumerate(cases, 1):
        alone = len(cases) == 1
        where = f"{path}: " if alone else f"{path}: case {number}: "
        name = path.stem if alone else f"{path.stem}-{number}"
        told: list[str] = []
        case = read_case(given, name, told.append)
        problems += [where + what for what in told]
        if case is None:
            continue
        if case.transcript:
            place = (path.parent / Path(case.transcript).expanduser()).resolve()
            if not place.exists():
                problems.append(f"{where}transcript: {place} is not there")
            case = replace(case, transcript=str(place))
        yield Placed(case, path)
