"""Real agents are given the memories when they were installed, and have never been touched afterwards."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from agents.driving import AGENTS, Agent, Where
from agents.models import serving

pytestmark = pytest.mark.agents

EXTRACTORD = (sys.executable, "-m", "extractord")
FACT = "The pager number is kept in the blue binder"
MEMORY = f"---\nname: pager\ndescription: {FACT}\nmetadata:\n  type: user\n---\n{FACT}.\n"


def typed(where: Where, *arguments: str) -> str:
    """A command of extractord in the project, everything else in its standard place."""
    done = subprocess.run(
        [*EXTRACTORD, *arguments],
        env=where.environ,
        cwd=where.project,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def at_home(tmp_path: Path, url: str) -> Where:
    where = Where(tmp_path / "home", tmp_path / "home/shop", url)
    (where.project / ".git").mkdir(parents=True)
    where.memory.mkdir()
    where.home.chmod(0o700)
    return where


def files_of(where: Where, target: str) -> list[Path]:
    """The files that an addition is in."""
    rows = json.loads((where.home / f".local/state/extractord/installed/{target}/receipts.json").read_text())
    return sorted({Path(row["path"]) for row in rows})


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
async def test_it_is_given_the_memories_while_installed_and_only_then(agent: Agent, tmp_path: Path) -> None:
    if agent.program() is None:
        pytest.skip(f"{agent.command} is not installed: tests/agents/install says how")
    async with serving() as model:
        where = at_home(tmp_path, model.url)
        user = where.home / ".local/share/extractord/memory/user"
        user.mkdir(parents=True, mode=0o700)
        (user / "pager.md").write_text(MEMORY)
        agent.environ(where)

        async def is_told(prompt: str) -> list[bool]:
            seen = len(model.bodies)
            await agent.told(prompt, where, goes_on=False)
            return [FACT in body for body in model.bodies[seen:] if prompt in body]

        assert set(await is_told("good morning to you")) == {False}
        before = {path: path.read_bytes() for path in where.home.rglob("*") if path.is_file()}
        typed(where, "install", agent.name, "--yes")
        files = files_of(where, agent.name)
        assert set(await is_told("good day to you")) == {True}
        typed(where, "uninstall", agent.name, "--yes")
        assert set(await is_told("good evening to you")) == {False}
    assert {path: path.read_bytes() for path in files if path.exists()} == {
        path: before[path] for path in files if path in before
    }
