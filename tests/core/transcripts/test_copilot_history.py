from __future__ import annotations

import pytest
from feeding import fed, line, memory_writes, newest, odd_records, prompts, reader, settled
from hypothesis import given, settings

from extractord.core.records import Role
from extractord.core.transcripts.copilot_cli import SOURCE
from extractord.core.transcripts.source import Container, Surroundings

PATH = "/h/.copilot/history-session-state/session_0b2a_1760187292206.json"
AT = "2026-11-30T12:00:00.000Z"


def document(*timeline: object) -> dict[str, object]:
    return {"sessionId": "s1", "startTime": AT, "chatMessages": [], "timeline": list(timeline)}


def moment(kind: str, ident: str, words: str) -> dict[str, object]:
    return {"id": ident, "timestamp": AT, "type": kind, "text": words}


def called(name: str, given: object, result: object = None, ident: str = "c1") -> dict[str, object]:
    kind = "tool_call_requested" if result is None else "tool_call_completed"
    made = {"type": kind, "id": f"of {ident}", "timestamp": AT, "callId": ident, "name": name}
    return {**made, "arguments": given, **({"result": result} if result is not None else {})}


MADE = {"command": "create", "path": "/home/dev/memory/a.md", "file_text": "x"}


def test_a_timeline_is_read_in_order_and_says_again_only_what_is_new() -> None:
    to = reader(SOURCE, PATH)
    asked, said = moment("user", "m1", "note it"), moment("copilot", "m2", "I do.")
    first = fed(to, document(moment("info", "m0", "Logged in as user: x"), asked, said))
    assert prompts(first) == ["note it"]
    pending = fed(to, document(asked, said, called("str_replace_editor", MADE)))
    assert memory_writes(pending) == [("/home/dev/memory/a.md", None)]
    done = fed(
        to, document(asked, said, called("str_replace_editor", MADE, {"type": "success", "log": "ok"}))
    )
    assert memory_writes(done) == [("/home/dev/memory/a.md", True)]
    assert [each.text for each in newest(done).values() if each.role is Role.TOOL] == ["ok"]
    assert to.session == "s1"
    assert to.unknown == {}


@pytest.mark.parametrize(
    ("name", "given_", "result", "ok"),
    [
        ("bash", {"command": "echo x > /home/dev/memory/a.md"}, {"type": "success", "log": "x"}, True),
        (
            "bash",
            {"command": "echo x > /home/dev/memory/a.md"},
            {"type": "success", "log": "<exited with exit code 1>"},
            False,
        ),
        ("str_replace_editor", MADE, {"type": "denied", "log": ""}, False),
        ("str_replace_editor", MADE, {"type": "failure", "log": "no"}, False),
    ],
)
def test_a_write_is_done_where_it_succeeded(name: str, given_: object, result: object, ok: bool) -> None:
    seen = fed(reader(SOURCE, PATH), document(called(name, given_, result)))
    assert memory_writes(seen) == [("/home/dev/memory/a.md", ok)]


def test_to_view_is_no_write() -> None:
    viewed = called(
        "str_replace_editor", {"command": "view", "path": "/w/a"}, {"type": "success", "log": "user: x"}
    )
    seen = newest(fed(reader(SOURCE, PATH), document(viewed))).values()
    assert [(call.paths, call.writes) for each in seen for call in each.calls] == [(("/w/a",), False)]
    assert prompts(seen) == []


def test_where_it_is_and_how_it_is_known() -> None:
    around = Surroundings({"COPILOT_HOME": "/c"}, "/h", "linux")
    assert SOURCE.roots(around) == ("/c/session-state", "/c/history-session-state")
    assert SOURCE.belongs("session_0b2a_1.json")
    assert not SOURCE.belongs("command-history-state.json")
    assert SOURCE.container(PATH) is Container.DOCUMENT
    assert SOURCE.claims(PATH, line(document()))
    assert not SOURCE.claims(PATH, b'{"sessionId": "s1", "messages": []}')


def test_odd_documents_are_counted() -> None:
    to = reader(SOURCE, PATH)
    assert (
        fed(to, {"sessionId": "s1"}, b"{", document(moment("novel", "m1", "x"), moment("user", "m2", " ")))
        == []
    )
    assert to.unknown == {"no timeline": 1, "undecodable": 1, "novel": 1}


KEYS = ["timeline", "type", "id", "callId", "name", "arguments", "result", "log", "text", "timestamp"]
WORDS = ["user", "copilot", "tool_call_completed", "tool_call_requested", "bash", "success", "m1"]


@settings(max_examples=80)
@given(odd_records(KEYS, WORDS))
def test_no_document_raises_and_no_id_comes_twice_unrevised(records: list[bytes]) -> None:
    joined = b'{"timeline":[' + b",".join(records) + b"]}"
    newest(settled(reader(SOURCE, PATH), *records, joined, *records))
