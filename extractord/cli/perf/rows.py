"""What a measurement comes to, and what it is held against."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace


class Row(Struct, frozen=True, kw_only=True):
    """One figure beside its target; a ratio or an absolute one, as `unit` says."""

    row: str
    """The group that it was measured in: what `--only` takes."""
    name: str
    value: float
    unit: str
    against: str
    """What it is compared with: the naive way, measured in the same run, or a limit."""
    bound: Literal["≥", "≤"]
    target: float
    met: bool
    detail: str = ""
    """What else was seen: sizes, rates, what stood in for what."""


class Failed(Struct, frozen=True, kw_only=True):
    """A group that could not be measured."""

    row: str
    error: str


class Conditions(Struct, frozen=True, kw_only=True):
    """What a group measures in: an empty folder of its own, and whether small sizes are enough."""

    folder: Path
    quick: bool


TIMES = "\u00d7"
"""The unit of a ratio."""

Measure = Callable[[Conditions], Sequence[Row]]


def at_least(
    row: str, name: str, value: float, target: float, unit: str, against: str, detail: str = ""
) -> Row:
    """Given a figure that ought not to be lower than its target, return its row."""
    return Row(
        row=row,
        name=name,
        value=value,
        unit=unit,
        against=against,
        bound="≥",
        target=target,
        met=value >= target,
        detail=detail,
    )


def at_most(
    row: str, name: str, value: float, target: float, unit: str, against: str, detail: str = ""
) -> Row:
    """Given a figure that ought not to be higher than its target, return its row."""
    least = at_least(row, name, value, target, unit, against, detail)
    return replace(least, bound="≤", met=value <= target)
