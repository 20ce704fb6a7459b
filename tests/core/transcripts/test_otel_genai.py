from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from feeding import fed, line, memory_writes, newest, odd_records, prompts, reader, settled
from hypothesis import given, settings

from extractord.core.records import Origin, Role
from extractord.core.transcripts.otel_genai import SOURCE
from extractord.core.transcripts.source import Container, Surroundings

AT = 1_796_040_000


def attributes(**values: object) -> list[dict[str, object]]:
    named = {key.replace("__", "."): value for key, value in values.items()}
    return [{"key": key, "value": {"stringValue": value}} for key, value in named.items()]


def exported(at: int = AT, **values: object) -> dict[str, object]:
    known = attributes(gen_ai__conversation__id="s1", **values)
    span = {"traceId": "t", "spanId": "x", "endTimeUnixNano": f"{at}000000000", "attributes": known}
    resource = {"attributes": attributes(service__version="18.6")}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": {}, "spans": [span]}]}]}


def said(role: str, *parts: object) -> dict[str, object]:
    return {
        "role": role,
        "parts": [{"type": "text", "content": each} if isinstance(each, str) else each for each in parts],
    }


def chat(at: int, before: list[object], after: list[object]) -> dict[str, object]:
    return exported(
        at,
        gen_ai__operation__name="chat",
        gen_ai__input__messages=json.dumps(before),
        gen_ai__output__messages=json.dumps(after),
    )


CALL = {
    "type": "tool_call",
    "id": "c1",
    "name": "create_file",
    "arguments": {"path": "/home/dev/memory/a.md"},
}
GIVEN = {"type": "tool_call_response", "id": "c1", "response": "Created."}


def test_a_history_that_each_call_repeats_is_told_once_with_its_first_time() -> None:
    to = reader(SOURCE, "/x/traces.jsonl")
    first, asks = said("user", "save it"), said("assistant", CALL)
    gives, last = said("tool", GIVEN), said("assistant", "Saved.")
    seen = fed(
        to, chat(AT, [said("system", "You are"), first], [asks]), chat(AT + 9, [first, asks, gives], [last])
    )
    entries = list(newest(seen).values())
    assert [(each.role, each.origin, each.text) for each in entries] == [
        (Role.USER, Origin.HUMAN, "save it"),
        (Role.ASSISTANT, Origin.SYNTHETIC, ""),
        (Role.TOOL, Origin.SYNTHETIC, "Created."),
        (Role.ASSISTANT, Origin.SYNTHETIC, "Saved."),
    ]
    assert memory_writes(seen) == [("/home/dev/memory/a.md", True)]
    assert entries[0].time == datetime.fromtimestamp(AT, tz=UTC)
    assert (to.session, to.version) == ("s1", "18.6")
    again = fed(to, chat(AT + 20, [first, asks, gives, last, first], []))
    assert (prompts(again), len(newest(again))) == (["save it"], 1)


def unnamed(trace: str, at: int, before: list[object], after: list[object]) -> dict[str, object]:
    """A call of which no attribute names the conversation, in a trace of its own."""
    known = attributes(gen_ai__input__messages=json.dumps(before), gen_ai__output__messages=json.dumps(after))
    span = {"traceId": trace, "spanId": trace, "endTimeUnixNano": f"{at}000000000", "attributes": known}
    return {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {}, "spans": [span]}]}]}


def test_a_trace_that_repeats_all_that_was_said_in_another_goes_on_with_it() -> None:
    hello, hi, more = said("user", "hello"), said("assistant", "hi"), said("user", "and more")
    to = reader(SOURCE, "/x/traces.jsonl")
    first = fed(to, unnamed("t1", AT, [said("system", "You are"), hello], [hi]))
    seen = newest(
        first
        + fed(
            to,
            unnamed("t2", AT + 9, [said("system", "It is noon"), hello, hi, more], [said("assistant", "ok")]),
        )
    ).values()
    assert {each.session for each in seen} == {"t1"}
    assert [each.text for each in seen] == ["hello", "hi", "and more", "ok"]
    third = fed(to, unnamed("t3", AT + 20, [hello], [said("assistant", "good day")]))
    fourth = fed(to, unnamed("t4", AT + 30, [hello, said("assistant", "good day"), more], []))
    assert {each.session for each in newest(third + fourth).values()} == {"t3"}


@pytest.mark.parametrize(
    "name",
    ["gen_ai__conversation__id", "session__id", "traceloop__association__properties__session_id"],
)
def test_a_conversation_that_an_exporter_names_is_the_session(name: str) -> None:
    messages = json.dumps([said("user", "hello")])
    span = {"traceId": "t1", "attributes": attributes(gen_ai__input__messages=messages, **{name: "named"})}
    assert [each.session for each in newest(fed(reader(SOURCE), span)).values()] == ["named"]


def test_a_tools_span_does_not_repeat_the_call_that_its_answer_told() -> None:
    tool = exported(
        gen_ai__operation__name="execute_tool",
        gen_ai__tool__name="create_file",
        gen_ai__tool__call__id="c1",
        gen_ai__tool__call__result="Created.",
    )
    seen = fed(reader(SOURCE), chat(AT, [said("user", "save it")], [said("assistant", CALL)]), tool)
    assert [each.role for each in newest(seen).values()] == [Role.USER, Role.ASSISTANT, Role.TOOL]
    assert memory_writes(seen) == [("/home/dev/memory/a.md", True)]


@pytest.mark.parametrize(("more", "ok"), [({}, True), ({"error__type": "timeout"}, False)])
def test_a_tools_span_has_its_call_and_outcome(more: dict[str, Any], ok: bool) -> None:
    span = exported(
        gen_ai__operation__name="execute_tool",
        gen_ai__tool__name="create_file",
        gen_ai__tool__call__id="c1",
        gen_ai__tool__call__arguments='{"path":"/home/dev/memory/a.md"}',
        gen_ai__tool__call__result="Created.",
        **more,
    )
    to = reader(SOURCE)
    seen = fed(to, span)
    assert memory_writes(seen) == [("/home/dev/memory/a.md", ok)]
    assert prompts(seen) == []
    assert fed(to, span, exported(gen_ai__operation__name="invoke_agent")) == []


def test_plain_spans_events_and_structured_values_are_read() -> None:
    plain = {"traceId": "t1", "attributes": {"gen_ai.input.messages": [said("user", "plain")]}}
    parts = {
        "arrayValue": {"values": [{"kvlistValue": {"values": attributes(type="text", content="event")}}]}
    }
    message = {"kvlistValue": {"values": [*attributes(role="user"), {"key": "parts", "value": parts}]}}
    known = [{"key": "gen_ai.input.messages", "value": {"arrayValue": {"values": [message]}}}]
    record = {"timeUnixNano": f"{AT}000000000", "attributes": known}
    event = {"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]}
    to = reader(SOURCE, "/x/traces.jsonl")
    seen = newest(fed(to, plain, event)).values()
    assert [(each.text, each.session) for each in seen] == [("plain", "t1"), ("event", "traces")]


def test_odd_lines_are_counted() -> None:
    to = reader(SOURCE)
    assert (
        fed(
            to, b"{", {}, chat(AT, [said("novel", "x")], []), exported(gen_ai__operation__name="execute_tool")
        )
        == []
    )
    assert to.unknown == {"undecodable": 1, "no span": 1, "message/novel": 1}


def test_it_is_read_only_where_a_person_says() -> None:
    assert SOURCE.roots(Surroundings({}, "/home/dev", "linux")) == ()
    assert SOURCE.belongs("a/traces.jsonl")
    assert SOURCE.container("a.jsonl") is Container.LINES
    assert SOURCE.claims("/x/a.jsonl", line(exported()))
    assert SOURCE.claims(
        "/x/a.jsonl", line({"traceId": "t", "attributes": {"gen_ai.operation.name": "chat"}})
    )
    assert not SOURCE.claims("/x/a.jsonl", line({"text": '"gen_ai.operation.name": "chat"'}))


KEYS = [
    "resourceSpans",
    "scopeSpans",
    "spans",
    "attributes",
    "gen_ai.input.messages",
    "gen_ai.tool.call.id",
    "role",
    "parts",
    "type",
    "content",
    "key",
    "value",
    "stringValue",
    "gen_ai.operation.name",
    "traceId",
]
WORDS = ["user", "assistant", "text", "tool_call", "execute_tool", "c1", "t1", '[{"role":"user"}]']


@settings(max_examples=80)
@given(odd_records(KEYS, WORDS))
def test_no_record_raises_and_no_id_comes_twice_unrevised(records: list[bytes]) -> None:
    newest(settled(reader(SOURCE), *records, *records))
