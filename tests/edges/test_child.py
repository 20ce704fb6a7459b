"""A run's child that was turned: whatever it says or does, the daemon goes on, and believes nothing."""

from __future__ import annotations

import asyncio
import resource
import sys
import time
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
import pytest_asyncio
from supervising import is_alive

from extractord.core import handed
from extractord.core.changeset import BYTES_A_RUN, FILES_A_RUN
from extractord.core.records import Brief, Change, Conversation, Ending, Message, Refusal, Reply, Tool
from extractord.core.wire import Start
from extractord.edges.child import ForkedChild
from extractord.edges.processes import Processes
from extractord.policy.requests import Law, RootKind

pytestmark = pytest.mark.asyncio(loop_scope="module")
TURNED = [sys.executable, str(Path(__file__).with_name("turned_children.py"))]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def processes() -> AsyncIterator[Processes]:
    started = Processes(TURNED)
    await converse(started, "honest")  # no run's clock waits for the start of an interpreter
    yield started
    started.stop()


async def complete(_messages: Sequence[Message], _tools: Sequence[Tool]) -> Reply:
    return Reply(text="no")


async def converse(processes: Processes, what: str, run_s: float = 120.0) -> tuple[Conversation, list[int]]:
    """The conversation, and the pids that the child told first."""
    brief = Brief(messages=(), shown=(), session=what, agent="codex", tokens=1)
    start = Start(brief=brief, known=(), turns=5, has_project=True, embedded=False)
    conversation = await ForkedChild(processes, run_s).converse(start, [], complete)
    pids = [int(one.path[1:]) for one in conversation.refusals if one.path[1:].isdigit()]
    return conversation, pids


async def is_gone(pid: int) -> bool:
    for _ in range(1000):
        if not is_alive(pid):
            return True
        await asyncio.sleep(0.02)
    return False


async def test_an_honest_child_is_heard_without_its_own_words(processes: Processes) -> None:
    conversation, (_pid,) = await converse(processes, "honest")
    changes = (Change(root=RootKind.PROJECT, path="a.md", text="fact"),)
    assert (conversation.ending, conversation.changes) == (Ending.FINISHED, changes)
    assert (conversation.turns, conversation.reason) == (5, "")


LIES = [
    ("many changes", "it handed back 51 changes, more than 50"),
    ("one path twice", "it handed back two changes of one memory"),
    ("a long text", "it handed back a text longer than the law allows"),
    ("much new text", "it handed back new memories of more than 1048576 characters"),
    ("a long path", "it handed back a path longer than the law allows"),
    ("many quotes", "it handed back 1001 quotes of 22022 characters, more than is looked at"),
    ("its own failure", "it ended as failed, which is not its to say"),
    ("an answer", "it sent a Answer"),
    ("a fault", "ValueError in memory, line 7"),
    ("words as a fault", "it failed, and would not say how"),
    ("an endless frame", "a frame of 2147483648 bytes is over the limit of 16777216"),
    ("garbage", "a frame does not decode: MessagePack data is malformed: invalid opcode '\\xc1' (byte 0)"),
    ("a frame without a bottom", "a frame does not decode: RecursionError"),
    ("an empty frame", "a frame does not decode: Input data was truncated"),
    ("half a frame", "it ended without an answer"),
    ("nothing", "it ended without an answer"),
    ("asks too often", "it asked for more than 5 turns"),
]


@pytest.mark.parametrize(("what", "reason"), LIES, ids=[what for what, _ in LIES])
async def test_a_lie_fails_the_run_and_brings_none_of_its_words(
    processes: Processes, what: str, reason: str
) -> None:
    conversation, (pid,) = await converse(processes, what)
    assert (conversation.ending, conversation.changes) == (Ending.FAILED, ())
    assert conversation.reason == f"child: {reason}"
    assert await is_gone(pid)


@pytest.mark.parametrize("what", ["hangs", "works for ever", "dribbles", "has a child of its own"])
async def test_a_child_that_does_not_end_is_killed_with_its_group_on_the_wall_clock(
    processes: Processes, what: str
) -> None:
    began = time.monotonic()
    conversation, pids = await converse(processes, what, run_s=1.5)
    assert (conversation.ending, conversation.reason) == (Ending.FAILED, "timeout")
    assert time.monotonic() - began < 30
    assert pids
    assert [await is_gone(pid) for pid in pids] == [True] * len(pids)


async def test_a_flood_of_refusals_is_counted_and_costs_no_memory(processes: Processes) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    conversation, _ = await converse(processes, "refuses for ever", run_s=2.5)
    assert (conversation.ending, conversation.reason) == (Ending.FAILED, "timeout")
    assert (len(conversation.refusals), conversation.denied > 1000) == (200, True)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 * 1024


async def test_a_request_of_many_small_things_costs_bounded_memory(processes: Processes) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    conversation, _ = await converse(processes, "asks much")
    assert conversation.ending is Ending.FINISHED
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 512 * 1024


async def test_what_it_says_of_refusals_goes_on_as_names_and_paths_alone(processes: Processes) -> None:
    conversation, _ = await converse(processes, "tells much of refusals")
    assert conversation.refusals[1:] == (
        Refusal(tool="unknown", path="", verdict="deny", rule="unnamed", reason=""),
        Refusal(
            tool="Write",
            path="/memory/project/[redacted: aws-access-key-id].md",
            verdict="deny",
            rule="secret-name",
            reason="",
        ),
        Refusal(tool="Read", path=f"/memory/project/{'n' * 184}", verdict="deny", rule="root", reason=""),
    )
    assert conversation.denied == 4


async def test_the_limits_are_those_of_an_honest_child() -> None:
    law = Law(roots=())
    assert (FILES_A_RUN, BYTES_A_RUN) == (handed.CHANGES, handed.NEW_CHARACTERS)
    assert law.file_bytes == handed.TEXT_CHARACTERS
    assert law.path_bytes < handed.PATH_CHARACTERS
