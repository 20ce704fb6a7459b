"""Machines of a fleet: each a home with extractord in one of its roles."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from broking import Mosquitto
from living import Session, append

EXTRACTORD = [sys.executable, "-m", "extractord"]


class Machine:
    """A machine of the fleet, with a home of its own."""

    def __init__(self, home: Path, broker: Mosquitto, user: str, person: str = "ann@desk") -> None:
        self.home = home
        self.person = person
        self.transcripts = home / ".claude/projects/-home-dev-shop"
        self.transcripts.mkdir(parents=True)
        (home / "config.toml").touch()
        self.environ = {
            "HOME": str(home),
            "EXTRACTORD_CONFIG": str(home / "config.toml"),
            "EXTRACTORD_DATA_DIR": str(home / "data"),
            "EXTRACTORD_STATE_DIR": str(home / "state"),
            "EXTRACTORD_FLEET__PERSON": person,
            "EXTRACTORD_FLEET__AGAIN_S": "1",
            "EXTRACTORD_RUN__RESCAN_S": "1",
            **broker.settings(user),
            "EXTRACTORD_MQTT__NAME": home.name,
        }

    @property
    def of_person(self) -> dict[str, str]:
        """The environment in which a command works on one person's memory on an extractor."""
        return {
            **self.environ,
            "EXTRACTORD_STATE_DIR": str(self.home / "state/persons" / self.person),
            "EXTRACTORD_MEMORY__DIR": str(self.home / "data/memory/persons" / self.person),
        }

    @contextlib.contextmanager
    def running(self, *arguments: str, until: str = "broker is there") -> Iterator[subprocess.Popen[bytes]]:
        with (self.home / "log").open("a") as log:
            process = subprocess.Popen([*EXTRACTORD, "run", *arguments], env=self.environ, stderr=log)
            try:
                self.wait_for(lambda: until in self.log())
                yield process
            finally:
                if process.poll() is None:
                    process.terminate()
                process.wait(120)

    def log(self) -> str:
        return (self.home / "log").read_text()

    def said(self, text: str, name: str = "0a0b0c0d-0000-4000-8000-000000000001") -> None:
        append(self.transcripts / f"{name}.jsonl", Session(name).exchange(text))

    def memories(self, below: str = "data/memory") -> dict[str, str]:
        found = {}
        for path in (self.home / below).rglob("*.md"):
            if path.name != "MEMORY.md":
                with contextlib.suppress(FileNotFoundError):  # forgotten in this moment
                    found[path.name] = path.read_text()
        return found

    def wait_for(self, claim: Callable[[], object], seconds: float = 120) -> None:
        began = time.monotonic()
        while not claim():
            assert time.monotonic() - began < seconds, self.log()
            time.sleep(0.05)
