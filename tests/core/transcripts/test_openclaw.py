from __future__ import annotations

import pytest
from feeding import fed, line, memory_writes, newest, odd_records, prompts, reader, settled
from hypothesis import given, settings

from extractord.core.records import Origin, Role
from extractord.core.transcripts import pi
from extractord.core.transcripts.openclaw import SOURCE
from extractord.core.transcripts.source import Surroundings

PATH = "/h/.openclaw/agents/main/sessions/s1.jsonl"
START = {
    "type": "session",
    "version": 3,
    "id": "s1",
    "timestamp": "2026-11-30T12:00:00Z",
    "cwd": "/home/dev/shop",
}


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
    ],
)
def test_what_the_gateway_puts_round_a_prompt_is_no_persons(words: str, typed: list[str]) -> None:
    seen = fed(reader(SOURCE, PATH), START, said("m1", None, "user", text(words)))
    assert prompts(seen) == typed
    assert [entry.agent for entry in newest(seen).values()] == ["openclaw"]


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


KEYS = ["type", "id", "parentId", "message", "role", "content", "text", "toolCallId", "name", "arguments"]
WORDS = ["message", "user", "assistant", "toolResult", "toolCall", "text", "m1", "m2", "c1", "[cron:"]


@settings(max_examples=60, deadline=None)
@given(odd_records(KEYS, WORDS))
def test_no_record_raises_and_no_id_comes_twice_unrevised(records: list[bytes]) -> None:
    newest(settled(reader(SOURCE, PATH), START, *records, *records))
