"""The groups of rows, and how each is measured whatever becomes of the others."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from extractord.cli.perf import (
    idling,
    indexing,
    judging,
    memory,
    offering,
    prompting,
    reading,
    running,
    starting,
)
from extractord.cli.perf.rows import Conditions, Failed, Measure, Row

GROUPS: Mapping[str, Measure] = {
    judging.GROUP: judging.measure,
    prompting.GROUP: prompting.measure,
    reading.GROUP: reading.measure,
    memory.GROUP: memory.measure,
    offering.GROUP: offering.measure,
    starting.GROUP: starting.measure,
    running.RUN: running.measure_run,
    running.DRAIN: running.measure_drain,
    indexing.GROUP: indexing.measure,
    idling.GROUP: idling.measure,
}
"""Each in the order in which it is measured."""


def measured(names: Sequence[str], *, quick: bool) -> Iterator[Row | Failed]:
    """Given names of groups, measure each in a folder of its own, and yield what it comes to."""
    for name in names:
        with tempfile.TemporaryDirectory(prefix="extractord-perf-") as folder:
            try:
                yield from GROUPS[name](Conditions(folder=Path(folder).resolve(), quick=quick))
            except Exception as error:  # noqa: BLE001 - the others are measured all the same
                yield Failed(row=name, error=f"{type(error).__name__}: {error}")
