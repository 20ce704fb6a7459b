"""Claude Code with the server of the memories: it asks, is told, and what it was told is no evidence."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import pytest
from agents.driving import AGENTS
from agents.models import serving
from agents.watched import Watched

pytestmark = pytest.mark.agents

FACT = "Releases go out on Thursdays only"
WAITS = {"ENABLE_TOOL_SEARCH": "false", "MCP_CONNECTION_NONBLOCKING": "0", "MCP_TIMEOUT": "60000"}
"""The server is there before the first prompt is, however slow the machine."""
TOOL = "mcp__extractord__memory_search"


async def test_claude_code_searches_the_memories_and_what_it_is_told_is_recalled(tmp_path: Path) -> None:
    [claude] = [agent for agent in AGENTS if agent.name == "claude-code"]
    program = claude.program() or pytest.skip("claude is not installed: tests/agents/install says how")
    async with serving() as model:
        watched = Watched(tmp_path, claude, model.url)
        kept = watched.where.memory / "user/releases.md"
        kept.parent.mkdir(parents=True, mode=0o700)
        watched.where.memory.chmod(0o700)
        kept.write_text(f"# {FACT}\n\nAlways.\n")
        server = {"command": sys.executable, "args": ["-m", "extractord", "mcp"], "env": watched.environ}
        config = tmp_path / "mcp.json"
        config.write_text(json.dumps({"mcpServers": {"extractord": server}}))
        process = await asyncio.create_subprocess_exec(
            program,
            *("-p", f'call: {TOOL} :: {{"words": "thursdays"}}'),
            *("--mcp-config", str(config), "--strict-mcp-config", "--allowedTools", TOOL),
            cwd=watched.where.project,
            env={**claude.environ(watched.where), **WAITS},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        said, _ = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode == 0, said.decode(errors="replace")
    assert said.decode().strip() == "Noted: it is done."
    entries = watched.command("entries", watched.transcripts)
    [told] = [entry for entry in entries if entry["role"] == "tool"]
    assert (told["origin"], FACT in told["text"]) == ("recalled", True)
    assert "/memory/user/releases.md" in told["text"]
    assert str(tmp_path) not in told["text"]
    *_, summary = watched.command("extract", watched.transcripts)
    assert summary["saved"] == 0
    assert watched.memories() == set()
