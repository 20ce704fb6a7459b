from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from feeding import SAMPLES, fed, line, newest, odd_records, prompts, reader, settled, transcript
from hypothesis import given, settings

from extractord.core.records import Entry, Origin, Role, ToolCall
from extractord.core.transcripts.copilot_cli import SOURCE
from extractord.core.transcripts.source import Container, Surroundings

PATH = "/h/.copilot/session-state/s1/events.jsonl"
PLACE = {"cwd": "/home/dev/shop", "branch": "main"}


def event(ident: str | None, kind: str, agent: str | None = None, **data: object) -> dict[str, object]:
    more = {} if agent is None else {"agentId": agent}
    return {
        "type": kind,
        "id": ident,
        "parentId": None,
        "timestamp": "2026-11-30T12:00:00Z",
        "data": data,
        **more,
    }


START = event("e0", "session.start", sessionId="s1", copilotVersion="1.0.78", context=PLACE)


def entry(ident: str, role: Role, origin: Origin, text: str, **more: object) -> Entry:
    return Entry(
        id=ident,
        agent="copilot-cli",
        session="s1",
        role=role,
        origin=origin,
        text=text,
        time=datetime(2026, 11, 30, 12, tzinfo=UTC),
        cwd="/home/dev/shop",
        branch="main",
        **more,  # type: ignore[arg-type]
    )


def asks(ident: str, name: str, arguments: object) -> dict[str, object]:
    return event(
        ident, "assistant.message", toolRequests=[{"toolCallId": "c1", "name": name, "arguments": arguments}]
    )


def answers(ident: str, *, success: bool = True, content: str = "ok") -> dict[str, object]:
    return event(
        ident, "tool.execution_complete", toolCallId="c1", success=success, result={"content": content}
    )


def test_prompt_call_result_and_answer() -> None:
    to = reader(SOURCE, PATH)
    seen = fed(
        to,
        START,
        event("e1", "user.message", content="save it", transformedContent="<now/>save it"),
        event("e2", "assistant.turn_start"),
        asks("e3", "create", {"path": "../memory/a.md"}),
        event("e4", "tool.execution_start"),
        answers("e5"),
        event("e6", "assistant.turn_end"),
        event("e7", "assistant.message", content="Saved.", toolRequests=[]),
    )
    call = ToolCall(id="c1", name="create", paths=("/home/dev/memory/a.md",), writes=True)
    done = ToolCall(id="c1", name="create", paths=("/home/dev/memory/a.md",), writes=True, ok=True)
    assert seen == [
        entry("e1", Role.USER, Origin.HUMAN, "save it"),
        entry("e3", Role.ASSISTANT, Origin.SYNTHETIC, "", calls=(call,)),
        entry("e3", Role.ASSISTANT, Origin.SYNTHETIC, "", calls=(done,), revision=1),
        entry("e5", Role.TOOL, Origin.SYNTHETIC, "ok"),
        entry("e7", Role.ASSISTANT, Origin.SYNTHETIC, "Saved.", turn_end=True),
    ]
    assert (to.session, to.version) == ("s1", "1.0.78")


@pytest.mark.parametrize(
    ("success", "content", "ok"),
    [
        (True, "x\n<shellId: 0 completed with exit code 0>", True),
        (True, "x\n<shellId: 0 completed with exit code 2>", False),
        (True, "x\n<exited with exit code 0>", True),
        (True, "x\n<exited with exit code 1>", False),
        (True, "x", True),
        (False, "x", False),
    ],
)
def test_a_command_is_done_only_with_success_and_exit_code_0(success: bool, content: str, ok: bool) -> None:
    asked = asks("e1", "bash", json.dumps({"command": "echo x > a.md"}))
    seen = fed(reader(SOURCE, PATH), START, asked, answers("e2", success=success, content=content))
    assert newest(seen)["e1"].calls == (
        ToolCall(id="c1", name="bash", paths=("/home/dev/shop/a.md",), writes=True, ok=ok),
    )


@pytest.mark.parametrize(
    ("name", "arguments", "paths", "writes"),
    [
        ("str_replace_editor", {"command": "view", "path": "a.md"}, ("/home/dev/shop/a.md",), False),
        ("str_replace_editor", {"command": "create", "path": "a.md"}, ("/home/dev/shop/a.md",), True),
        ("view", {"path": "a.md"}, ("/home/dev/shop/a.md",), False),
        ("bash", "{torn", (), False),
        ("task", {"prompt": "x"}, (), False),
    ],
)
def test_a_call_names_its_files(name: str, arguments: object, paths: tuple[str, ...], writes: bool) -> None:
    seen = fed(reader(SOURCE, PATH), START, asks("e1", name, arguments))
    assert newest(seen)["e1"].calls == (ToolCall(id="c1", name=name, paths=paths, writes=writes),)


@pytest.mark.parametrize(
    ("data", "agent", "origin"),
    [
        ({}, None, Origin.HUMAN),
        ({"source": "agent-1"}, None, Origin.SUBAGENT),
        ({}, "call_1", Origin.SUBAGENT),
        ({"source": "user"}, None, Origin.HUMAN),
        ({"source": "skill-x"}, None, Origin.SYNTHETIC),
        ({"isAutopilotContinuation": True}, None, Origin.SYNTHETIC),
    ],
)
def test_only_what_a_person_typed_is_the_persons(
    data: dict[str, object], agent: str | None, origin: Origin
) -> None:
    seen = fed(reader(SOURCE, PATH), START, event("e1", "user.message", agent, content="one", **data))
    assert seen == [entry("e1", Role.USER, origin, "one")]


def test_a_sub_agents_answer_ends_no_turn_and_an_abort_or_error_does() -> None:
    seen = fed(
        reader(SOURCE, PATH),
        START,
        event("e1", "assistant.message", "call_1", content="done"),
        event("e2", "abort", reason="user"),
        event("e3", "session.error", message="no provider"),
        event("e4", "session.compaction_complete", summaryContent="before"),
        event("e5", "system.notification", content="an agent completed"),
    )
    assert seen == [
        entry("e1", Role.ASSISTANT, Origin.SUBAGENT, "done"),
        entry("e2", Role.CONTEXT, Origin.SYNTHETIC, "", turn_end=True),
        entry("e3", Role.CONTEXT, Origin.SYNTHETIC, "no provider", turn_end=True),
        entry("e4", Role.CONTEXT, Origin.RECALLED, "before"),
        entry("e5", Role.CONTEXT, Origin.SYNTHETIC, "an agent completed"),
    ]


def test_what_a_sub_agent_did_was_told_by_the_call_that_began_it() -> None:
    seen = fed(
        reader(SOURCE, PATH),
        START,
        event("e1", "user.message", content="go"),
        event("e2", "assistant.message", content="found it", parentToolCallId="c9"),
        event("e3", "assistant.message", content="Done."),
    )
    assert seen == [
        entry("e1", Role.USER, Origin.HUMAN, "go"),
        entry("e2", Role.ASSISTANT, Origin.SUBAGENT, "found it"),
        entry("e3", Role.ASSISTANT, Origin.SYNTHETIC, "Done.", turn_end=True),
    ]


def test_the_models_instructions_say_that_a_program_prompts() -> None:
    driven = event("e2", "system.message", content="You are running in non-interactive mode and …")
    interactive = event("e5", "system.message", content="You are a terminal assistant.")
    agents = event("e6", "system.message", "call_1", content="You are running in non-interactive mode")
    to = reader(SOURCE, PATH)
    inner = event("e7", "system.message", content="You search.", parentToolCallId="c9")
    one, two, three = (event(f"e{nth}", "user.message", content="go on") for nth in (1, 3, 4))
    assert fed(to, START, one, driven, two, inner) == [
        entry("e1", Role.USER, Origin.HUMAN, "go on"),
        entry("e1", Role.USER, Origin.HEADLESS, "go on", revision=1),
        entry("e3", Role.USER, Origin.HEADLESS, "go on"),
    ]
    assert fed(to, three, interactive, agents) == [
        entry("e4", Role.USER, Origin.HEADLESS, "go on"),
        entry("e4", Role.USER, Origin.HUMAN, "go on", revision=1),
    ]


def test_what_a_person_answers_in_their_own_words_is_theirs() -> None:
    seen = fed(
        reader(SOURCE, PATH),
        START,
        event("e1", "user_input.completed", answer="use tabs always", wasFreeform=True),
        event("e2", "user_input.completed", answer="first choice", wasFreeform=False),
        event("e3", "exit_plan_mode.completed", approved=False, feedback="keep the old name"),
    )
    assert prompts(seen) == ["use tabs always", "keep the old name"]


def test_our_memory_is_recalled_wherever_it_stands() -> None:
    memory = "<extractord-memory id=x>- tabs</extractord-memory>"
    prompt = event("e1", "user.message", content=f"hi\n{memory}")
    seen = fed(reader(SOURCE, PATH), START, prompt, asks("e2", "extractord-memory_search", {}), answers("e3"))
    assert [(each.id, each.origin) for each in newest(seen).values()] == [
        ("e1", Origin.HUMAN),
        ("e1#1", Origin.RECALLED),
        ("e2", Origin.SYNTHETIC),
        ("e3", Origin.RECALLED),
    ]


def test_unknown_events_are_counted_and_known_ones_are_silent() -> None:
    to = reader(SOURCE, PATH)
    odd = [
        event("e1", "novelty"),
        event(None, "user.message"),
        event("e2", "session.model_change"),
        b"{",
        b"",
    ]
    result = event("e3", "tool.execution_complete")
    assert [each.session for each in newest(fed(to, *odd, result)).values()] == ["s1"]
    assert to.unknown == {"novelty": 1, "no id": 1, "undecodable": 1}


def test_what_is_said_under_no_id_is_known_by_its_words() -> None:
    to = reader(SOURCE, PATH)
    again = event(None, "user.message", content="again")
    assert prompts(fed(to, again, event(None, "assistant.message", content="ok"), again)) == [
        "again",
        "again",
    ]
    assert to.unknown == {}


def test_where_it_is_and_what_belongs() -> None:
    home = {"home": "/home/dev", "platform": "linux"}
    assert SOURCE.roots(Surroundings(env={}, **home)) == (
        "/home/dev/.copilot/session-state",
        "/home/dev/.copilot/history-session-state",
    )
    assert SOURCE.roots(Surroundings(env={"COPILOT_HOME": "/c"}, **home)) == (
        "/c/session-state",
        "/c/history-session-state",
    )
    assert SOURCE.belongs("s1/events.jsonl")
    assert SOURCE.belongs("s1.jsonl")
    assert not SOURCE.belongs("s1/files/a.jsonl")
    assert SOURCE.container(PATH) is Container.LINES
    assert SOURCE.claims(PATH, line(START))
    assert not SOURCE.claims(PATH, b'{"type":"session"}')


KEYS = [
    "type",
    "id",
    "data",
    "content",
    "toolRequests",
    "toolCallId",
    "name",
    "arguments",
    "result",
    "agentId",
]
WORDS = [
    "user.message",
    "assistant.message",
    "tool.execution_complete",
    "session.start",
    "abort",
    "e1",
    "c1",
    "bash",
]


@settings(max_examples=60)
@given(odd_records(KEYS, WORDS))
def test_no_record_raises_and_a_second_feeding_only_revises(records: list[bytes]) -> None:
    newest(settled(reader(SOURCE, PATH), START, *records, *records))


FILES = {
    "as/large.jsonl": 3,
    "as/small.jsonl": 1,
    "derived/rewind-step1-before.jsonl": 2,
    "derived/rewind-step2-after.jsonl": 2,
    "irr-1-5_session-reset--2026-08-05-19-00-26.jsonl": 2,
    "irr-1-6_checkpoint-rewind--2026-08-05-19-11-05.jsonl": 2,
    "irr-2-14_turn-aborted-by-error--2026-08-05-17-29-03.jsonl": 1,
    "irr-2-15_shell-escape-command--2026-08-05-17-36-25.jsonl": 2,
    "irr-2-1_basic-turn--2026-08-03-00-48-54.jsonl": 1,
    "irr-2-1_basic-turn--2026-08-03-17-47-42.jsonl": 1,
    "irr-2-2_auto-executed-tool-call--2026-08-03-12-35-04.jsonl": 1,
    "irr-2-2_auto-executed-tool-call--2026-08-03-17-51-25.jsonl": 1,
    "irr-3-5_workflow-fanout--2026-08-05-17-19-00.jsonl": 1,
}
"""How many prompts a person typed, as read by eye; in the second the ids are blanked, so one is not told."""


@pytest.mark.skipif(not SAMPLES.exists(), reason="the shared samples are not beside the checkout")
@pytest.mark.parametrize("name", FILES)
def test_a_sample_has_the_prompts_that_were_typed(name: str) -> None:
    said = prompts(transcript(SOURCE, SAMPLES / "copilot" / name))
    assert len(said) == FILES[name]
    assert not [text for text in said if "subagent" in text and text.startswith("You are")]
