"""Conventions up to 1.36: the same words in every form that they were ever written in."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest
from feeding import fed, line, memory_writes, newest, odd_records, prompts, reader, settled
from hypothesis import given, settings

from extractord.core.records import Entry, Role
from extractord.core.transcripts.otel_genai import SOURCE

AT = 1_796_040_000_000_000_000


def otlp(value: object) -> dict[str, object]:
    """A value as OTLP writes it."""
    match value:
        case str():
            return {"stringValue": value}
        case list():
            return {"arrayValue": {"values": [otlp(each) for each in value]}}
        case dict():
            return {"kvlistValue": {"values": attributes(value)}}
        case _:
            return {"intValue": str(value)}


def attributes(values: Mapping[str, object]) -> list[dict[str, object]]:
    return [{"key": key, "value": otlp(value)} for key, value in values.items()]


def span(values: Mapping[str, object], *events: tuple[str, Mapping[str, object]]) -> dict[str, object]:
    told = [
        {"name": name, "timeUnixNano": str(AT), "attributes": attributes(inner)} for name, inner in events
    ]
    known = attributes({"session.id": "s1", **values})
    one = {"traceId": "t", "spanId": "x", "startTimeUnixNano": str(AT), "endTimeUnixNano": str(AT)}
    scope = {"spans": [{**one, "attributes": known, "events": told}]}
    return {"resourceSpans": [{"resource": {}, "scopeSpans": [scope]}]}


def logs(of: str, *events: tuple[str, object]) -> list[dict[str, object]]:
    named = attributes({"session.id": "s1"})
    records = [
        {"timeUnixNano": str(AT), "spanId": of, "eventName": name, "attributes": named, "body": otlp(body)}
        for name, body in events
    ]
    return [{"resourceLogs": [{"scopeLogs": [{"logRecords": [each]}]}]} for each in records]


CALL = {
    "id": "c1",
    "type": "function",
    "function": {"name": "write_file", "arguments": '{"path": "/home/dev/memory/a.md"}'},
}
ASKED = {"content": "note it"}
CALLED = {"role": "assistant", "tool_calls": [CALL]}
GIVEN = {"id": "c1", "content": "Wrote it."}
DONE = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Done."}}
PROMPT = [
    {"role": "system", "content": "You are"},
    {"role": "user", "content": "note it"},
    CALLED,
    {"role": "tool", "tool_call_id": "c1", "content": "Wrote it."},
]
EVENTS: list[tuple[str, Mapping[str, object]]] = [
    ("gen_ai.system.message", {"content": "You are"}),
    ("gen_ai.user.message", ASKED),
    ("gen_ai.assistant.message", CALLED),
    ("gen_ai.tool.message", GIVEN),
    ("gen_ai.choice", DONE),
]
NUMBERED = {
    "gen_ai.prompt.0.role": "system",
    "gen_ai.prompt.0.content": "You are",
    "gen_ai.prompt.10.role": "tool",
    "gen_ai.prompt.10.content": "Wrote it.",
    "gen_ai.prompt.10.tool_call_id": "c1",
    "gen_ai.prompt.1.role": "user",
    "gen_ai.prompt.1.content": "note it",
    "gen_ai.prompt.2.role": "assistant",
    "gen_ai.prompt.2.tool_calls.0.id": "c1",
    "gen_ai.prompt.2.tool_calls.0.name": "write_file",
    "gen_ai.prompt.2.tool_calls.0.arguments": '{"path": "/home/dev/memory/a.md"}',
    "gen_ai.completion.0.role": "assistant",
    "gen_ai.completion.0.content": "Done.",
}
OPEN_INFERENCE = {
    key.replace("gen_ai.prompt", "llm.input_messages")
    .replace("gen_ai.completion", "llm.output_messages")
    .replace(".role", ".message.role")
    .replace("0.content", "0.message.content")
    .replace("1.content", "1.message.content")
    .replace(".tool_call_id", ".message.tool_call_id")
    .replace(".tool_calls.0.id", ".message.tool_calls.0.tool_call.id")
    .replace(".tool_calls.0.name", ".message.tool_calls.0.tool_call.function.name")
    .replace(".tool_calls.0.arguments", ".message.tool_calls.0.tool_call.function.arguments"): value
    for key, value in NUMBERED.items()
}
FORMS = {
    "log records": logs("x", *EVENTS),
    "log records with JSON": logs("x", *((name, json.dumps(body)) for name, body in EVENTS)),
    "events of a span": [span({}, *((name, dict(body)) for name, body in EVENTS))],
    "events with their content": [
        span({}, *((name, {"gen_ai.event.content": json.dumps(body)}) for name, body in EVENTS))
    ],
    "two events": [
        span(
            {},
            ("gen_ai.content.prompt", {"gen_ai.prompt": json.dumps(PROMPT)}),
            ("gen_ai.content.completion", {"gen_ai.completion": json.dumps([DONE["message"]])}),
        )
    ],
    "two attributes": [
        span({"gen_ai.prompt": json.dumps(PROMPT), "gen_ai.completion": json.dumps([DONE["message"]])})
    ],
    "numbered attributes": [span(NUMBERED)],
    "another's numbered attributes": [span(OPEN_INFERENCE)],
}


def entries(*records: object) -> list[Entry]:
    return [*newest(fed(reader(SOURCE, "/x/traces.jsonl"), *records)).values()]


@pytest.mark.parametrize("form", FORMS)
def test_every_form_says_the_same(form: str) -> None:
    seen = entries(*FORMS[form])
    assert prompts(seen) == ["note it"]
    assert [each.text for each in seen if each.role is Role.ASSISTANT] == ["", "Done."]
    assert [each.text for each in seen if each.role is Role.TOOL] == ["Wrote it."]
    assert memory_writes(seen) == [("/home/dev/memory/a.md", True)]
    assert {each.session for each in seen} == {"s1"}


@pytest.mark.parametrize("form", FORMS)
def test_a_history_that_comes_again_is_not_told_again(form: str) -> None:
    to = reader(SOURCE, "/x/traces.jsonl")
    assert prompts(fed(to, *FORMS[form])) == ["note it"]
    next_call = [line(each).replace(b'"spanId": "x"', b'"spanId": "y"') for each in FORMS[form]]
    assert fed(to, *next_call) == []


def test_the_same_words_twice_in_a_span_are_two_prompts() -> None:
    again = ("gen_ai.user.message", {"content": "go on"})
    assert prompts(entries(*logs("x", again, again), *logs("y", again, again))) == ["go on", "go on"]


def test_what_says_nothing_and_what_is_odd_is_nothing() -> None:
    assert entries(*logs("x", ("gen_ai.user.message", {}), ("gen_ai.choice", {"message": {}}))) == []
    assert entries(*logs("x", ("gen_ai.user.message", "just words"))) != []
    assert entries(span({"gen_ai.prompt": "plain words", "gen_ai.completion": "{torn"})) != []


def test_a_plain_dump_of_a_span_is_claimed_and_read() -> None:
    dumped = {"context": {"trace_id": "0xab"}, "end_time": "2026-11-30T12:00:00Z", "attributes": NUMBERED}
    assert SOURCE.claims("/x/a.jsonl", line(dumped))
    (asked, *_) = entries(dumped)
    assert (asked.session, asked.time is not None, asked.text) == ("0xab", True, "note it")
    assert SOURCE.claims("/x/a.jsonl", line({"event_name": "gen_ai.user.message", "body": "x"}))
    assert not SOURCE.claims("/x/a.jsonl", line({"name": "of gen_ai"}))


KEYS = ["attributes", "events", "name", "body", "eventName", "role", "content", "tool_calls", "spanId", "id"]
KEYS += [
    "gen_ai.prompt",
    "gen_ai.prompt.0.content",
    "gen_ai.prompt.0.tool_calls.0.name",
    "gen_ai.event.content",
]
WORDS = ["gen_ai.user.message", "gen_ai.choice", "user", "tool", '[{"role":"user"}]', '{"message":1}']


@settings(max_examples=150)
@given(odd_records(KEYS, WORDS))
def test_no_record_raises_and_no_id_comes_twice_unrevised(records: list[bytes]) -> None:
    newest(settled(reader(SOURCE, "/x/a.jsonl"), *records, *records))


def test_words_in_parts_and_an_event_that_is_no_message() -> None:
    parts = [{"type": "text", "text": "in parts"}, {"type": "image_url"}]
    record = span(
        {}, ("exception", {"message": "x"}), ("gen_ai.user.message", {"content": json.dumps(parts)})
    )
    assert prompts(entries(record)) == ["in parts"]


def test_a_message_in_pieces_is_read_whole() -> None:
    asked = "llm.input_messages.0.message."
    seen = fed(
        reader(SOURCE),
        span(
            {
                f"{asked}role": "user",
                f"{asked}contents.1.message_content.type": "text",
                f"{asked}contents.1.message_content.text": "in two pieces",
                f"{asked}contents.0.message_content.type": "text",
                f"{asked}contents.0.message_content.text": "note it",
                f"{asked}contents.2.message_content.type": "image",
            }
        ),
    )
    assert [words.split() for words in prompts(seen)] == [["note", "it", "in", "two", "pieces"]]


def test_a_span_of_the_ai_sdk_is_read() -> None:
    call = {"toolCallId": "c1", "toolName": "write_file", "input": {"path": "/home/dev/memory/a.md"}}
    asked = [
        {"role": "system", "content": "You are"},
        {"role": "user", "content": [{"type": "text", "text": "note it"}, {"type": "image"}]},
    ]
    first = span(
        {"ai.prompt.messages": json.dumps(asked), "ai.response.toolCalls": json.dumps([call])},
    )
    output = {"type": "text", "value": "Wrote it."}
    gave = [
        {"role": "assistant", "content": [{"type": "tool-call", **call}]},
        {"role": "tool", "content": [{"type": "tool-result", "toolCallId": "c1", "output": output}]},
    ]
    second = span({"ai.prompt.messages": json.dumps([*asked, *gave]), "ai.response.text": "Done."})
    seen = fed(reader(SOURCE), first, second)
    assert [(each.role, each.text) for each in newest(seen).values()] == [
        (Role.USER, "note it"),
        (Role.ASSISTANT, ""),
        (Role.TOOL, "Wrote it."),
        (Role.ASSISTANT, "Done."),
    ]
    assert memory_writes(seen) == [("/home/dev/memory/a.md", True)]
    refused = {"role": "tool", "content": [{"type": "tool-result", "toolCallId": "c1", "output": {}}]}
    refused["content"][0]["output"] = {"type": "error-text", "value": "no such folder"}  # type: ignore[index]
    last = span({"ai.prompt.messages": json.dumps([*asked, gave[0], refused])})
    assert memory_writes(fed(reader(SOURCE), first, last)) == [("/home/dev/memory/a.md", False)]
    assert fed(reader(SOURCE), span({"ai.response.text": "Done."})) == []
