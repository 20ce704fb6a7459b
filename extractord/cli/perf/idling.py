"""What a daemon costs that has nothing to do, with many transcripts to watch over."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from extractord.cli.perf.claude import write_session
from extractord.cli.perf.rows import Conditions, Row, at_most
from extractord.cli.perf.starting import alone_in
from extractord.errors import ExtractordError

GROUP = "idle"
_TRANSCRIPTS, _QUICK_TRANSCRIPTS = 10_000, 1_000
_IN_A_FOLDER = 50
_TRANSCRIPT_BYTES = 8_000
_WATCHED_S, _QUICK_WATCHED_S = 60.0, 10.0
_READY_S = 300.0
_CALM = 0.01
_MB = 1_000_000
_MOST_MB = 60.0
_MOST_PERCENT = 0.5
_UTIME, _STIME = 11, 12
"""Where the two stand in /proc/<pid>/stat, counted after the command's name."""


class _Used(NamedTuple):
    cpu_s: float
    resident: int
    """Bytes."""


def measure(conditions: Conditions) -> Sequence[Row]:
    """Start a daemon over transcripts that nobody writes, wait until it is calm, and watch it."""
    if sys.platform != "linux":
        raise ExtractordError("what a daemon uses is read from /proc, which only Linux has")
    transcripts = _QUICK_TRANSCRIPTS if conditions.quick else _TRANSCRIPTS
    watched_s = _QUICK_WATCHED_S if conditions.quick else _WATCHED_S
    _leave(conditions.folder, transcripts)
    log = conditions.folder / "log"
    with log.open("wb") as file:
        daemon = subprocess.Popen(
            [sys.executable, "-m", "extractord", "run"], env=alone_in(conditions.folder), stderr=file
        )
        try:
            began = time.monotonic()
            _wait_until_calm(daemon, log)
            ready_s = time.monotonic() - began
            before = _used(daemon.pid)
            time.sleep(watched_s)
            after = _used(daemon.pid)
            beside = sum(_used(pid).resident for pid in _children(daemon.pid)) / _MB
        finally:
            daemon.terminate()
            daemon.wait()
    percent = (after.cpu_s - before.cpu_s) / watched_s * 100
    name = f"idle daemon, {transcripts:,} transcripts"
    held = f"its two processes for runs {beside:.0f} MB; calm after {ready_s:.0f} s"
    seen = f"over {watched_s:.0f} s"
    return [
        at_most(GROUP, f"{name}: resident", after.resident / _MB, _MOST_MB, "MB", "a limit", held),
        at_most(GROUP, f"{name}: processor", percent, _MOST_PERCENT, "% of a core", "a limit", seen),
    ]


def _leave(home: Path, transcripts: int) -> None:
    first = home / "first.jsonl"
    write_session(first, _TRANSCRIPT_BYTES)
    content = first.read_bytes()
    session = content.partition(b'"sessionId":"')[2].partition(b'"')[0]
    for number in range(transcripts):
        folder = home / ".claude" / "projects" / f"-home-dev-{number // _IN_A_FOLDER}"
        folder.mkdir(parents=True, exist_ok=True)
        own = f"00000000-0000-4000-8000-{number:012d}"
        (folder / f"{own}.jsonl").write_bytes(content.replace(session, own.encode()))


def _wait_until_calm(daemon: subprocess.Popen[bytes], log: Path) -> None:
    """Until it says that it watches, and has used next to nothing for two seconds."""
    end = time.monotonic() + _READY_S
    before = 0.0
    while time.monotonic() < end:
        time.sleep(2.0)
        if daemon.poll() is not None:
            raise ExtractordError(f"the daemon ended: {log.read_text(errors='replace').strip()}")
        used = _used(daemon.pid).cpu_s
        if b"watching" in log.read_bytes() and used - before <= 2.0 * _CALM:
            return
        before = used
    raise ExtractordError(f"the daemon was not calm within {_READY_S:.0f} s")


def _used(pid: int) -> _Used:
    place = Path(f"/proc/{pid}")
    fields = (place / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    ticks = int(fields[_UTIME]) + int(fields[_STIME])
    pages = int((place / "statm").read_text(encoding="ascii").split()[1])
    return _Used(ticks / os.sysconf("SC_CLK_TCK"), pages * os.sysconf("SC_PAGE_SIZE"))


def _children(pid: int) -> list[int]:
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):
            found += map(int, (task / "children").read_text(encoding="ascii").split())
    return found
