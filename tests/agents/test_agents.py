"""Real agents, started as a person's scripts start them: what they are told is remembered, once, in time."""

from __future__ import annotations

from pathlib import Path

import pytest
from agents.driving import AGENTS, ONLY_WATCHED, Agent
from agents.models import Model, serving
from agents.terminal import CLEAR_LINE, ENTER, Terminal, opened
from agents.watched import Remembered, Watched

pytestmark = pytest.mark.agents

IN_TIME_S = 3.0
RELEASES = "Remember that releases go out on Thursdays only, because the support desk is closed on Fridays."
SHELL = "run: printf 'three little words\\n' && git status --short"
THANKS = "ok thanks"
ENGLISH = "以后所有提交信息都用英文写"
SHORT = "I prefer short answers without a closing summary"


def program_of(agent: Agent) -> str:
    return agent.program() or pytest.skip(f"{agent.command} is not installed: tests/agents/install says how")


@pytest.mark.parametrize("agent", [*AGENTS, *ONLY_WATCHED], ids=lambda agent: agent.name)
async def test_what_an_agent_is_told_is_remembered_once_and_in_time(agent: Agent, tmp_path: Path) -> None:
    program_of(agent)
    async with serving() as model:
        watched = Watched(tmp_path, agent, model.url)
        written = watched.where.memory / "user/error-budget.md"
        told = (RELEASES, SHELL, THANKS, f"write: {written} :: The error budget is ours.", ENGLISH)
        async with watched.running():
            for nth, prompt in enumerate(told):
                await agent.told(prompt, watched.where, goes_on=nth > 0)
                await watched.until(lambda: len(watched.outcomes()) == nth + 1, IN_TIME_S)  # noqa: B023
            # Gemini CLI deletes a session that was taken up in another minute when the next one begins.
            first = watched.prompts()
            await agent.told(SHORT, watched.where, goes_on=False)
            await watched.until(lambda: len(watched.outcomes()) == len(told) + 1, IN_TIME_S)
            [second] = [prompt for prompt in watched.prompts() if prompt["text"] == SHORT]
    *_, summary = watched.command("extract", watched.transcripts)
    assert (summary["runs"], summary["failed"]) == (0, 0)
    seen = watched.command("entries", watched.transcripts, "--diagnose")
    assert {(file["agent"], *file["unknown"]) for file in seen} == {(agent.name,)}
    assert watched.outcomes() == ["saved", "nothing_to_save", "no_prose", "direct_write", "saved", "held"]
    assert [prompt["text"] for prompt in first] == list(told)
    assert len({prompt["session"] for prompt in first}) == 1
    assert second["session"] != first[0]["session"]
    assert {prompt["origin"] for prompt in [*first, second]} == {
        "headless" if agent.says_headless else "human"
    }
    assert watched.memories() == {
        Remembered(fact, "inferred", f"{agent.name} {prompt['session']} {prompt['id']}")
        for fact, prompt in (
            ("Releases go out on Thursdays only.", first[0]),
            ("以后所有提交信息都用英文写。", first[4]),
        )
    }
    assert written.read_text().strip() == "The error budget is ours."
    assert not [
        asked for asked in model.unknown if not asked.startswith(("HEAD /", "GET /", "POST /api/show"))
    ]


async def typed(prompt: str, terminal: Terminal, model: Model) -> None:
    """Type a prompt and see that it arrives: an agent that begins takes no notice of a first Enter."""
    await terminal.press(prompt)
    for _ in range(3):
        await terminal.press(ENTER)
        if any(asked.prompt == prompt for asked in model.asked):
            return
    pytest.fail(f"never asked: {prompt}")


@pytest.mark.parametrize("agent", [agent for agent in AGENTS if agent.rewound], ids=lambda agent: agent.name)
async def test_what_a_person_types_is_stated_and_what_they_take_back_is_not_kept(
    agent: Agent, tmp_path: Path
) -> None:
    program = program_of(agent)
    tabs, spaces = (f"In this repository we indent with {what}." for what in ("tabs", "two spaces"))
    async with serving() as model:
        watched = Watched(tmp_path, agent, model.url)
        async with opened(program, agent.environ(watched.where), watched.where.project) as terminal:
            async with watched.running():
                await typed(RELEASES, terminal, model)
                await watched.until(watched.memories, IN_TIME_S)
            await typed(tabs, terminal, model)
            await terminal.press(*agent.rewound, CLEAR_LINE)
            await typed(spaces, terminal, model)
    *_, summary = watched.command("extract", watched.transcripts)
    prompts = watched.prompts()
    assert [(prompt["text"], prompt["origin"], prompt["active"]) for prompt in prompts] == [
        (RELEASES, "human", True),
        (tabs, "human", False),
        (spaces, "human", True),
    ]
    assert (summary["runs"], summary["saved"], summary["failed"]) == (1, 1, 0)
    assert watched.memories() == {
        Remembered(fact, "stated", f"{agent.name} {prompt['session']} {prompt['id']}")
        for fact, prompt in (("Releases go out on Thursdays only.", prompts[0]), (spaces, prompts[2]))
    }
