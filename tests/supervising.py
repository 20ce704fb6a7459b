"""What systemd does for a Type=notify service, as far as it can be had without systemd as PID 1."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from living import wait_for


@dataclass
class Supervised:
    """A service under supervision, and every word that it said."""

    process: subprocess.Popen[str]
    log: Path
    words: list[tuple[float, str]] = field(default_factory=list)
    """When, by the monotonic clock, and what: a datagram each."""

    def said(self, word: str) -> list[str]:
        """The values of each assignment of this name, in order."""
        lines = [line for _, text in self.words for line in text.splitlines()]
        return [line.partition("=")[2] for line in lines if line.startswith(f"{word}=")]

    def wait_for(self, claim: Callable[[], object], seconds: float = 60) -> float:
        return wait_for(claim, seconds, self.log.read_text)

    def stop(self, timeout_s: float) -> tuple[int, bool]:
        """KillMode=mixed: SIGTERM to the main process, after the time SIGKILL to all; code, and if killed."""
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(timeout_s), False
        except subprocess.TimeoutExpired:
            for pid in family(self.process.pid):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            return self.process.wait(120), True


def family(pid: int) -> list[int]:
    """A process and all below it."""
    found = [pid]
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(OSError):  # it may have ended meanwhile
                children = (task / "children").read_text().split()
                found += [each for child in children for each in family(int(child))]
    return found


def is_alive(pid: int) -> bool:
    """False also for one that has ended and that nobody has waited for yet."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


@contextlib.contextmanager
def supervised(
    command: Sequence[str], environ: Mapping[str, str], folder: Path, watchdog_s: float = 0.0
) -> Iterator[Supervised]:
    """Start a service with a notify socket, and a watchdog where one is asked for; kill it at the end."""
    place = folder / "notify"
    place.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard, (folder / "log").open("a") as log:
        heard.bind(str(place))
        heard.settimeout(0.1)
        given = {**environ, "NOTIFY_SOCKET": str(place)}
        if watchdog_s:
            given["WATCHDOG_USEC"] = str(int(watchdog_s * 1_000_000))
        process = subprocess.Popen(command, env=given, stderr=log, text=True)
        service, over = Supervised(process, folder / "log"), threading.Event()

        def hear() -> None:
            while not over.is_set():
                with contextlib.suppress(TimeoutError):
                    service.words.append((time.monotonic(), heard.recv(4096).decode()))

        ear = threading.Thread(target=hear)
        ear.start()
        try:
            yield service
        finally:
            pids = family(process.pid) if process.poll() is None else []
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            process.wait(120)
            over.set()
            ear.join()
