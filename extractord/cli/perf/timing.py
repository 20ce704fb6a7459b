"""Medians of things that are timed in turn, since a machine is never as fast as it was."""

from __future__ import annotations

import gc
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from extractord.errors import ExtractordError

_PAGE = 4096
_SYNCS = 11


class Taken(NamedTuple):
    """What something took, in s: by the clock, and of the processor, children that ended included."""

    wall: float
    cpu: float


def interleaved(ways: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, Taken]:
    """Given ways to do a thing, do each in turn, and that `rounds` times; return each one's medians."""
    taken: dict[str, list[Taken]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            gc.collect()
            taken[name].append(timed(way))
    return {name: medians(times) for name, times in taken.items()}


def timed(way: Callable[[], object]) -> Taken:
    """Do it once; return what it took."""
    wall, cpu = time.perf_counter(), _cpu()
    way()
    return Taken(time.perf_counter() - wall, _cpu() - cpu)


def medians(times: Sequence[Taken]) -> Taken:
    """Given what something took each time, return the medians."""
    return Taken(statistics.median(one.wall for one in times), statistics.median(one.cpu for one in times))


def _cpu() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def sync_s(folder: Path) -> float:
    """Given a folder, return the median of what the disk under it takes to make a page durable."""
    with (folder / "sync").open("wb", buffering=0) as file:

        def sync() -> None:
            file.write(bytes(_PAGE))
            os.fsync(file.fileno())

        return medians([timed(sync) for _ in range(_SYNCS)]).wall


def own_process(arguments: Sequence[str], environ: Mapping[str, str] | None = None) -> str:
    """Run Python with these arguments to its end; return what it printed.

    Raise ExtractordError with its last words where it failed.
    """
    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, *arguments], env=environ, check=False, capture_output=True, text=True
    )
    if done.returncode != 0:
        said = done.stderr.strip().rpartition("\n")[2]
        raise ExtractordError(said or f"it ended with {done.returncode}")
    return done.stdout
