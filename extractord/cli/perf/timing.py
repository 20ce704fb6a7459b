"""Medians of things that are timed in turn, since a machine is never as fast as it was."""

from __future__ import annotations

import gc
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence


def interleaved(ways: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Given ways to do a thing, do each in turn, and that `rounds` times; return each one's median in s."""
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            gc.collect()
            taken[name].append(timed(way))
    return {name: statistics.median(times) for name, times in taken.items()}


def timed(way: Callable[[], object]) -> float:
    """Do it once; return the seconds that it took."""
    began = time.perf_counter()
    way()
    return time.perf_counter() - began


def own_process(arguments: Sequence[str], environ: Mapping[str, str] | None = None) -> str:
    """Run Python with these arguments to its end; return what it printed. Raise CalledProcessError."""
    return subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, *arguments], env=environ, check=True, stdout=subprocess.PIPE, text=True
    ).stdout
