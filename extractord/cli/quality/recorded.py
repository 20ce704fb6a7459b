"""The figures that are published: what they are of, and what they are."""

from __future__ import annotations

import hashlib
from importlib.resources import files
from pathlib import Path

from msgspec import Struct

from extractord.cli.quality.casefiles import load
from extractord.cli.quality.results import Summary, digest

_PARTS = (
    "heuristics/composing.py",
    "heuristics/likeness.py",
    "heuristics/sentences.py",
    "heuristics/statements.py",
    "heuristics/stating.py",
    "heuristics/weighing.py",
    "languages",
)
"""What finds statements and makes memories of them."""


class Recorded(Struct, frozen=True, kw_only=True):
    """A run over the shipped cases, and what tells whether it is still true."""

    at: str
    version: str
    of: str
    models: dict[str, Summary]
    languages: dict[str, Summary]
    """Of the embedded model."""


def quality_of() -> str:
    """Return what tells the shipped cases and the embedded model from another version of them."""
    agent = Path(str(files("extractord.agent")))
    sources = [path for part in _PARTS for path in _files(agent / part)]
    parts = [digest(placed.case) for placed in load(())]
    parts += [hashlib.sha256(path.read_bytes()).hexdigest() for path in sources]
    return hashlib.sha256(" ".join(parts).encode()).hexdigest()[:16]


def _files(place: Path) -> list[Path]:
    if place.is_file():
        return [place]
    return sorted(path for path in place.iterdir() if path.suffix in (".py", ".toml"))
