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
SERVER_STARTS_S = 15
FACT = "The pager number is kept in the blue binder"
MEMORY = f"---\nname: pager\ndescription: {FACT}\nmetadata:\n  type: user\n---\n{FACT}.\n"


RELEASES = "Remember that releases go out on Thursdays only, because the support desk is closed on Fridays."
LEARNED = "Releases go out on Thursdays only."


def needed(agent: Agent) -> None:
    if agent.program() is None:
        pytest.skip(f"{agent.command} is not installed: tests/agents/install says how")


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


def remembered(where: Where) -> None:
    """Write a memory by hand."""
    user = where.home / ".local/share/extractord/memory/user"
    user.mkdir(parents=True, mode=0o700)
    (user / "pager.md").write_text(MEMORY)


def memories(where: Where) -> list[str]:
    """The first line of what each memory says."""
    kept = (where.home / ".local/share/extractord/memory").glob("projects/*/*.md")
    return [path.read_text().split("---\n", 2)[2].split("\n")[0] for path in kept if path.name != "MEMORY.md"]


def files_of(where: Where, target: str) -> list[Path]:
    """The files that an addition is in."""
    rows = json.loads((where.home / f".local/state/extractord/installed/{target}/receipts.json").read_text())
    return sorted({Path(row["path"]) for row in rows})


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
async def test_it_is_given_the_memories_while_installed_and_only_then(agent: Agent, tmp_path: Path) -> None:
    needed(agent)
    async with serving() as model:
        where = at_home(tmp_path, model.url)
        remembered(where)
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


async def test_codex_trusts_our_hook_beside_others_in_a_file_of_their_own(tmp_path: Path) -> None:
    [agent] = [agent for agent in AGENTS if agent.name == "codex"]
    needed(agent)
    theirs = '{"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "true"}]}]}}\n'
    async with serving() as model:
        where = at_home(tmp_path, model.url)
        remembered(where)
        agent.environ(where)
        hooks, config = where.home / ".codex/hooks.json", where.home / ".codex/config.toml"
        hooks.write_text(theirs)
        before = config.read_bytes()
        typed(where, "install", "codex", "--yes")
        await agent.told("good day to you", where, goes_on=False)
        typed(where, "uninstall", "codex", "--yes")
    assert any(FACT in body for body in model.bodies if "good day to you" in body)
    assert (hooks.read_text(), config.read_bytes()) == (theirs, before)


@pytest.mark.parametrize(
    "agent", [agent for agent in AGENTS if agent.name != "pi"], ids=lambda agent: agent.name
)
async def test_with_the_server_it_is_offered_the_tools_too(agent: Agent, tmp_path: Path) -> None:
    needed(agent)
    async with serving() as model:
        where = at_home(tmp_path, model.url)
        agent.environ(where)
        typed(where, "install", agent.name, "--mcp", "--yes")
        await agent.told(f"run: sleep {SERVER_STARTS_S}", where, goes_on=False)  # not all wait for servers
    assert any("memory_search" in body for body in model.bodies)


@pytest.mark.parametrize(
    ("one", "other"),
    list(zip(AGENTS, (*AGENTS[1:], AGENTS[0]), strict=True)),
    ids=lambda agent: agent.name,
)
async def test_what_one_agent_was_told_another_knows_in_its_next_session(
    one: Agent, other: Agent, tmp_path: Path
) -> None:
    needed(one)
    needed(other)
    async with serving() as model:
        where = at_home(tmp_path, model.url)
        await one.told(RELEASES, where, goes_on=False)
        typed(where, "extract")
        assert memories(where) == [LEARNED]
        other.environ(where)
        typed(where, "install", other.name, "--yes")
        await other.told("good day to you", where, goes_on=False)
        assert any(LEARNED.rstrip(".") in body for body in model.bodies if "good day to you" in body)
        typed(where, "extract")
    assert memories(where) == [LEARNED]  # what it was given is no evidence
