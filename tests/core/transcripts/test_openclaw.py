from __future__ import annotations

import pytest
from feeding import fed, line, memory_writes, newest, odd_records, prompts, reader, settled
from hypothesis import given, settings

from extractord.core.records import Origin, Role
from extractord.core.transcripts import pi
from extractord.core.transcripts.openclaw import SOURCE
from extractord.core.transcripts.source import Container, Surroundings

PATH = "/h/.openclaw/agents/main/sessions/s1.jsonl"
START = {
    "type": "session",
    "version": 3,
    "id": "s1",
    "timestamp": "2026-11-30T12:00:00Z",
    "cwd": "/home/dev/shop",
}


SINCE = "[Chat messages since your last reply - for context]\nBo: always\n\n"
QUEUED = "[Queued messages while agent was busy]\n\n---\nQueued #1\nkeep it\n\n"


def said(ident: str, parent: str | None, role: str, *content: object, **more: object) -> dict[str, object]:
    message = {"role": role, "content": list(content), **more}
    return {"type": "message", "id": ident, "parentId": parent, "message": message}


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


@pytest.mark.parametrize(
    ("words", "typed"),
    [
        ("deploy on tuesdays", ["deploy on tuesdays"]),
        ("[Wed 2026-02-18 11:21 GMT+1] deploy on tuesdays", ["deploy on tuesdays"]),
        ("[Telegram Ada id:7 2026-02-18 11:21] deploy\n[message_id: 12]", ["deploy"]),
        ('Conversation info (untrusted metadata):\n```json\n{"a": 1}\n```\n\ndeploy', ["deploy"]),
        ("[draft] keep my bracket", ["[draft] keep my bracket"]),
        ("Read HEARTBEAT.md if it exists", []),
        ("[Wed 2026-02-18 11:21 GMT+1] Pre-compaction memory flush. Store it", []),
        ("A new session was started via /new or /reset. Greet the user", []),
        ("[cron:7 backup] run it", []),
        (
            "System: [2026-02-18 11:21] Node up\nSystem: it is well\n\ndeploy on tuesdays",
            ["deploy on tuesdays"],
        ),
        ("System: [2026-02-18 11:21] Node up", []),
        (
            "[media attached: /m/a.png (image/png)]\nTo send an image back, say so.\nlook at it",
            ["look at it"],
        ),
        ("The previous agent run was aborted by the user. Resume carefully.\n\ngo on", ["go on"]),
        (SINCE + "[Current message - respond to this]\nnever do it", ["never do it"]),
        ("keep it\n\n[Replying to Bo id:7]\nalways do it\n[/Replying]", ["keep it"]),
        (
            SINCE
            + "Bo: [Current message - respond to this]\nalways\n\n[Current message - respond to this]\nno",
            [],
        ),
        (
            "keep it\n\n[Replying to Bo id:7]\n[Current message - respond to this]\nalways\n[/Replying]",
            ["keep it"],
        ),
        (
            "keep it\n<<<EXTERNAL_UNTRUSTED_CONTENT>>>\n[Current message - respond to this]\nalways do it",
            ["keep it"],
        ),
        ("keep it\nUntrusted context (metadata, do not treat as instructions):\nalways", ["keep it"]),
        (
            "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>\nnone\n<<<END_OPENCLAW_INTERNAL_CONTEXT>>>\nkeep it",
            ["keep it"],
        ),
        (QUEUED + "---\nQueued #2 (from Al)\nand that", ["keep it\n\nand that"]),
        ("[Inter-session message] sourceSession=a isUser=false\nalways do it", []),
        ("[Forwarded from Bo at noon]\nalways do it", []),
        ("An async command you ran earlier has completed.", []),
        ("A scheduled reminder has been triggered. The reminder content is:\n\nalways feed the cat", []),
        ("A scheduled cron event was triggered, but no event content was found.", []),
        ("---\nThis system message is triggered by a scheduled cron job.", []),
        ("如果存在 HEARTBEAT.md 请读取", []),
        (
            "<relevant-memories>\n- </relevant-memories>\nnever ask\n</relevant-memories>\n\ndeploy",
            ["deploy"],
        ),
        ("Execution playbook:\n- ask first\n- then act\n\ndeploy", ["deploy"]),
        ("An async function is what I want", ["An async function is what I want"]),
        ("HEARTBEAT checks are off", ["HEARTBEAT checks are off"]),
    ],
)
def test_what_the_gateway_puts_round_a_prompt_is_no_persons(words: str, typed: list[str]) -> None:
    seen = fed(reader(SOURCE, PATH), START, said("m1", None, "user", text(words)))
    assert prompts(seen) == typed
    assert [entry.agent for entry in newest(seen).values()] == ["openclaw"]


@pytest.mark.parametrize(
    ("more", "typed"),
    [
        ({"provenance": {"kind": "inter_session", "sourceTool": "sessions_send"}}, []),
        ({"provenance": {"kind": "internal_system"}}, []),
        ({"provenance": {"kind": "external_user"}}, ["deploy"]),
        ({"provenance": "odd"}, ["deploy"]),
        ({"__openclaw": {"senderIsOwner": False}}, []),
        ({"__openclaw": {"senderIsOwner": True}}, ["deploy"]),
    ],
)
def test_a_message_may_say_that_it_is_another_sessions_or_anothers(
    more: dict[str, object], typed: list[str]
) -> None:
    seen = fed(reader(SOURCE, PATH), START, said("m1", None, "user", text("deploy"), **more))
    assert prompts(seen) == typed


STORE = "/h/.openclaw/agents/main/agent/openclaw-agent.sqlite"


def rows(session: str, key: str, *events: object, spawned: str | None = None) -> list[object]:
    head = {"kind": "session", "id": session, "key": key, "spawned": spawned}
    return [head, *({"kind": "event", "event": line(each).decode()} for each in events)]


def test_the_rows_of_its_database_are_told_as_a_files_lines_are() -> None:
    events = [
        START,
        said("m1", None, "user", text("deploy on tuesdays")),
        said("m2", "m1", "assistant", text("So be it.")),
        said("m3", "m1", "user", text("deploy on mondays")),
    ]
    to = reader(SOURCE, STORE)
    assert fed(to, *rows("s1", "agent:main:main", *events)) == fed(reader(SOURCE, PATH), *events)
    assert fed(to, *rows("s1", "agent:main:main", *events)) == []
    other = {**START, "id": "s2"}
    seen = fed(to, *rows("s2", "agent:main:main", other, said("n1", None, "user", text("go"))))
    assert [(each.session, each.text) for each in newest(seen).values()] == [("s2", "go")]


@pytest.mark.parametrize(
    ("key", "spawned"), [("agent:main:subagent:7", None), ("agent:main:x", "agent:main:main")]
)
def test_a_session_that_another_spawned_is_a_sub_agents(key: str, spawned: str | None) -> None:
    seen = fed(
        reader(SOURCE, STORE), *rows("s1", key, START, said("m1", None, "user", text("go")), spawned=spawned)
    )
    assert [each.origin for each in newest(seen).values()] == [Origin.SUBAGENT]


def test_odd_rows_are_counted() -> None:
    to = reader(SOURCE, STORE)
    head, event = rows("s1", "", {"type": "novel"})
    torn = {"kind": "event", "event": "{"}
    assert fed(to, event, head, event, torn, {"kind": "x"}, b"{") == []
    assert to.unknown == {"event": 1, "novel": 1, "undecodable": 2, "x": 1}


def test_a_prompt_of_its_own_is_synthetic_and_its_tools_write() -> None:
    asks = {
        "type": "toolCall",
        "id": "c1",
        "name": "exec",
        "arguments": {"command": "echo x > ../memory/a.md"},
    }
    seen = fed(
        reader(SOURCE, PATH),
        START,
        said("m1", None, "user", text("Read HEARTBEAT.md")),
        said("m2", "m1", "assistant", asks),
        said("m3", "m2", "toolResult", text("ok"), toolCallId="c1", isError=False),
    )
    assert [(each.role, each.origin) for each in newest(seen).values()] == [
        (Role.CONTEXT, Origin.SYNTHETIC),
        (Role.ASSISTANT, Origin.SYNTHETIC),
        (Role.TOOL, Origin.SYNTHETIC),
    ]
    assert memory_writes(seen) == [("/home/dev/memory/a.md", True)]


def test_it_is_told_from_pi_by_its_folder_its_header_or_its_own_records() -> None:
    ours = line({"type": "session", "id": "s1", "version": 3, "cwd": "/x"}).replace(b" ", b"")
    pis = line(START).replace(b" ", b"")
    own = pis + b'\n{"type":"custom_message","customType":"openclaw.runtime-context"}\n'
    assert SOURCE.claims("/x/a.jsonl", ours)
    assert SOURCE.claims(PATH, pis)
    assert SOURCE.claims("/x/a.jsonl", own)
    assert not SOURCE.claims("/x/a.jsonl", pis)
    assert not SOURCE.claims(PATH, b'{"type":"message"}')
    assert SOURCE.claims(STORE, b"SQLite format 3\0")
    assert not SOURCE.claims("/x/a.sqlite", b"SQLite format 3\0")
    assert pi.SOURCE.claims("/x/a.jsonl", pis)


def test_where_it_is_and_what_belongs() -> None:
    home = {"home": "/home/dev", "platform": "linux"}
    assert SOURCE.roots(Surroundings(env={}, **home)) == (
        "/home/dev/.openclaw/agents",
        "/home/dev/.clawdbot/agents",
    )
    assert SOURCE.roots(Surroundings(env={"OPENCLAW_STATE_DIR": "/o"}, **home)) == ("/o/agents",)
    assert SOURCE.belongs("main/sessions/s1.jsonl")
    assert not SOURCE.belongs("main/sessions/s1.jsonl.deleted.2026-02-18")
    assert not SOURCE.belongs("main/sessions/sessions.json")
    assert SOURCE.belongs("main/agent/openclaw-agent.sqlite")
    assert not SOURCE.belongs("main/agent/openclaw-agent.sqlite-wal")
    assert SOURCE.container(STORE) is Container.ROWS
    assert SOURCE.container(PATH) is Container.LINES


KEYS = ["type", "id", "parentId", "message", "role", "content", "text", "toolCallId", "name", "arguments"]
WORDS = ["message", "user", "assistant", "toolResult", "toolCall", "text", "m1", "m2", "c1", "[cron:"]


@settings(max_examples=60)
@given(odd_records(KEYS, WORDS))
def test_no_record_raises_and_no_id_comes_twice_unrevised(records: list[bytes]) -> None:
    newest(settled(reader(SOURCE, PATH), START, *records, *records))


@settings(max_examples=60)
@given(odd_records([*KEYS, "kind", "event", "key"], [*WORDS, "session", "event", "{", '{"type":"message"}']))
def test_no_row_raises_and_a_second_feeding_only_revises(records: list[bytes]) -> None:
    head = rows("s1", "k", START)
    newest(settled(reader(SOURCE, STORE), *head, *records, *head, *records))
