from __future__ import annotations

import json
from datetime import UTC, datetime

from feeding import fed, newest, odd_records, prompts, reader, settled
from hypothesis import given, settings

from extractord.core.records import Entry, Origin, Role, ToolCall
from extractord.core.transcripts.crush import SOURCE
from extractord.core.transcripts.source import Container, Surroundings

AT = 1_796_040_000
PATH = "/home/dev/shop/.crush/crush.db"
SESSION = {"kind": "session", "id": "s1", "parent": None}


def row(ident: str, role: str, *parts: tuple[str, object], summary: int = 0) -> dict[str, object]:
    stored = json.dumps([{"type": kind, "data": data} for kind, data in parts])
    return {
        "kind": "message",
        "id": ident,
        "role": role,
        "parts": stored,
        "created_at": AT,
        "is_summary": summary,
    }


def entry(ident: str, role: Role, origin: Origin, words: str, **more: object) -> Entry:
    return Entry(
        id=f"s1/{ident}",
        agent="crush",
        session="s1",
        role=role,
        origin=origin,
        text=words,
        time=datetime.fromtimestamp(AT, tz=UTC),
        cwd="/home/dev/shop",
        **more,  # type: ignore[arg-type]
    )


def test_prompt_call_result_and_answer() -> None:
    to = reader(SOURCE, PATH)
    asks = {"id": "c1", "name": "write", "input": '{"file_path":"../memory/a.md"}'}
    rows = [
        SESSION,
        row("m1", "user", ("text", {"text": "save it"})),
        row("m2", "assistant", ("reasoning", {}), ("tool_call", asks), ("finish", {"reason": "tool_use"})),
        row("m3", "tool", ("tool_result", {"tool_call_id": "c1", "content": "ok", "is_error": False})),
        row("m4", "assistant", ("text", {"text": "Saved."}), ("finish", {"reason": "end_turn"})),
        row("m5", "assistant", ("text", {"text": "before"}), summary=1),
    ]
    call = ToolCall(id="c1", name="write", paths=("/home/dev/memory/a.md",), writes=True)
    done = ToolCall(id="c1", name="write", paths=("/home/dev/memory/a.md",), writes=True, ok=True)
    assert fed(to, *rows) == [
        entry("m1", Role.USER, Origin.HUMAN, "save it"),
        entry("m2", Role.ASSISTANT, Origin.SYNTHETIC, "", calls=(call,)),
        entry("m2", Role.ASSISTANT, Origin.SYNTHETIC, "", calls=(done,), revision=1),
        entry("c1/result", Role.TOOL, Origin.SYNTHETIC, "ok"),
        entry("m4", Role.ASSISTANT, Origin.SYNTHETIC, "Saved.", turn_end=True),
        entry("m5", Role.CONTEXT, Origin.RECALLED, "before"),
    ]
    assert fed(to, *rows) == []


def test_a_message_that_streams_is_revised() -> None:
    to = reader(SOURCE, PATH)
    assert fed(to, SESSION, row("m1", "assistant", ("text", {"text": "Sa"}))) == [
        entry("m1", Role.ASSISTANT, Origin.SYNTHETIC, "Sa")
    ]
    whole = row("m1", "assistant", ("text", {"text": "Saved."}), ("finish", {"reason": "end_turn"}))
    assert fed(to, SESSION, whole) == [
        entry("m1", Role.ASSISTANT, Origin.SYNTHETIC, "Saved.", turn_end=True, revision=1)
    ]


def test_a_session_with_a_parent_is_a_sub_agents() -> None:
    seen = fed(reader(SOURCE, PATH), {**SESSION, "parent": "s0"}, row("m1", "user", ("text", {"text": "go"})))
    assert seen == [entry("m1", Role.USER, Origin.SUBAGENT, "go")]
    assert prompts(seen) == []


def test_what_it_goes_on_with_by_itself_is_no_prompt() -> None:
    again = "The previous session was interrupted because it got too long, the initial user request was: `go`"
    seen = fed(
        reader(SOURCE, PATH),
        SESSION,
        row("m1", "user", ("text", {"text": again})),
        row("m2", "user", ("text", {"text": "keep watch", "hidden": True})),
        row("m3", "user", ("text", {"text": "The previous session was fine"})),
    )
    assert seen == [
        entry("m1", Role.CONTEXT, Origin.SYNTHETIC, again),
        entry("m2", Role.CONTEXT, Origin.SYNTHETIC, "keep watch"),
        entry("m3", Role.USER, Origin.HUMAN, "The previous session was fine"),
    ]


def test_a_failed_result_says_so_and_elsewhere_the_project_is_not_known() -> None:
    asks = ("tool_call", {"id": "c1", "name": "bash", "input": '{"command":"rm a.md"}'})
    bad = ("tool_result", {"tool_call_id": "c1", "content": "no", "is_error": True})
    seen = newest(
        fed(reader(SOURCE, "/h/crush.db"), SESSION, row("m1", "assistant", asks), row("m2", "tool", bad))
    )
    assert seen["s1/m1"].calls == (ToolCall(id="c1", name="bash", paths=("a.md",), writes=True, ok=False),)
    assert seen["s1/m1"].cwd is None


def test_odd_rows_are_counted() -> None:
    to = reader(SOURCE, PATH)
    torn = {"kind": "message", "id": "m1", "role": "user", "parts": "{"}
    assert fed(to, SESSION, torn, row("m2", "user", ("novel", {})), {"kind": "x"}) == []
    assert to.unknown == {"undecodable": 1, "part/novel": 1, "x": 1}


def test_where_it_is_and_what_belongs() -> None:
    assert SOURCE.roots(Surroundings({}, "/home/dev", "linux")) == ()
    assert SOURCE.belongs("shop/.crush/crush.db")
    assert SOURCE.belongs(".crush/crush.db")
    assert not SOURCE.belongs("shop/crush.db")
    assert SOURCE.container(PATH) is Container.ROWS
    assert SOURCE.claims(PATH, b"SQLite format 3\0")
    assert not SOURCE.claims("/h/other.db", b"SQLite format 3\0")


KEYS = ["kind", "id", "role", "parts", "parent", "is_summary", "created_at"]
WORDS = [
    "session",
    "message",
    "user",
    "assistant",
    "tool",
    "m1",
    '[{"type":"text","data":{"text":"x"}}]',
    "[",
]


@settings(max_examples=60)
@given(odd_records(KEYS, WORDS))
def test_no_record_raises_and_a_second_feeding_only_revises(records: list[bytes]) -> None:
    newest(settled(reader(SOURCE, PATH), SESSION, *records, SESSION, *records))
