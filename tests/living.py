"""A home with a daemon in it, and sessions that grow there."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
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


class Place:
    """A home of its own, with everything that extractord needs below it."""

    def __init__(self, home: Path, *, watches: str = "watching", **environ: str) -> None:
        """`environ` is set besides; what the daemon says when it has started has `watches` in it."""
        self.home = home
        self.transcripts = home / ".claude/projects/-home-dev-shop"
        self.transcripts.mkdir(parents=True, exist_ok=True)
        (home / "config.toml").touch()
        self._watches = watches
        self.environ = {
            "HOME": str(home),
            "EXTRACTORD_CONFIG": str(home / "config.toml"),
            "EXTRACTORD_DATA_DIR": str(home / "data"),
            "EXTRACTORD_STATE_DIR": str(home / "state"),
            "EXTRACTORD_RUN__SETTLE_S": "1",
            **environ,
        }

    def said(self, text: str, name: str = "0a0b0c0d-0000-4000-8000-000000000001") -> None:
        """A person says it to an agent, which answers, in a session of this name."""
        append(self.transcripts / f"{name}.jsonl", Session(name).exchange(text))

    def memories(self) -> list[Path]:
        found = (self.home / "data/memory").rglob("*.md")
        return sorted(path for path in found if path.name != "MEMORY.md")

    def texts(self) -> dict[str, str]:
        """Each memory's text, by its file's name."""
        found = {}
        for path in self.memories():
            with contextlib.suppress(FileNotFoundError):  # forgotten in this moment
                found[path.name] = path.read_text()
        return found

    def command(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        return typed(arguments, self.environ)

    def runs(self) -> list[dict[str, object]]:
        return [json.loads(line) for line in self.command("runs", "list", "--json").stdout.splitlines()]

    @contextlib.contextmanager
    def running(self, *arguments: str, until: str = "") -> Iterator[subprocess.Popen[bytes]]:
        """The daemon, from its first word that it watches, or another, until it has ended."""
        with (self.home / "log").open("a") as log:
            before = len(self.log())
            daemon = subprocess.Popen([*EXTRACTORD, "run", *arguments], env=self.environ, stderr=log)
            try:
                self.wait_for(lambda: (until or self._watches) in self.log()[before:])
                yield daemon
            finally:
                if daemon.poll() is None:
                    daemon.terminate()
                daemon.wait(120)

    def log(self) -> str:
        return (self.home / "log").read_text()

    def wait_for(self, claim: Callable[[], object], seconds: float = 120) -> float:
        return wait_for(claim, seconds, self.log)


def wait_for(claim: Callable[[], object], seconds: float, why: Callable[[], str]) -> float:
    """Wait until a claim holds, or fail with why it does not; return how long that took, in seconds."""
    began = time.monotonic()
    while not claim():
        assert time.monotonic() - began < seconds, why()
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
