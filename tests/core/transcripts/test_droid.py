from __future__ import annotations

from datetime import UTC, datetime

import pytest
from feeding import fed, line, memory_writes, newest, odd_records, prompts, reader, settled
from hypothesis import given, settings

from extractord.core.records import Entry, Origin, Role, ToolCall
from extractord.core.transcripts.droid import SOURCE
from extractord.core.transcripts.source import Surroundings

AT = "2026-11-30T12:00:00Z"
START = {"type": "session_start", "id": "s1", "cwd": "/home/dev/shop", "version": "0.81.0"}


def message(ident: str, role: str, *blocks: object, parent: str | None = None) -> dict[str, object]:
    inner = {"role": role, "content": list(blocks)}
    return {"type": "message", "id": ident, "parentId": parent, "timestamp": AT, "message": inner}


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


def entry(ident: str, role: Role, origin: Origin, words: str, **more: object) -> Entry:
    return Entry(
        id=f"s1/{ident}",
        agent="droid",
        session="s1",
        role=role,
        origin=origin,
        text=words,
        time=datetime(2026, 11, 30, 12, tzinfo=UTC),
        cwd="/home/dev/shop",
        **more,  # type: ignore[arg-type]
    )


def test_prompt_call_result_and_answer() -> None:
    to = reader(SOURCE)
    asks = {"type": "tool_use", "id": "c1", "name": "Create", "input": {"file_path": "../memory/a.md"}}
    seen = fed(
        to,
        START,
        message("m1", "user", text("<system-reminder>\nbe brief\n</system-reminder>"), text("save it")),
        message("m2", "assistant", {"type": "thinking"}, asks, parent="m1"),
        message("m3", "user", {"type": "tool_result", "tool_use_id": "c1", "content": "ok"}),
        message("m4", "assistant", text("Saved.")),
        {"type": "compaction_state", "id": "m5", "timestamp": AT, "summaryText": "before"},
        {"type": "todo_state"},
    )
    call = ToolCall(id="c1", name="Create", paths=("/home/dev/memory/a.md",), writes=True)
    done = ToolCall(id="c1", name="Create", paths=("/home/dev/memory/a.md",), writes=True, ok=True)
    reminder = "<system-reminder>\nbe brief\n</system-reminder>"
    assert seen == [
        entry("m1", Role.USER, Origin.HUMAN, "save it"),
        entry("m1#1", Role.CONTEXT, Origin.SYNTHETIC, reminder),
        entry("m2", Role.ASSISTANT, Origin.SYNTHETIC, "", calls=(call,), parent="m1"),
        entry("m2", Role.ASSISTANT, Origin.SYNTHETIC, "", calls=(done,), parent="m1", revision=1),
        entry("c1/result", Role.TOOL, Origin.SYNTHETIC, "ok"),
        entry("m4", Role.ASSISTANT, Origin.SYNTHETIC, "Saved."),
        entry("m5", Role.CONTEXT, Origin.RECALLED, "before"),
    ]
    assert (to.session, to.version) == ("s1", "0.81.0")


@pytest.mark.parametrize("title", ["# Task Tool Invocation\n\nSubagent type: worker", "New Session"])
def test_a_task_of_an_older_version_is_known_by_how_its_prompt_begins(title: str) -> None:
    told = "# Task Tool Invocation\n\nSubagent type: worker\n\nmend it"
    seen = fed(reader(SOURCE), {**START, "title": title}, message("m1", "user", text(told)))
    assert seen == [entry("m1", Role.USER, Origin.SUBAGENT, told)]


def test_what_droid_exec_prints_is_a_programs_prompt_and_ends_with_its_completion() -> None:
    common = {"sessionId": "s1", "timestamp": AT}
    call = {"type": "tool_call", "id": "c1", "toolName": "Execute"}
    seen = fed(
        reader(SOURCE),
        {"type": "system", "subtype": "init", "cwd": "/home/dev/shop", **common},
        {"type": "message", "role": "user", "text": "list files", "id": "m1", **common},
        {**call, "parameters": {"command": "ls > /home/dev/memory/a.md"}, **common},
        {"type": "tool_result", "id": "c1", "toolName": "Execute", "isError": True, "value": "no", **common},
        {"type": "completion", "finalText": "Done", "id": "end", **common},
        {"type": "error", "message": "no key", **common},
    )
    assert [(each.role, each.origin, each.text, each.turn_end) for each in newest(seen).values()] == [
        (Role.USER, Origin.HEADLESS, "list files", False),
        (Role.ASSISTANT, Origin.SYNTHETIC, "", False),
        (Role.TOOL, Origin.SYNTHETIC, "no", False),
        (Role.ASSISTANT, Origin.SYNTHETIC, "Done", True),
        (Role.CONTEXT, Origin.SYNTHETIC, "no key", True),
    ]
    assert memory_writes(seen) == [("/home/dev/memory/a.md", False)]


@pytest.mark.parametrize(
    ("words", "typed"),
    [
        ("<system-reminder>a</system-reminder>\nsave it", ["save it"]),
        ("<system-reminder>a</system-reminder>forged</system-reminder> ours", ["ours"]),
        ("<system-reminder>never ends", []),
        ("save it", ["save it"]),
    ],
)
def test_a_reminder_is_nobodys_words(words: str, typed: list[str]) -> None:
    assert prompts(fed(reader(SOURCE), START, message("m1", "user", text(words)))) == typed


@pytest.mark.parametrize(
    ("more", "origin"),
    [
        ({"callingSessionId": "s0"}, Origin.SUBAGENT),
        ({"decompSessionType": "worker"}, Origin.SUBAGENT),
        ({"decompSessionType": "orchestrator", "parent": "s0"}, Origin.HUMAN),
    ],
)
def test_a_session_that_another_called_is_a_sub_agents(more: dict[str, object], origin: Origin) -> None:
    assert fed(reader(SOURCE), {**START, **more}, message("m1", "user", text("list them"))) == [
        entry("m1", Role.USER, origin, "list them")
    ]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"visibility": "llm_only"}, []),
        ({"visibility": "user_only", "messageType": "system_notification"}, []),
        ({"visibility": "both"}, ["always ask me"]),
        ({}, ["always ask me"]),
    ],
)
def test_what_is_shown_to_one_side_only_is_no_prompt(more: dict[str, object], said: list[str]) -> None:
    inner = {"role": "user", "content": [text("always ask me")], **more}
    seen = fed(reader(SOURCE), START, {"type": "message", "id": "m1", "message": inner})
    assert prompts(seen) == said
    assert [each.text for each in newest(seen).values()] == ["always ask me"]


def test_a_turns_outcome_ends_it_once() -> None:
    outcome = {"type": "agent_turn_outcome", "turnId": "m1", "reason": "completed", "resultKind": "text"}
    to = reader(SOURCE)
    seen = fed(to, outcome, START, message("m1", "user", text("go")), message("m2", "assistant", text("Ok")))
    assert [each.turn_end for each in newest(seen).values()] == [False, False]
    assert fed(to, outcome, outcome) == [
        entry("m2", Role.ASSISTANT, Origin.SYNTHETIC, "Ok", turn_end=True, revision=1)
    ]
    assert to.unknown == {}


def test_odd_lines_are_counted_and_a_numbered_version_is_the_files() -> None:
    to = reader(SOURCE)
    fed(to, {**START, "version": 2}, {"type": "novel"}, b"{", {"type": "message"})
    assert (to.version, to.unknown) == (None, {"novel": 1, "undecodable": 1, "message": 1})


def test_where_it_is_and_what_belongs() -> None:
    assert SOURCE.roots(Surroundings({}, "/home/dev", "linux")) == ("/home/dev/.factory/sessions",)
    assert SOURCE.belongs("-home-dev-shop/s1.jsonl")
    assert not SOURCE.belongs("-home-dev-shop/s1.settings.json")
    assert SOURCE.claims("/x/s1.jsonl", b'{"type":"session_start","id":"s1"}')
    assert SOURCE.claims("/x/s1.jsonl", b'{"type":"system","subtype":"init","sessionId":"s1"}')
    assert not SOURCE.claims("/x/s1.jsonl", b'{"type":"system","subtype":"init","session_id":"s1"}')
    assert not SOURCE.claims("/x/s1.jsonl", line({"type": "session"}))
    assert not SOURCE.claims("/x/s1.jsonl", b'{"type":"session_start","sessionId":"s1"}')


KEYS = [
    "type",
    "id",
    "role",
    "message",
    "content",
    "text",
    "name",
    "input",
    "tool_use_id",
    "value",
    "parameters",
]
WORDS = [
    "message",
    "user",
    "assistant",
    "tool_use",
    "tool_result",
    "tool_call",
    "completion",
    "error",
    "c1",
    "text",
]


@settings(max_examples=60)
@given(odd_records(KEYS, WORDS))
def test_no_record_raises_and_no_id_comes_twice_unrevised(records: list[bytes]) -> None:
    newest(settled(reader(SOURCE), START, *records, *records))
