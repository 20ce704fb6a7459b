from __future__ import annotations

from datetime import UTC, datetime

import pytest
from feeding import fed, line, memory_writes, newest, odd_records, reader, settled
from hypothesis import given, settings

from extractord.core.exchanges import Session
from extractord.core.records import Entry, Origin, Role, ToolCall
from extractord.core.transcripts.amp import SOURCE
from extractord.core.transcripts.source import Container, Surroundings

AT = 1_796_040_000_000
PATH = "/h/amp/threads/T-1.json"


def thread(*messages: object) -> dict[str, object]:
    trees = [{"displayName": "shop", "uri": "file:///home/dev/shop"}]
    return {"id": "T-1", "created": AT, "env": {"initial": {"trees": trees}}, "messages": list(messages)}


def said(ident: int, role: str, *blocks: object) -> dict[str, object]:
    return {"role": role, "messageId": ident, "content": list(blocks), "meta": {"sentAt": AT}}


def entry(ident: str, role: Role, origin: Origin, words: str, **more: object) -> Entry:
    return Entry(
        id=f"T-1/{ident}",
        agent="amp",
        session="T-1",
        role=role,
        origin=origin,
        text=words,
        time=datetime.fromtimestamp(AT / 1000, tz=UTC),
        cwd="/home/dev/shop",
        **more,  # type: ignore[arg-type]
    )


def test_what_another_thread_or_a_tool_asks_is_no_persons_and_a_summary_is_recalled() -> None:
    asks = {"type": "text", "text": "count"}
    summary = {"type": "summary", "summary": {"type": "message", "summary": "they counted"}}
    inner = {**said(1, "user", asks), "parentToolUseId": "c1"}
    seen = newest(fed(reader(SOURCE, PATH), thread(said(0, "user", asks), inner, said(2, "info", summary))))
    assert [(each.role, each.origin, each.text) for each in seen.values()] == [
        (Role.USER, Origin.HUMAN, "count"),
        (Role.USER, Origin.SUBAGENT, "count"),
        (Role.CONTEXT, Origin.RECALLED, "they counted"),
    ]
    whole = thread(said(0, "user", asks)) | {"mainThreadID": "T-0"}
    assert [each.origin for each in newest(fed(reader(SOURCE, PATH), whole)).values()] == [Origin.SUBAGENT]


@pytest.mark.parametrize("sent", [{"fromAggman": True}, {"aggman": True}, {"fromExecutorThreadID": "T-2"}])
def test_what_another_agent_sent_is_no_persons(sent: dict[str, object]) -> None:
    message = {**said(0, "user", {"type": "text", "text": "count"}), "meta": {"sentAt": AT, **sent}}
    seen = fed(reader(SOURCE, PATH), thread(message))
    assert seen == [entry("0", Role.CONTEXT, Origin.SYNTHETIC, "count")]


def test_what_a_person_was_not_shown_of_their_message_is_not_theirs() -> None:
    shown = {"type": "text", "text": "count"}
    hidden = {"type": "text", "text": "Use the skill.", "hidden": True}
    assert fed(reader(SOURCE, PATH), thread(said(0, "user", shown, hidden))) == [
        entry("0", Role.USER, Origin.HUMAN, "count"),
        entry("0#0", Role.CONTEXT, Origin.SYNTHETIC, "Use the skill."),
    ]


@pytest.mark.parametrize(("status", "ok"), [("done", True), ("error", False), ("cancelled", False)])
def test_a_thread_has_prompts_calls_and_their_outcomes(status: str, ok: bool) -> None:
    to = reader(SOURCE, PATH)
    asks = {"type": "tool_use", "id": "c1", "name": "create_file", "input": {"path": "/home/dev/memory/a.md"}}
    result = {"type": "tool_result", "toolUseID": "c1", "run": {"status": status, "result": "wrote"}}
    whole = thread(
        said(0, "user", {"type": "text", "text": "save it"}),
        said(1, "assistant", {"type": "thinking"}, asks),
        said(2, "user", result),
        {"role": "novel"},
    )
    call = ToolCall(id="c1", name="create_file", paths=("/home/dev/memory/a.md",), writes=True)
    done = ToolCall(id="c1", name="create_file", paths=("/home/dev/memory/a.md",), writes=True, ok=ok)
    assert fed(to, whole) == [
        entry("0", Role.USER, Origin.HUMAN, "save it"),
        entry("1", Role.ASSISTANT, Origin.SYNTHETIC, "", calls=(call,)),
        entry("1", Role.ASSISTANT, Origin.SYNTHETIC, "", calls=(done,), revision=1),
        entry("c1/result", Role.TOOL, Origin.SYNTHETIC, "wrote"),
    ]
    assert (to.session, to.unknown) == ("T-1", {"message/novel": 1})
    assert fed(to, whole) == []


def run(status: str, result: object = None) -> dict[str, object]:
    ran = {"status": status, **({"result": result} if result is not None else {})}
    return {"type": "tool_result", "toolUseID": "c1", "run": ran}


@pytest.mark.parametrize(
    ("result", "ok"),
    [
        (run("done", {"output": "x", "exitCode": 0}), True),
        (run("done", {"output": "x", "exitCode": 1}), False),
        (run("done", {"success": False}), False),
        (run("rejected-by-user"), False),
        (run("in-progress", "x"), None),
        (run("blocked-on-user"), None),
    ],
)
def test_a_call_is_done_when_its_run_says_so(result: dict[str, object], ok: bool | None) -> None:
    asks = {
        "type": "tool_use",
        "id": "c1",
        "name": "Bash",
        "input": {"cmd": "echo x > /home/dev/memory/a.md"},
    }
    to = reader(SOURCE, PATH)
    seen = fed(to, thread(said(0, "assistant", asks), said(1, "user", result)))
    assert memory_writes(seen) == [("/home/dev/memory/a.md", ok)]
    if ok is None:
        done = fed(to, thread(said(0, "assistant", asks), said(1, "user", run("done", "x"))))
        assert memory_writes(done) == [("/home/dev/memory/a.md", True)]


def test_an_edit_takes_back_what_came_after_and_a_message_of_its_number_is_new() -> None:
    to, folded = reader(SOURCE, PATH), Session("amp", "T-1")
    one, two, three = (said(nth, "user", {"type": "text", "text": f"prompt {nth}"}) for nth in range(3))
    instead = said(1, "user", {"type": "text", "text": "instead"})
    for messages, texts in (
        ([one, two, three], ["prompt 0", "prompt 1", "prompt 2"]),
        ([one], ["prompt 0"]),
        ([one, instead], ["prompt 0", "instead"]),
        ([instead], ["prompt 0", "instead"]),
    ):
        for each in fed(to, thread(*messages)):
            folded.apply(each)
        assert [each.entries[0].text for each in folded.exchanges()] == texts


def test_what_is_no_thread_is_counted() -> None:
    to = reader(SOURCE, PATH)
    assert fed(to, {"id": "T-1"}, b"[") == []
    assert to.unknown == {"no messages": 1, "undecodable": 1}


def test_where_it_is_and_what_belongs() -> None:
    home = {"home": "/home/dev", "platform": "linux"}
    first, *editors = SOURCE.roots(Surroundings(env={}, **home))
    assert first == "/home/dev/.local/share/amp/threads"
    assert all(each.endswith("/User/globalStorage/sourcegraph.amp/threads3") for each in editors)
    assert SOURCE.roots(Surroundings(env={"XDG_DATA_HOME": "/d"}, **home))[0] == "/d/amp/threads"
    assert SOURCE.belongs("T-1.json")
    assert not SOURCE.belongs("index.json")
    assert SOURCE.container(PATH) is Container.DOCUMENT
    assert SOURCE.claims(PATH, line(thread()))
    assert not SOURCE.claims("/h/a.json", line(thread()))


KEYS = ["id", "messages", "role", "messageId", "content", "type", "text", "name", "input", "run", "toolUseID"]
WORDS = ["T-1", "user", "assistant", "text", "tool_use", "tool_result", "c1", "done"]


@settings(max_examples=60)
@given(odd_records(KEYS, WORDS))
def test_no_record_raises_and_no_id_comes_twice_unrevised(records: list[bytes]) -> None:
    newest(settled(reader(SOURCE, PATH), *records, *records))
