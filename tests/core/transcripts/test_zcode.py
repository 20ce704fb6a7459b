from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from feeding import fed, newest, odd_records, prompts, reader, settled
from hypothesis import given, settings

from extractord.core.records import Entry, Origin, Role, ToolCall
from extractord.core.transcripts.source import Container, Surroundings
from extractord.core.transcripts.zcode import SOURCE

SESSION = {"kind": "session", "id": "s1", "directory": "/home/dev/shop"}


def row(ident: str, data: object, *parts: object, time: object = "2026-11-30T12:00:00Z") -> dict[str, object]:
    stored = [{"id": f"p{nth}", "data": json.dumps(part)} for nth, part in enumerate(parts)]
    return {
        "kind": "message",
        "id": ident,
        "time": time,
        "data": json.dumps(data),
        "parts": json.dumps(stored),
    }


def text(words: str, **more: object) -> dict[str, object]:
    return {"type": "text", "text": words, **more}


def entry(ident: str, role: Role, origin: Origin, words: str, **more: object) -> Entry:
    return Entry(
        id=f"s1/{ident}",
        agent="zcode",
        session="s1",
        role=role,
        origin=origin,
        text=words,
        time=datetime(2026, 11, 30, 12, tzinfo=UTC),
        cwd="/home/dev/shop",
        **more,  # type: ignore[arg-type]
    )


@pytest.mark.parametrize(("status", "ok"), [("completed", True), ("error", False)])
def test_prompt_call_result_and_answer(status: str, ok: bool) -> None:
    to = reader(SOURCE)
    state = {"status": status, "input": {"file_path": "../memory/a.md"}, "output": "fine", "error": "bad"}
    rows = [
        SESSION,
        row("m1", {"role": "user"}, text("save it"), text("injected", synthetic=True)),
        row(
            "m2",
            {"role": "assistant"},
            {"type": "reasoning"},
            {"type": "tool", "tool": "Write", "callID": "c1", "state": state},
        ),
        row("m3", {"role": "assistant", "summary": True}, text("before")),
    ]
    call = ToolCall(id="c1", name="Write", paths=("/home/dev/memory/a.md",), writes=True)
    done = ToolCall(id="c1", name="Write", paths=("/home/dev/memory/a.md",), writes=True, ok=ok)
    assert fed(to, *rows) == [
        entry("m1", Role.USER, Origin.HUMAN, "save it"),
        entry("m2", Role.ASSISTANT, Origin.SYNTHETIC, "", calls=(call,)),
        entry("m2", Role.ASSISTANT, Origin.SYNTHETIC, "", calls=(done,), revision=1),
        entry("c1/result", Role.TOOL, Origin.SYNTHETIC, "fine" if ok else "bad"),
        entry("m3", Role.CONTEXT, Origin.RECALLED, "before"),
    ]
    assert fed(to, *rows) == []


def test_a_session_with_a_parent_is_a_sub_agents() -> None:
    seen = fed(reader(SOURCE), {**SESSION, "parent": "s0"}, row("m1", {"role": "user"}, text("go")))
    assert seen == [entry("m1", Role.USER, Origin.SUBAGENT, "go")]


@pytest.mark.parametrize(
    "about",
    [
        {"semantics": {"origin": "agent_runtime", "kind": "background_notification"}},
        {"semantics": {"origin": "real_user", "kind": "todo_reminder"}},
        {"semantics": {"origin": "import", "kind": "user_prompt"}},
        {"synthetic": True},
        {"visibility": "model-only"},
        {"source": "goal-continuation"},
    ],
)
def test_what_the_program_says_in_a_persons_message_is_context(about: dict[str, object]) -> None:
    seen = fed(reader(SOURCE), SESSION, row("m1", {"role": "user", **about}, text("Task done.")))
    assert seen == [entry("m1", Role.CONTEXT, Origin.SYNTHETIC, "Task done.")]


def test_notices_are_known_by_how_they_begin_and_a_summary_by_its_kind() -> None:
    summary = {"role": "user", "semantics": {"origin": "system", "kind": "compact_summary"}}
    seen = fed(
        reader(SOURCE),
        SESSION,
        row("m1", {"role": "user"}, text("<task-notification>Built.</task-notification>")),
        row("m2", {"role": "user"}, text("Conversation rewind applied. Go on.")),
        row("m3", summary, text("They built a shop.")),
        row("m4", {"role": "user", "summary": True}, text("They sold it.")),
        row("m5", {"role": "user", "summary": {"title": "Shop"}}, text("open the shop")),
    )
    assert seen == [
        entry("m1", Role.CONTEXT, Origin.SYNTHETIC, "<task-notification>Built.</task-notification>"),
        entry("m2", Role.CONTEXT, Origin.SYNTHETIC, "Conversation rewind applied. Go on."),
        entry("m3", Role.CONTEXT, Origin.RECALLED, "They built a shop."),
        entry("m4", Role.CONTEXT, Origin.RECALLED, "They sold it."),
        entry("m5", Role.USER, Origin.HUMAN, "open the shop"),
    ]


def test_a_persons_own_prompt_says_so_and_what_a_fork_took_along_is_a_copy() -> None:
    typed = {"role": "user", "semantics": {"origin": "real_user", "kind": "user_prompt"}}
    seen = fed(
        reader(SOURCE),
        {**SESSION, "parent": "s0", "task": "fork"},
        row("m1", {**typed, "metadata": {"forkOrigin": {"messageID": "m0"}}}, text("open the shop")),
        row("m2", typed, text("close it")),
    )
    assert seen == [
        entry("m1", Role.USER, Origin.COPIED, "open the shop"),
        entry("m2", Role.USER, Origin.HUMAN, "close it"),
    ]


@pytest.mark.parametrize(
    ("task", "origin"),
    [
        ("selection_side_chat", Origin.HUMAN),
        ("workflow_parent", Origin.HUMAN),
        ("subagent_child", Origin.SUBAGENT),
        ("workflow_child", Origin.SUBAGENT),
    ],
)
def test_whose_a_session_with_a_parent_is_its_kind_says(task: str, origin: Origin) -> None:
    opened = {**SESSION, "parent": "s0", "task": task}
    seen = fed(reader(SOURCE), opened, row("m1", {"role": "user"}, text("go")))
    assert seen == [entry("m1", Role.USER, origin, "go")]


@pytest.mark.parametrize(
    ("revert", "standing"),
    [
        ({"targetMessageID": "m2", "keptMessageIDs": ["m1"], "branchCutAfterMessageID": "m3"}, "m1 m4"),
        ({"targetMessageID": "m2", "branchCutAfterMessageID": "m3"}, "m1 m4"),
        ({"targetMessageID": "m2", "createdMessageID": "m3"}, "m1 m3 m4"),
        ({"targetMessageID": "m1", "keptMessageIDs": [], "branchCutAfterMessageID": "m4"}, ""),
        ({"messageID": "m2"}, "m1 m2 m3 m4"),
    ],
)
def test_what_was_rewound_is_not_active(revert: dict[str, object], standing: str) -> None:
    to = reader(SOURCE)
    messages = [row(f"m{nth}", {"role": "user"}, text(f"{nth}")) for nth in range(1, 5)]
    before = fed(to, SESSION, *messages)
    after = newest([*before, *fed(to, {**SESSION, "revert": json.dumps(revert)}, *messages)])
    assert [each.active for each in before if isinstance(each, Entry)] == [True] * 4
    assert " ".join(ident[3:] for ident, each in after.items() if each.active) == standing


def test_parts_may_be_shaped_as_blocks() -> None:
    asks = {"type": "tool_use", "name": "Write", "id": "c1", "input": {"file_path": "../memory/a.md"}}
    said = {"type": "text", "content": [{"text": "Saving."}]}
    bad = {"type": "tool_result", "tool_use_id": "c1", "content": "no", "is_error": True}
    seen = fed(
        reader(SOURCE),
        SESSION,
        row("m1", {"role": "model"}, said, asks),
        row("m2", {"role": "user"}, bad, text("x", ignored=True)),
        row("m3", {"role": "system"}, text("You are…")),
    )
    failed = ToolCall(id="c1", name="Write", paths=("/home/dev/memory/a.md",), writes=True, ok=False)
    assert newest(seen) == {
        "s1/m1": entry("m1", Role.ASSISTANT, Origin.SYNTHETIC, "Saving.", calls=(failed,), revision=1),
        "s1/c1/result": entry("c1/result", Role.TOOL, Origin.SYNTHETIC, "no"),
    }


@pytest.mark.parametrize(
    "time",
    ["1796040000", "1796040000000", "1796040000000000000", 1_796_040_000, "2026-11-30T12:00:00Z"],
)
def test_times_come_in_every_unit(time: object) -> None:
    (seen,) = fed(reader(SOURCE), SESSION, row("m1", {"role": "user"}, text("go"), time=time))
    assert isinstance(seen, Entry)
    assert seen.time == datetime(2026, 11, 30, 12, tzinfo=UTC)


def test_a_call_that_runs_has_no_outcome_and_a_reminder_is_nobodys() -> None:
    running = {"type": "tool_use", "name": "Bash", "id": "c1", "input": {"command": "ls"}}
    seen = fed(
        reader(SOURCE),
        SESSION,
        row("m1", {"role": "assistant"}, running),
        row("m2", {"role": "user"}, text("<system-reminder>x</system-reminder>")),
    )
    assert newest(seen)["s1/m1"].calls == (ToolCall(id="c1", name="Bash"),)
    assert prompts(seen) == []


def test_odd_rows_are_counted() -> None:
    to = reader(SOURCE)
    torn = {"kind": "message", "id": "m1", "data": "{", "parts": "{"}
    assert fed(to, SESSION, torn, row("m2", {"role": "novel"}, {"type": "novel"}), {"kind": "x"}, b"{") == []
    assert to.unknown == {"undecodable": 2, "part/novel": 1, "message/novel": 1, "x": 1}


def test_where_it_is_and_what_belongs() -> None:
    assert SOURCE.roots(Surroundings({}, "/home/dev", "linux")) == ("/home/dev/.zcode/cli/db",)
    moved = {"ZCODE_HOME": "/z", "ZCODE_SESSION_DB_PATH": "/data/db.sqlite"}
    assert SOURCE.roots(Surroundings(moved, "/home/dev", "linux")) == ("/z/cli/db", "/data")
    assert SOURCE.belongs("db.sqlite")
    assert not SOURCE.belongs("db.sqlite-wal")
    assert SOURCE.container("db.sqlite") is Container.ROWS
    assert SOURCE.claims("/h/.zcode/cli/db/db.sqlite", b"SQLite format 3\0")
    assert not SOURCE.claims("/h/db.sqlite", b"SQLite format 3\0")


KEYS = ["kind", "id", "data", "parts", "time", "directory"]
WORDS = ["session", "message", "m1", '{"role":"user"}', '[{"id":"p","data":"{}"}]', '{"role":"assistant"}']


@settings(max_examples=60)
@given(odd_records(KEYS, WORDS))
def test_no_record_raises_and_a_second_feeding_only_revises(records: list[bytes]) -> None:
    newest(settled(reader(SOURCE), SESSION, *records, SESSION, *records))
