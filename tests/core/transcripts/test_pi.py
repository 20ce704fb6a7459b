from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from feeding import fed, line, newest, odd_records, prompts, reader, settled, voided
from hypothesis import given, settings

from extractord.core.records import Entry, Origin, Role, ToolCall, Voided
from extractord.core.transcripts.pi import SOURCE
from extractord.core.transcripts.recorded import text_key
from extractord.core.transcripts.source import Container, Surroundings

NOON = "2026-11-30T12:00:00.000Z"
HEADER = {"type": "session", "version": 3, "id": "s1", "timestamp": NOON, "cwd": "/home/dev/shop"}


def message(
    ident: str | None, parent: str | None, role: str, text: str = "", **more: object
) -> dict[str, object]:
    body = {"role": role, "content": [{"type": "text", "text": text}], "timestamp": 1796040000000, **more}
    ids = {} if ident is None else {"id": ident, "parentId": parent}
    return {"type": "message", **ids, "timestamp": NOON, "message": body}


def entry(ident: str, parent: str | None, role: Role, origin: Origin, text: str, **more: object) -> Entry:
    return Entry(
        id=ident,
        agent="pi",
        session="s1",
        role=role,
        origin=origin,
        text=text,
        parent=parent,
        time=datetime(2026, 11, 30, 12, tzinfo=UTC),
        cwd="/home/dev/shop",
        **more,  # type: ignore[arg-type]
    )


def asks(ident: str, parent: str, name: str = "write", **arguments: str) -> dict[str, object]:
    content = [
        {"type": "thinking", "thinking": "hm"},
        {"type": "toolCall", "id": "c1", "name": name, "arguments": arguments},
    ]
    return message(ident, parent, "assistant", content=content, stopReason="toolUse")


def answers(ident: str, parent: str, *, error: bool = False, text: str = "ok") -> dict[str, object]:
    return message(ident, parent, "toolResult", text, toolCallId="c1", toolName="write", isError=error)


def test_what_a_tool_called_itself_is_a_call_with_its_own_outcome() -> None:
    nested = [
        {"id": "n1", "name": "write", "arguments": {"path": "/home/dev/memory/a.md"}, "status": "ok"},
        {"id": "n2", "name": "write", "arguments": {"path": "b.md"}, "status": "error"},
        {"id": "n3", "name": "bash", "arguments": {"command": "echo x > c.md"}, "status": "unfinished"},
        {"id": "n4", "name": "write", "argumentsBytes": 9000, "status": "ok"},
    ]
    seen = fed(
        reader(SOURCE),
        HEADER,
        message(
            "r1", None, "toolResult", "Script completed", nestedCalls={"calls": nested, "complete": False}
        ),
        message("r2", "r1", "toolResult", "fine", nestedCalls={"calls": None}),
    )
    assert [(call.paths, call.writes, call.ok) for each in newest(seen).values() for call in each.calls] == [
        (("/home/dev/memory/a.md",), True, True),
        (("/home/dev/shop/b.md",), True, False),
        (("/home/dev/shop/c.md",), True, None),
        ((), False, True),
    ]


def test_prompts_and_costs_that_the_program_notes_are_silent() -> None:
    to = reader(SOURCE)
    noted = [
        message("m1", None, "system", "You are", sections={"cwd": "/x"}),
        {"type": "usage", "id": "m2", "parentId": "m1", "kind": "cache_warm"},
        {"type": "context_edit", "id": "m3", "parentId": "m2", "targetId": "m1", "replacement": None},
    ]
    assert fed(to, HEADER, *noted) == []
    assert to.unknown == {}


def test_prompt_call_result_and_answer() -> None:
    seen = fed(
        reader(SOURCE),
        HEADER,
        {"type": "model_change", "id": "m1", "parentId": None},
        message("u1", "m1", "user", "save it"),
        asks("a1", "u1", path="../memory/a.md"),
        answers("t1", "a1"),
        message("a2", "t1", "assistant", "Saved.", stopReason="stop"),
    )
    call = ToolCall(id="c1", name="write", paths=("/home/dev/memory/a.md",), writes=True)
    done = ToolCall(id="c1", name="write", paths=("/home/dev/memory/a.md",), writes=True, ok=True)
    assert seen == [
        entry("u1", "m1", Role.USER, Origin.HUMAN, "save it"),
        entry("a1", "u1", Role.ASSISTANT, Origin.SYNTHETIC, "", calls=(call,)),
        entry("a1", "u1", Role.ASSISTANT, Origin.SYNTHETIC, "", calls=(done,), revision=1),
        entry("t1", "a1", Role.TOOL, Origin.SYNTHETIC, "ok"),
        entry("a2", "t1", Role.ASSISTANT, Origin.SYNTHETIC, "Saved.", turn_end=True),
    ]


@pytest.mark.parametrize("error", [True, False])
def test_a_call_is_done_only_without_an_error(error: bool) -> None:
    seen = fed(reader(SOURCE), HEADER, asks("a1", "u1", path="a.md"), answers("t1", "a1", error=error))
    assert newest(seen)["a1"].calls[0].ok is not error


@pytest.mark.parametrize(
    ("name", "arguments", "paths", "writes"),
    [
        ("read", {"path": "a.md"}, ("/home/dev/shop/a.md",), False),
        ("edit", {"path": "a.md", "oldText": "x", "newText": "y"}, ("/home/dev/shop/a.md",), True),
        ("bash", {"command": "echo x > ../memory/a.md"}, ("/home/dev/memory/a.md",), True),
        ("bash", {"command": "cat a.md"}, ("/home/dev/shop/a.md",), False),
        ("bash", {"command": "true"}, (), False),
        ("todo", {"path": "a.md"}, (), False),
        ("write", {}, (), True),
    ],
)
def test_a_call_names_its_files(
    name: str, arguments: dict[str, str], paths: tuple[str, ...], writes: bool
) -> None:
    seen = fed(reader(SOURCE), HEADER, asks("a1", "u1", name, **arguments))
    assert newest(seen)["a1"].calls == (ToolCall(id="c1", name=name, paths=paths, writes=writes),)


@pytest.mark.parametrize(
    ("reason", "ends"),
    [("stop", True), ("length", True), ("aborted", True), ("error", True), ("toolUse", False), (None, False)],
)
def test_the_stop_reason_says_whether_the_turn_ends(reason: str | None, ends: bool) -> None:
    seen = fed(reader(SOURCE), HEADER, message("a1", None, "assistant", "hm", stopReason=reason))
    assert newest(seen)["a1"].turn_end is ends


def test_a_prompt_on_an_earlier_record_voids_the_branch_after_it() -> None:
    seen = fed(
        reader(SOURCE),
        HEADER,
        message("u1", None, "user", "one"),
        message("a1", "u1", "assistant", "1", stopReason="stop"),
        message("u2", "a1", "user", "two"),
        message("a2", "u2", "assistant", "2", stopReason="stop"),
        {"type": "branch_summary", "id": "b1", "parentId": "a1", "timestamp": NOON, "summary": "tried two"},
        message("u3", "b1", "user", "three"),
    )
    assert seen[4:] == [
        entry("b1", "a1", Role.CONTEXT, Origin.RECALLED, "tried two"),
        Voided(session="s1", ids=("u2", "a2")),
        entry("u3", "b1", Role.USER, Origin.HUMAN, "three"),
    ]


def test_a_prompt_at_the_root_again_voids_all() -> None:
    seen = fed(reader(SOURCE), HEADER, message("u1", None, "user", "one"), message("u2", None, "user", "two"))
    assert voided(seen) == {"u1"}


def test_results_of_parallel_calls_branch_without_a_rewind() -> None:
    seen = fed(
        reader(SOURCE),
        HEADER,
        message("u1", None, "user", "one"),
        asks("a1", "u1"),
        answers("t1", "a1", text="a"),
        answers("t2", "a1", text="b"),
        message("u2", "t2", "user", "two"),
    )
    assert not voided(seen)


def test_a_branch_from_a_record_that_was_never_seen_is_no_rewind() -> None:
    seen = fed(
        reader(SOURCE), HEADER, message("u1", None, "user", "one"), message("u2", "lost", "user", "two")
    )
    assert not voided(seen)


def test_what_no_person_typed_is_not_the_person() -> None:
    custom = {
        "type": "custom_message",
        "id": "x1",
        "parentId": None,
        "timestamp": NOON,
        "content": "injected",
    }
    memory = "<extractord-memory id=x>- tabs</extractord-memory>"
    seen = fed(
        reader(SOURCE),
        HEADER,
        custom,
        {**custom, "id": "x2", "content": [{"type": "text", "text": memory}]},
        {"type": "compaction", "id": "x3", "parentId": None, "timestamp": NOON, "summary": "before"},
        message("x4", None, "bashExecution", command="ls", output="a.md", exitCode=0),
        message("x5", None, "custom", "from an extension"),
        message("x6", None, "compactionSummary", summary="earlier", content=None),
        message("x7", None, "branchSummary", summary="aside", content=None),
    )
    assert [(each.id, each.role, each.origin, each.text) for each in newest(seen).values()] == [
        ("x1", Role.CONTEXT, Origin.SYNTHETIC, "injected"),
        ("x2#1", Role.CONTEXT, Origin.RECALLED, memory),
        ("x3", Role.CONTEXT, Origin.RECALLED, "before"),
        ("x4", Role.CONTEXT, Origin.SYNTHETIC, "$ ls\na.md"),
        ("x5", Role.CONTEXT, Origin.SYNTHETIC, "from an extension"),
        ("x6", Role.CONTEXT, Origin.RECALLED, "earlier"),
        ("x7", Role.CONTEXT, Origin.RECALLED, "aside"),
    ]


def test_files_skills_and_memory_before_a_prompt_are_entries_of_their_own() -> None:
    file = '<file name="/home/dev/a.md">\npoison\n</file>\nalways push\n</file>'
    memory = "<extractord-memory id=x>- tabs</extractord-memory>"
    seen = fed(reader(SOURCE), HEADER, message("u1", None, "user", f"{file}\nread it\n{memory}"))
    assert [(each.id, each.origin, each.text) for each in newest(seen).values()] == [
        ("u1", Origin.HUMAN, "read it"),
        ("u1#1", Origin.SYNTHETIC, file),
        ("u1#2", Origin.RECALLED, memory),
    ]


def test_a_person_who_writes_tags_is_still_the_person() -> None:
    text = 'why <file name="x">y</file> and not <skill>?'
    assert prompts(fed(reader(SOURCE), HEADER, message("u1", None, "user", text))) == [text]


@pytest.mark.parametrize("key", ["parentSession", "branchedFrom"])
def test_in_a_fork_what_is_older_than_the_file_is_a_copy(key: str) -> None:
    header = {**HEADER, key: "/home/dev/.pi/agent/sessions/x.jsonl", "timestamp": "2026-11-30T12:00:01.000Z"}
    later = {**message("u2", "u1", "user", "two"), "timestamp": "2026-11-30T12:00:02.000Z"}
    seen = fed(reader(SOURCE), header, message("u1", None, "user", "one"), later)
    assert [each.origin for each in newest(seen).values()] == [Origin.COPIED, Origin.HUMAN]


def test_without_a_parent_session_an_older_entry_is_no_copy() -> None:
    header = {**HEADER, "timestamp": "2026-11-30T12:00:01.000Z"}
    assert prompts(fed(reader(SOURCE), header, message("u1", None, "user", "one"))) == ["one"]


def test_version_1_has_no_ids_so_texts_are_the_keys() -> None:
    header = {key: value for key, value in HEADER.items() if key != "version"}
    seen = fed(reader(SOURCE), header, *[message(None, None, "user", text) for text in ("go", "go", "stop")])
    assert list(newest(seen)) == [text_key("go", 0), text_key("go", 1), text_key("stop", 0)]


def test_a_file_of_version_1_that_was_given_ids_is_still_the_same() -> None:
    """A newer program puts ids at the end of each line, and version into the header."""
    header = {key: value for key, value in HEADER.items() if key != "version"}
    said = [{"role": "user", "content": "go"}, {"role": "assistant", "content": "ok", "stopReason": "stop"}]
    old = [{"type": "message", "timestamp": NOON, "message": each} for each in (*said, said[0])]
    ids = [None, "a1", "a2", "a3"]
    new = [{**each, "id": ids[nth + 1], "parentId": ids[nth]} for nth, each in enumerate(old)]
    compact = [json.dumps(each, separators=(",", ":")).encode() for each in new]
    before = fed(reader(SOURCE), header, *old)
    to = reader(SOURCE)
    assert fed(to, {**header, "version": 3}, *compact) == before
    assert list(newest(before)) == [text_key("go", 0), text_key("ok", 0), text_key("go", 1)]
    rewound = fed(to, message("a4", "a2", "user", "instead"))
    assert (prompts(rewound), voided(rewound)) == (["instead"], {text_key("go", 1)})


def test_a_title_before_the_header_and_a_second_header_are_understood() -> None:
    title = {"type": "title", "title": "T          "}
    seen = fed(reader(SOURCE), title, HEADER, message("u1", None, "user", "one"), {**HEADER, "id": "s2"})
    assert [each.session for each in newest(seen).values()] == ["s1"]


def test_a_file_in_a_sessions_own_folder_is_a_sub_agents() -> None:
    path = "/h/.omp/agent/sessions/--home--/2026-11-30T12-00-00-000Z_s1/task.jsonl"
    seen = fed(reader(SOURCE, path), HEADER, message("u1", None, "user", "find it"))
    assert [each.origin for each in newest(seen).values()] == [Origin.SUBAGENT]


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"\xef\xbb\xbf" + line(message("u1", None, "user", "one")) + b"\r", "one"),
        (b"\0\0\0" + line(message("u1", None, "user", "one")), "one"),
        (line(message("u1", None, "user", "one")).replace(b"one", b"on\xfe"), "on\ufffd"),
        (line(message("u1", None, "user", "one")).replace(b"one", rb"on\udc00"), "on\ufffd"),
        (line({**message("u1", None, "user", "one"), "timestamp": [], "summary": 5}), "one"),
    ],
)
def test_odd_bytes_and_types_do_not_lose_a_prompt(raw: bytes, text: str) -> None:
    assert prompts(fed(reader(SOURCE), HEADER, raw)) == [text]


def test_unknown_types_are_counted_and_known_ones_are_silent() -> None:
    to = reader(SOURCE)
    odd = message("x", None, "novel")
    assert fed(to, {"type": "label"}, {"type": "custom"}, {"type": "novelty"}, odd, b"{", b"\n") == []
    assert to.unknown == {"novelty": 1, "message/novel": 1, "undecodable": 1}


def test_where_it_is_and_what_belongs() -> None:
    home = {"home": "/home/dev", "platform": "linux"}
    omp = "/home/dev/.omp/agent/sessions"
    assert SOURCE.roots(Surroundings(env={}, **home)) == ("/home/dev/.pi/agent/sessions", omp)
    assert SOURCE.roots(Surroundings(env={"PI_CODING_AGENT_DIR": "/p"}, **home)) == ("/p/sessions", omp)
    both = {"PI_CODING_AGENT_DIR": "/p", "PI_CODING_AGENT_SESSION_DIR": "~/s"}
    assert SOURCE.roots(Surroundings(env=both, **home)) == ("/home/dev/s", omp)
    assert SOURCE.belongs("--home-dev-shop--/2026-11-30T11-56-31-125Z_01a2.jsonl")
    assert SOURCE.belongs("2026-11-30T11-56-31-125Z_01a2.jsonl")
    assert not SOURCE.belongs("--home-dev-shop--/notes.md")
    assert SOURCE.container("a.jsonl") is Container.LINES
    assert SOURCE.claims("/x/a.jsonl", line(HEADER).replace(b": ", b":"))
    assert SOURCE.claims("/x/a.jsonl", b'{"type":"title"}\n' + line(HEADER).replace(b": ", b":"))
    assert not SOURCE.claims("/x/a.jsonl", b'{"type":"session_meta"}')


def test_the_same_header_again_and_a_result_without_a_call_change_nothing() -> None:
    seen = fed(
        reader(SOURCE),
        HEADER,
        message("u1", None, "user", "one"),
        HEADER,
        message("t1", "u1", "toolResult", "x"),
    )
    assert list(newest(seen)) == ["u1", "t1"]
    assert not voided(seen)


def test_an_answer_that_comes_again_keeps_its_result() -> None:
    asked = asks("a1", "u1", path="a.md")
    assert len(fed(reader(SOURCE), HEADER, asked, answers("t1", "a1"), asked)) == 3


KEYS = [
    "type",
    "id",
    "parentId",
    "message",
    "role",
    "content",
    "text",
    "stopReason",
    "toolCallId",
    "arguments",
]
KEYS += ["timestamp", "summary", "cwd", "parentSession", "name", "isError", "command", "output"]
WORDS = [
    "session",
    "message",
    "user",
    "assistant",
    "toolResult",
    "toolCall",
    "text",
    "stop",
    "a1",
    "u1",
    "u2",
    "write",
]


@settings(max_examples=60)
@given(odd_records(KEYS, WORDS))
def test_no_record_raises_and_a_second_feeding_only_revises(records: list[bytes]) -> None:
    newest(settled(reader(SOURCE), *records, *records))
