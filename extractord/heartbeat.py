"""What whoever supervises the daemon learns of it: ready, rereading, ending, and that it goes on."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Collection

from extractord.core.ports import RunRow
from extractord.core.pulse import Pulse
from extractord.edges.notify import Notify
from extractord.edges.signals import first_of

_LIMIT_S = 300.0
"""Without a watchdog of its own: so long may a part be silent before that is said."""
_CHECK_S = 60.0
_GRACE_S = 300.0
"""What a run may take besides two conversations of `budget.run_s`: brief, redaction, commit."""


class Heartbeat:
    """Beats while watch, clock and runs all go on; a beat that is left out says that they do not."""

    def __init__(self, notify: Notify, run_s: float, say: Callable[[str], None]) -> None:
        """`run_s` is `budget.run_s`; `say` is told once what stands still."""
        self._notify = notify
        self._say = say
        self._pulse = Pulse(notify.watchdog_s or _LIMIT_S, 2 * run_s + _GRACE_S)
        self._said: tuple[str, ...] = ()
        self._watching = 0

    def follow(self, run_s: float) -> None:
        """From now on a run may take as long as this setting says."""
        self._pulse.run_s = 2 * run_s + _GRACE_S

    def ready(self, watching: int) -> None:
        """It watches so many folders, from now on or again."""
        self._watching = watching
        self._beat_all()
        self._notify.ready(f"watching {watching} folders")

    def reloading(self) -> None:
        """It looks at its configuration; `ready` or `stayed` follows."""
        self._notify.reloading()

    def stayed(self) -> None:
        """The configuration stays as it was."""
        self.ready(self._watching)

    def stopping(self, running: int) -> None:
        """No more runs are begun."""
        self._notify.stopping(f"stopping: {running} runs in flight" if running else "stopping")

    def ran(self, row: RunRow) -> None:
        """A run ended."""
        reason = f" ({row.reason})" if row.reason else ""
        last = f"{row.outcome}{reason}, {row.agent}, {row.ended_at:%Y-%m-%d %H:%M}"
        self._notify.status(f"watching {self._watching} folders; last run {last}")

    def passed(self, part: str) -> None:
        """A part has gone round."""
        self._pulse.beat(part, asyncio.get_running_loop().time())

    def under_way(self, runs: Collection[str]) -> None:
        """These runs are in flight."""
        self._pulse.under_way(runs, asyncio.get_running_loop().time())

    async def beat(self, *ends: asyncio.Event) -> None:
        """Until one of the events: beat twice in a watchdog's time, where nothing stands still."""
        every = self._notify.watchdog_s / 2 or _CHECK_S
        while not any(event.is_set() for event in ends):
            stuck = self._pulse.stuck(asyncio.get_running_loop().time())
            if not stuck:
                self._notify.alive()
            elif stuck != self._said:
                self._say(f"stands still: {', '.join(stuck)}")
            self._said = stuck
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(first_of(*ends), every)

    def _beat_all(self) -> None:
        for part in ("watch", "clock"):
            self.passed(part)
