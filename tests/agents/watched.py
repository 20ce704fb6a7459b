"""A person's home with a project in it, watched by a real daemon."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, NamedTuple

import frontmatter
from agents.driving import Agent, Where

EXTRACTORD = (sys.executable, "-m", "extractord")
_OUTCOME = re.compile(r"event=(?:run/finished|skipped) .*?\b(?:outcome|reason)=(\w+)")


class Remembered(NamedTuple):
    """A memory, as far as a test knows what it must be."""

    fact: str
    trust: str
    source: str


class Watched:
    """What a daemon sees, and what it makes of it."""

    def __init__(self, folder: Path, agent: Agent, url: str) -> None:
        """Make the home, a repository in it, and the daemon's settings beside it."""
        self._folder = folder
        self._agent = agent
        self.where = Where(folder / "home", folder / "home/shop", url)
        self.where.project.mkdir(parents=True)
        subprocess.run(["git", "init", "-q", "."], cwd=self.where.project, check=True)
        said = "" if agent.says_headless else f"[agents.{agent.name}]\nheadless = true\n"
        (folder / "config.toml").write_text(f"{said}[run]\nsettle_s = 1\n")

    @property
    def transcripts(self) -> str:
        """The agent's own folder."""
        return str(self.where.home / self._agent.home)

    @property
    def log(self) -> str:
        return (self._folder / "log").read_text()

    def command(self, *arguments: str) -> list[dict[str, Any]]:
        """What a command of extractord prints as JSON."""
        said = subprocess.run(
            [*EXTRACTORD, *arguments, "--json"], env=self.environ, capture_output=True, text=True, check=True
        )
        return [json.loads(line) for line in said.stdout.splitlines()]

    def prompts(self) -> list[dict[str, Any]]:
        """What a person, or a program, said to the agent, as its own folder shows it."""
        return [
            entry
            for entry in self.command("entries", self.transcripts)
            if entry["origin"] in {"human", "headless"}
        ]

    def memories(self) -> set[Remembered]:
        """Every memory that a run wrote: its first line, its trust, and where it is from."""
        found: set[Remembered] = set()
        for path in self.where.memory.rglob("*.md"):
            memory = frontmatter.load(str(path))
            stamps: Any = memory.metadata.get("metadata", {})
            if "run" in stamps:
                fact = memory.content.partition("\n")[0]
                found.add(Remembered(fact, stamps["trust"], stamps["source"]))
        return found

    def outcomes(self) -> list[str]:
        """What came of each exchange: a run's outcome, or the reason why there was none; in order."""
        return _OUTCOME.findall(self.log)

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """The daemon, from its first word that it watches until it has ended."""
        with (self._folder / "log").open("w") as log:
            daemon = await asyncio.create_subprocess_exec(*EXTRACTORD, "run", env=self.environ, stderr=log)
            try:
                await self.until(lambda: "watching" in self.log, 20)
                yield
            finally:
                daemon.terminate()
                await asyncio.wait_for(daemon.wait(), 30)

    async def until(self, claim: Callable[[], object], seconds: float) -> float:
        """Wait until a claim holds; return how long that took, in seconds."""
        began = time.monotonic()
        while not claim():
            assert time.monotonic() - began < seconds, self.log
            await asyncio.sleep(0.02)
        return time.monotonic() - began

    @property
    def environ(self) -> dict[str, str]:
        return {
            "HOME": str(self.where.home),
            "EXTRACTORD_CONFIG": str(self._folder / "config.toml"),
            "EXTRACTORD_DATA_DIR": str(self._folder / "data"),
            "EXTRACTORD_STATE_DIR": str(self._folder / "state"),
            "EXTRACTORD_MEMORY__DIR": str(self.where.memory),
        }
