from __future__ import annotations

import pytest
from feeding import fed, line, memory_writes, newest, odd_records, prompts, reader, settled
from hypothesis import given, settings

from extractord.core.records import Origin, Role
from extractord.core.transcripts.openai_chat import SOURCE
from extractord.core.transcripts.source import Container, Surroundings

CALL = {
    "id": "c1",
    "type": "function",
    "function": {"name": "write_file", "arguments": '{"path":"/home/dev/memory/a.md"}'},
}


def said(role: str, content: object, **more: object) -> dict[str, object]:
    return {"role": role, "content": content, **more}


def test_a_message_a_line() -> None:
    to = reader(SOURCE, "/x/chat.jsonl")
    image = {"type": "image_url", "image_url": {"url": "https://x"}}
    seen = fed(
        to,
        said("system", "You are"),
        said("user", [{"type": "text", "text": "save it"}, image]),
        said("assistant", None, tool_calls=[CALL]),
        said("tool", "ok", tool_call_id="c1"),
        said("assistant", "Saved."),
    )
    assert [(each.role, each.origin, each.text, each.turn_end) for each in newest(seen).values()] == [
        (Role.CONTEXT, Origin.SYNTHETIC, "You are", False),
        (Role.USER, Origin.HUMAN, "save it", False),
        (Role.ASSISTANT, Origin.SYNTHETIC, "", False),
        (Role.TOOL, Origin.SYNTHETIC, "ok", False),
        (Role.ASSISTANT, Origin.SYNTHETIC, "Saved.", True),
    ]
    assert memory_writes(seen) == [("/home/dev/memory/a.md", True)]
    assert {each.session for each in newest(seen).values()} == {to.session}


def test_a_conversation_a_line_is_a_session_each() -> None:
    to = reader(SOURCE, "/x/chat.jsonl")
    seen = fed(
        to,
        {"messages": [said("user", "q"), said("assistant", "a")]},
        {"messages": [said("user", "q")], "metadata": {"session_id": "s2", "cwd": "/w"}},
        {"messages": [said("user", "q")]},
    )
    sessions = [each.session for each in newest(seen).values() if each.role is Role.USER]
    assert (prompts(seen), len(set(sessions)), sessions[1]) == (["q", "q", "q"], 3, "s2")


def test_a_line_that_repeats_another_goes_on_with_it() -> None:
    to = reader(SOURCE, "/x/chat.jsonl")
    first = [said("system", "You are"), said("user", "q")]
    more = [*first, said("assistant", "a"), said("user", "and more")]
    other = [said("user", "q"), said("assistant", "another")]
    seen = newest(fed(to, {"messages": first}, {"messages": more}, {"messages": other})).values()
    assert [(each.text, each.session[-2:]) for each in seen if each.origin is Origin.HUMAN] == [
        ("q", "/1"),
        ("and more", "/1"),
    ]
    apart = newest(fed(reader(SOURCE, "/x/chat.jsonl"), {"messages": more[1:]}, {"messages": other})).values()
    assert [each.session[-2:] for each in apart if each.origin is Origin.HUMAN] == ["/1", "/1", "/2"]
    named = fed(to, {"messages": first, "conversation_id": "c"}, {"messages": more, "thread_id": "t"})
    assert {each.session for each in newest(named).values()} == {"c", "t"}


def test_the_oldest_form_of_a_call_and_a_time_by_another_name_are_read() -> None:
    seen = fed(
        reader(SOURCE, "/x/chat.jsonl"),
        said("user", "save it", created_at="2026-11-30T12:00:00Z"),
        said("assistant", None, function_call=CALL["function"]),
        said("function", "Error: no such folder", name="write_file"),
        said("assistant", None, function_call=CALL["function"]),
        said("function", "ok", name="write_file"),
    )
    assert newest(seen)[next(iter(newest(seen)))].time is not None
    assert memory_writes(seen) == [("/home/dev/memory/a.md", False), ("/home/dev/memory/a.md", True)]


def test_two_files_of_one_name_are_two_sessions_and_one_file_always_the_same() -> None:
    first, again, other = (
        reader(SOURCE, path) for path in ("/a/chat.jsonl", "/a/chat.jsonl", "/b/chat.jsonl")
    )
    for each in (first, again, other):
        fed(each, said("user", "q"))
    assert first.session == again.session != other.session


def test_odd_lines_are_counted() -> None:
    to = reader(SOURCE)
    assert fed(to, b"{", {}, said("novel", "x"), said("user", "  ")) == []
    assert to.unknown == {"undecodable": 1, "no role": 1, "novel": 1}


@pytest.mark.parametrize(
    ("head", "claimed"),
    [
        (line(said("user", "x")) + b"\n{", True),
        (line({"messages": [said("user", "x")], "id": 1}), True),
        (line(said("system", "x" * 99))[:50], True),
        (line(said("user", "x", timestamp="2026-11-30")), False),
        (line({"role": "user", "message": {"content": []}}), False),
        (line({"type": "user"}), False),
    ],
)
def test_only_the_bare_form_is_claimed(head: bytes, claimed: bool) -> None:
    assert SOURCE.claims("/x/a.jsonl", head) is claimed
    assert not SOURCE.claims("/x/a.json", head)


def test_it_is_read_only_where_a_person_says() -> None:
    assert SOURCE.roots(Surroundings({}, "/home/dev", "linux")) == ()
    assert SOURCE.belongs("a/b.jsonl")
    assert not SOURCE.belongs("a/b.json")
    assert SOURCE.container("a.jsonl") is Container.LINES


KEYS = [
    "role",
    "content",
    "messages",
    "tool_calls",
    "tool_call_id",
    "id",
    "function",
    "name",
    "arguments",
    "type",
    "text",
]
WORDS = ["user", "assistant", "tool", "system", "c1", "text", "write_file", "{}"]


@settings(max_examples=60)
@given(odd_records(KEYS, WORDS))
def test_no_record_raises_and_no_id_comes_twice_unrevised(records: list[bytes]) -> None:
    newest(settled(reader(SOURCE), *records, *records))
