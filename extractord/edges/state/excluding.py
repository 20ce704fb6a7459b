"""The directories that a person excluded, kept beside the ledger, since they must outlive it."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from extractord.durable import alone
from extractord.edges.state.files import beside, in_words
from extractord.errors import ConfigError

EXCLUDED = "excluded.json"


def excluded_in(directory: Path) -> tuple[str, ...]:
    """Given a state directory, return the directories that are excluded there.

    Raise ConfigError where that cannot be read: what was excluded must not be read by mistake.
    """
    place = directory / EXCLUDED
    if not os.path.lexists(place):
        return ()
    with in_words(place, ConfigError):
        raw = place.read_bytes()
    try:
        return msgspec.json.decode(raw, type=tuple[str, ...])
    except msgspec.MsgspecError as error:
        raise ConfigError(
            f"{place} is damaged ({error}): repair it; it is a JSON list of directories"
        ) from error


def exclude_in(state: Path, directory: str, *, excluded: bool) -> None:
    """Given a state directory, exclude the sessions of a directory from now on, or no more."""
    place = state / EXCLUDED
    with in_words(place, ConfigError), alone(state):
        kept = [each for each in excluded_in(state) if each != directory]
        if excluded:
            kept.append(directory)
        with beside(place, msgspec.json.encode(kept) + b"\n") as made:
            made.replace(place)
