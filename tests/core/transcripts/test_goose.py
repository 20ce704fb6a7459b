from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from feeding import SAMPLES, fed, memory_writes, newest, odd_records, prompts, reader, settled, transcript
from hypothesis import given, settings

from extractord.core.records import Entry, Origin, Role, ToolCall
from extractord.core.transcripts.goose import SOURCE
from extractord.core.transcripts.recorded import text_key
from extractord.core.transcripts.source import Container, Surroundings

AT = 1_796_040_000
META = {"working_dir": "/home/dev/shop", "description": "d", "message_count": 2}


def session(kind: str = "user") -> dict[str, object]:
    return {"kind": "session", "id": "s1", "session_type": kind, "working_dir": "/home/dev/shop"}


def row(ident: str | None, role: str, *blocks: object, metadata: object = None) -> dict[str, object]:
    shown = None if metadata is None else json.dumps(metadata)
    return {
        "kind": "message",
        "id": ident,
        "role": role,
        "created": AT,
        "content": json.dumps(blocks),
        "metadata": shown,
    }


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


def asks(name: str, **arguments: str) -> dict[str, object]:
    call = {"status": "success", "value": {"name": name, "arguments": arguments}}
    return {"type": "toolRequest", "id": "c1", "toolCall": call}


def answers(**result: object) -> dict[str, object]:
    return {"type": "toolResponse", "id": "c1", "toolResult": result}


def entry(ident: str, role: Role, origin: Origin, words: str, **more: object) -> Entry:
    return Entry(
        id=ident,
        agent="goose",
        session="s1",
        role=role,
        origin=origin,
        text=words,
        time=datetime.fromtimestamp(AT, tz=UTC),
        cwd="/home/dev/shop",
        **more,  # type: ignore[arg-type]
    )


def test_prompt_call_result_and_answer() -> None:
    rows = [
        session(),
        row("m1", "user", text("save it")),
        row("m2", "assistant", {"type": "thinking"}, text("Saving."), asks("write", path="../memory/a.md")),
        row("m3", "user", answers(status="success", value={"content": [text("ok")], "isError": False})),
        row("m4", "assistant", text("Saved.")),
    ]
    call = ToolCall(id="c1", name="write", paths=("/home/dev/memory/a.md",), writes=True)
    done = ToolCall(id="c1", name="write", paths=("/home/dev/memory/a.md",), writes=True, ok=True)
    to = reader(SOURCE)
    assert fed(to, *rows) == [
        entry("m1", Role.USER, Origin.HUMAN, "save it"),
        entry("m2", Role.ASSISTANT, Origin.SYNTHETIC, "Saving.", calls=(call,)),
        entry("m2", Role.ASSISTANT, Origin.SYNTHETIC, "Saving.", calls=(done,), revision=1),
        entry("c1/result", Role.TOOL, Origin.SYNTHETIC, "ok"),
        entry("m4", Role.ASSISTANT, Origin.SYNTHETIC, "Saved.", turn_end=True),
    ]
    assert fed(to, *rows) == []


@pytest.mark.parametrize(
    ("result", "ok", "shown"),
    [
        ({"status": "success", "value": [text("fine")]}, True, "fine"),
        ({"status": "success", "value": {"content": [text("bad")], "isError": True}}, False, "bad"),
        ({"status": "error", "error": "refused"}, False, "refused"),
    ],
)
def test_a_call_is_done_only_where_its_result_says_so(
    result: dict[str, object], ok: bool, shown: str
) -> None:
    asked = row("m2", "assistant", asks("developer__shell", command="echo x > a.md"))
    entries = newest(fed(reader(SOURCE), session(), asked, row("m3", "user", answers(**result))))
    assert entries["m2"].calls == (
        ToolCall(id="c1", name="developer__shell", paths=("/home/dev/shop/a.md",), writes=True, ok=ok),
    )
    assert entries["c1/result"].text == shown


@pytest.mark.parametrize(("command", "writes"), [("view", False), ("write", True), ("str_replace", True)])
def test_the_text_editor_reads_or_writes_as_its_command_says(command: str, writes: bool) -> None:
    asked = row("m2", "assistant", asks("developer__text_editor", command=command, path="a.md"))
    assert newest(fed(reader(SOURCE), session(), asked))["m2"].calls == (
        ToolCall(id="c1", name="developer__text_editor", paths=("/home/dev/shop/a.md",), writes=writes),
    )


@pytest.mark.parametrize(
    ("kind", "origin"),
    [
        ("user", Origin.HUMAN),
        ("terminal", Origin.HUMAN),
        ("gateway", Origin.HUMAN),
        ("acp", Origin.HUMAN),
        ("scheduled", Origin.HEADLESS),
        ("sub_agent", Origin.SUBAGENT),
        ("hidden", Origin.SYNTHETIC),
    ],
)
def test_the_kind_of_session_says_who_prompts(kind: str, origin: Origin) -> None:
    seen = fed(reader(SOURCE), session(kind), row("m1", "user", text("one")))
    assert seen == [entry("m1", Role.USER, origin, "one")]


def test_what_the_person_never_saw_is_recalled_and_what_the_model_no_longer_sees_is_the_persons() -> None:
    hidden = row("m1", "user", text("Your context was compacted"), metadata={"userVisible": False})
    old = row("m2", "user", text("old"), metadata={"userVisible": True, "agentVisible": False})
    assert fed(reader(SOURCE), session(), hidden, old) == [
        entry("m1", Role.CONTEXT, Origin.RECALLED, "Your context was compacted"),
        entry("m2", Role.USER, Origin.HUMAN, "old"),
    ]


def test_what_a_compaction_says_again_is_no_second_prompt() -> None:
    seen_by_person = {"userVisible": True, "agentVisible": False}
    hidden = {"userVisible": False, "agentVisible": True}
    rows = [
        session(),
        row("m1", "user", text("ship the parser today"), metadata=seen_by_person),
        row("m2", "user", text("What was said so far: …"), metadata=hidden),
        row("m3", "assistant", text("I go on."), metadata=hidden),
        row("m4", "user", text("ship the parser today")),
        row("m5", "assistant", text("Shipped.")),
        row("m6", "user", text("ship the parser today")),
    ]
    to = reader(SOURCE)
    said = [each for each in newest(fed(to, *rows)).values() if each.role is Role.USER]
    assert said == [
        entry("m1", Role.USER, Origin.HUMAN, "ship the parser today"),
        entry("m4", Role.USER, Origin.COPIED, "ship the parser today"),
        entry("m6", Role.USER, Origin.HUMAN, "ship the parser today"),
    ]
    assert fed(to, *rows) == []


def test_one_that_is_said_again_under_its_own_id_stays_as_it_was() -> None:
    rows = [
        session(),
        row("m1", "user", text("ship it"), metadata={"agentVisible": False}),
        {**row("m1", "user", text("ship it")), "created": AT + 9},
    ]
    assert fed(reader(SOURCE), *rows) == [entry("m1", Role.USER, Origin.HUMAN, "ship it")]


@pytest.mark.parametrize(
    ("words", "origin"),
    [
        ("You MUST call the `final_output` tool NOW with the final output for the user.", Origin.SYNTHETIC),
        ("You MUST call the tool that I named", Origin.HUMAN),
    ],
)
def test_what_a_recipe_asks_for_is_no_persons(words: str, origin: Origin) -> None:
    [seen] = fed(reader(SOURCE), session(), row("m1", "user", text(words)))
    assert isinstance(seen, Entry)
    assert seen.origin is origin


@pytest.mark.parametrize(("shown", "ok"), [("a.md written", True), ("No.\nexit code: 2", False)])
def test_a_shell_says_by_its_code_that_it_failed(shown: str, ok: bool) -> None:
    asked = row("m2", "assistant", {**asks("shell", command="echo x > a.md"), "type": "frontendToolRequest"})
    result = answers(status="success", value={"content": [text(shown)]})
    calls = newest(fed(reader(SOURCE), session(), asked, row("m3", "user", result)))["m2"].calls
    assert calls == (ToolCall(id="c1", name="shell", paths=("/home/dev/shop/a.md",), writes=True, ok=ok),)


def test_an_export_is_read_as_the_rows_that_it_was_made_of() -> None:
    shown = [
        row("m1", "user", text("ship it"), metadata={"userVisible": True}),
        row("m2", "user", text("A notice."), metadata={"userVisible": False}),
        row("m3", "assistant", text("Shipped.")),
    ]
    conversation = [
        {
            **each,
            "content": json.loads(str(each["content"])),
            "metadata": json.loads(str(each["metadata"] or "null")),
        }
        for each in shown
    ]
    export = {**session(), "kind": None, "name": "Shop", "conversation": conversation}
    to = reader(SOURCE)
    assert fed(to, export) == fed(reader(SOURCE), session(), *shown)
    assert (to.session, to.unknown) == ("s1", {})
    assert fed(to, export) == []


def test_injected_memory_is_an_entry_of_its_own() -> None:
    memory = "<extractord-memory id=x>- tabs</extractord-memory>"
    assert fed(reader(SOURCE), session(), row("m1", "user", text(f"hi\n{memory}"))) == [
        entry("m1", Role.USER, Origin.HUMAN, "hi"),
        entry("m1#1", Role.CONTEXT, Origin.RECALLED, memory),
    ]


def test_messages_without_an_id_are_keyed_by_their_text_also_when_read_again() -> None:
    to = reader(SOURCE, "/t/20250916_101010.jsonl")
    said = {"role": "user", "created": AT, "content": [text("go")]}
    call = {"role": "assistant", "created": AT, "content": [asks("write")]}
    assert list(newest(fed(to, META, said, said, call))) == [
        f"20250916_101010/{text_key('go', 0)}",
        f"20250916_101010/{text_key('go', 1)}",
        f"20250916_101010/{text_key('assistant toolRequest c1', 0)}",
    ]
    assert to.session == "20250916_101010"
    assert fed(to, META, said, said, call) == []


def test_odd_rows_are_counted_and_the_others_go_on() -> None:
    to = reader(SOURCE)
    odd = {"type": "toolRequest", "id": "c9", "toolCall": {"status": "error", "error": "x"}}
    empty = {"kind": "message", "id": "m0", "role": "user"}
    torn = {**empty, "content": "not json"}
    seen = fed(to, session(), empty, torn, row("m1", "assistant", odd, {"type": "novel"}), {"id": "x"}, b"{")
    assert newest(seen)["m1"].calls == (ToolCall(id="c9", name=""),)
    assert to.unknown == {"undecodable": 2, "block/novel": 1, "no role": 1}


def test_where_it_is_and_what_belongs() -> None:
    home = {"home": "/home/dev", "platform": "darwin"}
    assert SOURCE.roots(Surroundings(env={}, **home)) == ("/home/dev/.local/share/goose/sessions",)
    assert SOURCE.roots(Surroundings(env={"GOOSE_PATH_ROOT": "/g"}, **home)) == ("/g/data/sessions",)
    assert SOURCE.belongs("sessions.db")
    assert SOURCE.belongs("20250916_101010.jsonl")
    assert not SOURCE.belongs("sessions.db-wal")
    assert SOURCE.container("sessions.db") is Container.ROWS
    assert SOURCE.container("a.jsonl") is Container.LINES
    assert SOURCE.claims("/h/goose/sessions/sessions.db", b"SQLite format 3\0")
    assert not SOURCE.claims("/h/other/sessions.db", b"SQLite format 3\0")
    assert SOURCE.container("a.json") is Container.DOCUMENT
    assert SOURCE.claims("/x/a.json", b'\xef\xbb\xbf\r\n{"working_dir": "/w", "conversation": []}')
    assert SOURCE.claims("/x/a.json", b'{"id": "s1", "working_dir": "/w", "conversation": []}')
    assert not SOURCE.claims("/x/a.json", b'{"id": "s1", "working_dir": "/w"}')
    assert SOURCE.claims("/x/a.jsonl", json.dumps(META, separators=(",", ":")).encode())
    assert not SOURCE.claims("/x/a.jsonl", b'{"working_dir":"/x"}')


KEYS = [
    "kind",
    "id",
    "role",
    "content",
    "metadata",
    "type",
    "text",
    "toolCall",
    "toolResult",
    "value",
    "working_dir",
]
WORDS = [
    "session",
    "message",
    "user",
    "assistant",
    "toolRequest",
    "toolResponse",
    "m1",
    "c1",
    '[{"type":"text"}]',
    "{",
]


@settings(max_examples=60)
@given(odd_records(KEYS, WORDS))
def test_no_record_raises_and_a_second_feeding_only_revises(records: list[bytes]) -> None:
    newest(settled(reader(SOURCE), session(), *records, session(), *records))


@pytest.mark.skipif(not SAMPLES.exists(), reason="the shared samples are not beside the checkout")
@pytest.mark.parametrize(
    ("name", "said", "writes"),
    [
        ("derived/legacy/20250916_101010.jsonl", ["run the tests"], [("/home/dev/memory/g.md", True)]),
        (
            "agentscribe/sample_session.jsonl",
            ["I'm seeing a memory leak in my worker process. Can you help me investigate?"],
            [],
        ),
    ],
)
def test_a_sample_has_the_prompts_that_were_typed(
    name: str, said: list[str], writes: list[tuple[str, bool]]
) -> None:
    seen = transcript(SOURCE, SAMPLES / "goose" / name)
    assert (prompts(seen), memory_writes(seen)) == (said, writes)
