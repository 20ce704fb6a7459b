"""Whether the daemon's parts go on: what a supervisor's watchdog is told rests on it."""

from __future__ import annotations

from collections.abc import Collection


class Pulse:
    """When each part was last seen to go round, and since when each run is under way.

    Moments are seconds of a clock that never jumps.
    """

    def __init__(self, limit_s: float, run_s: float) -> None:
        """A part has to be seen again within `limit_s`; a run has to end within `run_s`."""
        self._limit_s = limit_s
        self.run_s = run_s
        self._seen: dict[str, float] = {}
        self._begun: dict[str, float] = {}

    def beat(self, part: str, now_s: float) -> None:
        """This part has just gone round."""
        self._seen[part] = now_s

    def under_way(self, runs: Collection[str], now_s: float) -> None:
        """These runs are under way now, and no others."""
        self._begun = {run: self._begun.get(run, now_s) for run in runs}

    def stuck(self, now_s: float) -> tuple[str, ...]:
        """What does not go on: a part that was not seen for too long, a run that does not end."""
        parts = [part for part, seen in self._seen.items() if now_s - seen > self._limit_s]
        runs = [run for run, begun in self._begun.items() if now_s - begun > self.run_s]
        return (*sorted(parts), *(f"a run ({run})" for run in sorted(runs)))
