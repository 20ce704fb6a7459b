from __future__ import annotations

import json

import pytest
from feeding import fed, line, memory_writes, newest, odd_records, prompts, reader, settled
from hypothesis import given, settings

from extractord.core.records import Origin, Role
from extractord.core.transcripts.continue_dev import SOURCE
from extractord.core.transcripts.source import Container, Surroundings

PATH = "/h/.continue/sessions/5d1c.json"
INIT = "Please analyze this repository and create a comprehensive AGENTS.md file, along with more."


def whole(*items: object, **more: object) -> dict[str, object]:
    place = {"sessionId": "s1", "title": "t", "workspaceDirectory": "/home/dev/shop"}
    return {**place, "history": list(items), **more}


def said(role: str, content: object, **more: object) -> dict[str, object]:
    return {"message": {"role": role, "content": content}, "contextItems": [], **more}


def called(status: str, output: object = (), name: str = "Write") -> dict[str, object]:
    arguments = json.dumps({"filepath": "../memory/a.md", "content": "x"})
    call = {"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}}
    message = {"role": "assistant", "content": "", "toolCalls": [call]}
    state = {"toolCallId": "c1", "toolCall": call, "status": status, "output": list(output)}  # type: ignore[call-overload]
    return {"message": message, "contextItems": [], "toolCallStates": [state]}


def test_a_session_has_prompts_calls_and_their_outcomes() -> None:
    document = whole(
        said("system", "You are"),
        said("user", "save it", editorState="save it"),
        called("done", [{"name": "Tool Result", "content": "Wrote it."}]),
        said("tool", "Wrote it.") | {"message": {"role": "tool", "content": "Wrote it.", "toolCallId": "c1"}},
        said("assistant", "Saved."),
        said("user", [{"type": "imageUrl", "imageUrl": {}}, {"type": "text", "text": "thanks"}]),
        said("novel", "x"),
    )
    to = reader(SOURCE, PATH)
    seen = fed(to, document)
    assert [(each.role, each.origin, each.text) for each in newest(seen).values()] == [
        (Role.USER, Origin.HUMAN, "save it"),
        (Role.ASSISTANT, Origin.SYNTHETIC, ""),
        (Role.TOOL, Origin.SYNTHETIC, "Wrote it."),
        (Role.ASSISTANT, Origin.SYNTHETIC, "Saved."),
        (Role.USER, Origin.HUMAN, "thanks"),
    ]
    assert {(each.session, each.cwd) for each in newest(seen).values()} == {("s1", "/home/dev/shop")}
    assert memory_writes(seen) == [("/home/dev/memory/a.md", True)]
    assert (to.session, to.unknown) == ("s1", {"message/novel": 1})
    assert fed(to, document) == []
    assert prompts(fed(to, whole(*document["history"], said("user", "more")))) == ["more"]  # type: ignore[misc]


@pytest.mark.parametrize(
    ("status", "ok"), [("done", True), ("errored", False), ("canceled", False), ("calling", None)]
)
@pytest.mark.parametrize(
    "name", ["Write", "create_new_file", "edit_existing_file", "single_find_and_replace"]
)
def test_a_write_is_done_where_its_call_is(status: str, ok: bool | None, name: str) -> None:
    assert memory_writes(fed(reader(SOURCE, PATH), whole(called(status, name=name)))) == [
        ("/home/dev/memory/a.md", ok)
    ]


def test_an_older_call_has_one_state_and_what_failed_says_so() -> None:
    item = called("done", [{"content": "Error: no such folder"}])
    item["toolCallState"] = item.pop("toolCallStates")[0]  # type: ignore[index]
    assert memory_writes(fed(reader(SOURCE, PATH), whole(item))) == [("/home/dev/memory/a.md", False)]


def test_what_was_typed_is_told_without_the_code_beside_it() -> None:
    words = [
        {"type": "mention", "attrs": {"label": "cart.py", "id": "file"}},
        {"type": "text", "text": " rounds wrongly"},
    ]
    code = {"type": "codeBlock", "attrs": {"item": {"content": "total = 1"}}}
    state = {"type": "doc", "content": [code, {"type": "paragraph", "content": words}]}
    item = said("user", "```py\ntotal = 1\n```\ncart.py rounds wrongly", editorState=state)
    assert prompts(fed(reader(SOURCE, PATH), whole(item))) == ["@cart.py rounds wrongly"]
    bare = said("user", "rounds wrongly", editorState={"type": "doc", "content": [code]})
    assert prompts(fed(reader(SOURCE, PATH), whole(bare))) == ["rounds wrongly"]


def test_what_it_asks_itself_is_no_persons_and_a_summary_is_recalled() -> None:
    summary = said("assistant", "They saved it.", conversationSummary="They saved it.")
    document = whole(said("user", INIT), summary, said("user", "continue"), said("user", "continue"))
    assert [(each.role, each.origin) for each in newest(fed(reader(SOURCE, PATH), document)).values()] == [
        (Role.CONTEXT, Origin.SYNTHETIC),
        (Role.CONTEXT, Origin.RECALLED),
        (Role.CONTEXT, Origin.SYNTHETIC),
        (Role.USER, Origin.HUMAN),
    ]
    later = said("user", "and more", conversationSummary="They asked.")
    assert prompts(fed(reader(SOURCE, PATH), whole(later))) == ["and more"]


def test_what_is_no_session_is_counted() -> None:
    to = reader(SOURCE, PATH)
    assert fed(to, {"sessionId": "s1"}, b"{") == []
    assert to.unknown == {"no history": 1, "undecodable": 1}


def test_where_it_is_and_what_belongs() -> None:
    assert SOURCE.roots(Surroundings({}, "/home/dev", "linux")) == ("/home/dev/.continue/sessions",)
    assert SOURCE.roots(Surroundings({"CONTINUE_GLOBAL_DIR": "/c"}, "/h", "linux")) == ("/c/sessions",)
    assert [SOURCE.belongs(path) for path in ("a.json", "sessions.json", "a/b.json")] == [True, False, False]
    assert SOURCE.container("a.json") is Container.DOCUMENT
    assert SOURCE.claims("/x/a.json", line(whole()))
    assert not SOURCE.claims("/x/a.json", line([{"sessionId": "s1", "workspaceDirectory": "/x"}]))


KEYS = [
    "history",
    "message",
    "role",
    "content",
    "toolCalls",
    "toolCallStates",
    "toolCallId",
    "status",
    "editorState",
    "conversationSummary",
    "type",
    "attrs",
]
WORDS = ["user", "assistant", "tool", "c1", "doc", "paragraph", "text", "done"]


@settings(max_examples=60)
@given(odd_records(KEYS, WORDS))
def test_no_record_raises_and_no_id_comes_twice_unrevised(records: list[bytes]) -> None:
    newest(settled(reader(SOURCE, PATH), *records, *records))
