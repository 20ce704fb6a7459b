"""The groups of rows, and how each is measured whatever becomes of the others."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from extractord.cli.perf import (
    idling,
    indexing,
    judging,
    memory,
    offering,
    prompting,
    reading,
    redacting,
    running,
    searching,
    starting,
)
from extractord.cli.perf.rows import Failed, Measure, Row
from extractord.cli.perf.timing import own_process
from extractord.errors import ExtractordError

GROUPS: Mapping[str, Measure] = {
    judging.GROUP: judging.measure,
    prompting.GROUP: prompting.measure,
    reading.GROUP: reading.measure,
    memory.GROUP: memory.measure,
    redacting.GROUP: redacting.measure,
    offering.GROUP: offering.measure,
    starting.GROUP: starting.measure,
    running.RUN: running.measure_run,
    running.DRAIN: running.measure_drain,
    indexing.GROUP: indexing.measure,
    searching.GROUP: searching.measure,
    idling.GROUP: idling.measure,
}
"""Each in the order in which it is measured."""


QUICK, FULL = "quick", "full"


def measured(name: str, *, quick: bool) -> Sequence[Row | Failed]:
    """Given the name of a group, measure it in a folder and a process of its own; return what it comes to.

    A house that was opened confines its process for good, and a large heap slows what comes after it.
    """
    with tempfile.TemporaryDirectory(prefix="extractord-perf-") as folder:
        place, size = str(Path(folder).resolve()), QUICK if quick else FULL
        try:
            said = own_process(["-m", "extractord.cli.perf.alone", "group", name, place, size])
        except ExtractordError as error:
            return [Failed(row=name, error=str(error))]
    return msgspec.json.decode(said, type=list[Row])
