"""A home with a daemon in it, and sessions that grow there."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from warm import typed

EXTRACTORD = [sys.executable, "-m", "extractord"]
TUESDAY = "We deploy only on Tuesdays because the warehouse counts stock on Mondays."
FACTS = (
    "We deploy only on Tuesdays.",
    "I prefer short answers without a summary at the end.",
    "In this repository we indent with four spaces.",
    "Always write commit messages in English.",
)


@dataclass
class Place:
    """A home of its own, with everything that a daemon needs below it."""

    home: Path

    @property
    def environ(self) -> dict[str, str]:
        return {
            "HOME": str(self.home),
            "EXTRACTORD_CONFIG": str(self.home / "config.toml"),
            "EXTRACTORD_DATA_DIR": str(self.home / "data"),
            "EXTRACTORD_STATE_DIR": str(self.home / "state"),
            "EXTRACTORD_RUN__SETTLE_S": "1",
        }

    @property
    def transcripts(self) -> Path:
        return self.home / ".claude/projects/-home-dev-shop"

    def memories(self) -> list[Path]:
        found = (self.home / "data/memory").rglob("*.md")
        return sorted(path for path in found if path.name != "MEMORY.md")

    def command(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return typed(arguments, self.environ)

    def runs(self) -> list[dict[str, object]]:
        return [json.loads(line) for line in self.command("runs", "list", "--json").stdout.splitlines()]

    @contextlib.contextmanager
    def running(self) -> Iterator[subprocess.Popen[str]]:
        """The daemon, from its first word that it watches until it has ended."""
        with (self.home / "log").open("a") as log:
            before = len(self.log())
            daemon = subprocess.Popen([*EXTRACTORD, "run"], env=self.environ, stderr=log, text=True)
            try:
                self.wait_for(lambda: "watching" in self.log()[before:])
                yield daemon
            finally:
                if daemon.poll() is None:
                    daemon.terminate()
                daemon.wait(120)

    def log(self) -> str:
        return (self.home / "log").read_text()

    def wait_for(self, claim: object, seconds: float = 90) -> float:
        """Wait until a claim holds; return how long that took, in seconds."""
        began = time.monotonic()
        assert callable(claim)
        while not claim():
            assert time.monotonic() - began < seconds, self.log()
            time.sleep(0.02)
        return time.monotonic() - began


class Session:
    """A session of Claude Code's shape, a record at a time."""

    def __init__(self, name: str = "0a0b0c0d-0000-4000-8000-000000000001") -> None:
        self.name = name
        self._count = 0
        self._parent: str | None = None

    def _record(self, **fields: object) -> bytes:
        self._count += 1
        uuid = f"{self.name[:8]}-0000-4000-8000-{self._count:012d}"
        record = {
            "parentUuid": self._parent,
            "isSidechain": False,
            "uuid": uuid,
            "timestamp": f"2026-11-30T10:{self._count // 60:02d}:{self._count % 60:02d}.000Z",
            "cwd": "/home/dev/shop",
            "sessionId": self.name,
            "version": "2.1.332",
            **fields,
        }
        self._parent = uuid
        return json.dumps(record, ensure_ascii=False).encode() + b"\n"

    def said(self, text: str) -> bytes:
        message = {"role": "user", "content": text}
        return self._record(type="user", promptSource="typed", message=message)

    def answered(self, text: str) -> bytes:
        message = {
            "id": f"msg_{self._count}",
            "role": "assistant",
            "content": [{"type": "text", "text": text}],
            "stop_reason": "end_turn",
        }
        return self._record(type="assistant", message=message)

    def exchange(self, text: str) -> bytes:
        return self.said(text) + self.answered("Noted.")


def append(path: Path, data: bytes) -> None:
    with path.open("ab", buffering=0) as file:
        file.write(data)
