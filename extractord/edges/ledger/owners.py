"""Which process holds a claim, and whether it still lives."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from extractord.core.ports import Owner


def present() -> Owner:
    """The process that asks, as the owner of claims."""
    pid = os.getpid()
    return Owner(pid=pid, started=_started(pid) or 0, boot=_boot())


def lives(owner: Owner) -> bool:
    """Given an owner, return whether that very process still runs; a zombie does not."""
    return owner.boot == _boot() and _started(owner.pid) == owner.started


if sys.platform == "linux":
    # Field 3 and 22 of /proc/<pid>/stat, counted after the command's name.
    _STATE, _STARTED = 0, 19

    def _boot() -> str:
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()

    def _started(pid: int) -> int | None:
        """Clock ticks from boot to the process's start; None where there is none."""
        try:
            stat = Path(f"/proc/{pid}/stat").read_bytes()
        except (FileNotFoundError, ProcessLookupError):
            return None
        fields = stat[stat.rindex(b")") + 2 :].split()
        return None if fields[_STATE] in {b"Z", b"X"} else int(fields[_STARTED])

else:
    import subprocess
    from datetime import UTC, datetime

    def _boot() -> str:
        """Nothing: `ps` gives the start as a moment, which no other boot shares."""
        return ""

    def _started(pid: int) -> int | None:
        """Seconds since 1970 at the process's start; None where there is none."""
        asked = subprocess.run(  # noqa: S603 - a fixed program, a number
            ["/bin/ps", "-o", "stat=,lstart=", "-p", str(pid)],
            env={"LC_ALL": "C", "TZ": "UTC"},
            capture_output=True,
            text=True,
            check=False,
        )
        state, _, started = asked.stdout.strip().partition(" ")
        if not started or state.startswith("Z"):
            return None
        moment = datetime.strptime(started.strip(), "%a %b %d %H:%M:%S %Y").replace(tzinfo=UTC)
        return int(moment.timestamp())
