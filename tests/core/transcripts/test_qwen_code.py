from __future__ import annotations

from datetime import UTC, datetime

import pytest
from feeding import fed, line, newest, odd_records, prompts, reader, settled, voided
from hypothesis import given, settings

from extractord.core.records import Entry, Origin, Role, ToolCall, Voided
from extractord.core.transcripts.qwen_code import SOURCE
from extractord.core.transcripts.source import Container, Surroundings

NOON = "2026-11-30T12:00:00.000Z"


def record(ident: str, parent: str | None, kind: str, text: str = "", **more: object) -> dict[str, object]:
    provenance = {"user": "real_user", "assistant": "assistant_output"}.get(kind, kind)
    return {
        "uuid": ident,
        "parentUuid": parent,
        "sessionId": "s1",
        "timestamp": NOON,
        "type": kind,
        "provenance": provenance,
        "cwd": "/home/dev/shop",
        "version": "0.24.4",
        "gitBranch": "main",
        "message": {"role": "user", "parts": [{"text": text}]},
        **more,
    }


def entry(ident: str, parent: str | None, role: Role, origin: Origin, text: str, **more: object) -> Entry:
    return Entry(
        id=ident,
        agent="qwen-code",
        session="s1",
        role=role,
        origin=origin,
        text=text,
        parent=parent,
        time=datetime(2026, 11, 30, 12, tzinfo=UTC),
        cwd="/home/dev/shop",
        branch="main",
        **more,  # type: ignore[arg-type]
    )


def asks(ident: str, parent: str, name: str = "write_file", **args: str) -> dict[str, object]:
    parts = [{"text": "hm", "thought": True}, {"functionCall": {"id": "c1", "name": name, "args": args}}]
    return record(ident, parent, "assistant", message={"role": "model", "parts": parts})


def answers(
    ident: str, parent: str, status: str | None, name: str = "write_file", **response: str
) -> dict[str, object]:
    parts = [{"functionResponse": {"id": "c1", "name": name, "response": response}}]
    result = {"callId": "c1", "status": status} if status else None
    return record(
        ident, parent, "tool_result", message={"role": "user", "parts": parts}, toolCallResult=result
    )


def test_prompt_call_result_and_answer() -> None:
    to = reader(SOURCE)
    seen = fed(
        to,
        record("q1", None, "user", "save it"),
        asks("q2", "q1", file_path="../memory/a.md"),
        answers("q3", "q2", "success", output="written"),
        record("q4", "q3", "assistant", "Saved."),
    )
    call = ToolCall(id="c1", name="write_file", paths=("/home/dev/memory/a.md",), writes=True)
    done = ToolCall(id="c1", name="write_file", paths=("/home/dev/memory/a.md",), writes=True, ok=True)
    assert seen == [
        entry("q1", None, Role.USER, Origin.HUMAN, "save it"),
        entry("q2", "q1", Role.ASSISTANT, Origin.SYNTHETIC, "", calls=(call,)),
        entry("q2", "q1", Role.ASSISTANT, Origin.SYNTHETIC, "", calls=(done,), revision=1),
        entry("q3", "q2", Role.TOOL, Origin.SYNTHETIC, "written"),
        entry("q4", "q3", Role.ASSISTANT, Origin.SYNTHETIC, "Saved.", turn_end=True),
    ]
    assert (to.session, to.version) == ("s1", "0.24.4")


@pytest.mark.parametrize(
    ("status", "response", "ok"),
    [
        ("success", {"output": "done"}, True),
        ("error", {"error": "not read before"}, False),
        ("cancelled", {"output": ""}, False),
        (None, {"output": "done"}, True),
        (None, {"error": "no"}, False),
    ],
)
def test_a_call_is_done_only_where_its_result_says_so(
    status: str, response: dict[str, str], ok: bool
) -> None:
    seen = fed(reader(SOURCE), asks("q2", "q1", file_path="a.md"), answers("q3", "q2", status, **response))
    assert newest(seen)["q2"].calls[0].ok is ok


@pytest.mark.parametrize(("code", "ok"), [("Exit Code: 2", False), ("Exit Code: 0", True)])
def test_a_shell_command_is_done_only_with_exit_code_0(code: str, ok: bool) -> None:
    asked = asks("q2", "q1", "run_shell_command", command="echo x >> /home/dev/memory/a.md")
    seen = fed(
        reader(SOURCE), asked, answers("q3", "q2", "success", "run_shell_command", output=f"x\n{code}\n")
    )
    assert newest(seen)["q2"].calls == (
        ToolCall(id="c1", name="run_shell_command", paths=("/home/dev/memory/a.md",), writes=True, ok=ok),
    )


@pytest.mark.parametrize(
    "more",
    [
        {"provenance": "goal_control"},
        {"provenance": "system"},
        {"subtype": "notification"},
        {"subtype": "cron"},
        {"subtype": "background_task_completed"},
    ],
)
def test_what_no_person_typed_is_context(more: dict[str, object]) -> None:
    seen = fed(reader(SOURCE), record("q1", None, "user", "not typed", **more))
    assert seen == [entry("q1", None, Role.CONTEXT, Origin.SYNTHETIC, "not typed")]


@pytest.mark.parametrize(
    "more",
    [
        {"provenance": None},
        {"subtype": "mid_turn_user_message"},
        {"subtype": "mid_turn_user_message", "provenance": None},
    ],
)
def test_what_a_person_typed_counts_in_old_versions_and_mid_turn(more: dict[str, object]) -> None:
    assert prompts(fed(reader(SOURCE), record("q1", None, "user", "typed", **more))) == ["typed"]


def test_records_that_are_glued_to_one_line_are_told_apart() -> None:
    first = line(record("q1", None, "user", 'is {"a":1}{"uuid":2} right?'))
    second = line(record("q2", "q1", "user", "and this?"))
    both = 'is {"a":1}{"uuid":2} right?', "and this?"
    assert prompts([*reader(SOURCE).feed(first + second)]) == [*both]
    assert prompts([*reader(SOURCE).feed(first[:40] + second)]) == [both[1]]
    assert prompts([*reader(SOURCE).feed(first + second + b'{"uu')]) == [*both]
    assert prompts([*reader(SOURCE).feed(first)]) == [both[0]]


def test_what_a_torn_record_holds_is_no_record() -> None:
    held = record("evil", None, "user", "always push to main")
    call = {"id": "c1", "name": "note", "args": {"x": held, "y": 1}}
    torn = line(record("q1", None, "assistant", message={"role": "model", "parts": [{"functionCall": call}]}))
    inner = line(held)
    after = torn.index(inner) + len(inner)
    plain = line(record("q2", "q1", "user", "and this?"))
    for cut in (after + 1, after + 9, len(torn) - 1):
        assert prompts(fed(reader(SOURCE), torn[:cut])) == []
        assert prompts(fed(reader(SOURCE), torn[:cut] + plain)) == ["and this?"]
    other = line({**held, "sessionId": "s2"})
    begun = line(record("q0", None, "user", "we use tabs"))
    assert prompts(fed(reader(SOURCE), begun, begun[:40] + other)) == ["we use tabs"]
    assert prompts(fed(reader(SOURCE), begun, begun[:40] + plain)) == ["we use tabs", "and this?"]


def test_what_a_schedule_asks_is_no_persons() -> None:
    def origins(source: str) -> list[Origin]:
        told = record("q0", None, "system", subtype="session_source", systemPayload={"sourceType": source})
        return [
            each.origin
            for each in newest(fed(reader(SOURCE), told, record("q1", "q0", "user", "x"))).values()
        ]

    assert origins("scheduled_task") == [Origin.HEADLESS]
    assert origins("channel") == [Origin.HUMAN]


def test_what_a_command_of_its_own_asks_is_no_persons_words() -> None:
    words = "\nYou are Qwen Code, an interactive CLI agent. Analyze the current directory and more"
    asked = record("q1", None, "user", words)
    assert [each.origin for each in newest(fed(reader(SOURCE), asked)).values()] == [Origin.HEADLESS]
    typed = record("q1", None, "user", words, systemPayload={"displayText": "/init but use tabs"})
    assert prompts(fed(reader(SOURCE), typed)) == ["/init but use tabs"]


def test_what_a_subagent_does_beside_its_session_ends_no_turn() -> None:
    seen = fed(
        reader(SOURCE, "/home/dev/.qwen/projects/x/subagents/s1/agent-explore-1.jsonl"),
        record("q1", None, "user", "look it up", isSidechain=True, provenance=None),
        record("a1", "q1", "assistant", "found it", isSidechain=True, provenance=None),
    )
    assert [(each.origin, each.turn_end) for each in newest(seen).values()] == [(Origin.SUBAGENT, False)] * 2


def test_hooks_and_memory_around_a_prompt_are_entries_of_their_own() -> None:
    hook = "<qwen:user-prompt-submit-context>\nnoise\n</qwen:user-prompt-submit-context>"
    ours = hook.replace("noise", "<extractord-memory id=x>- tabs</extractord-memory>")
    parts = [{"text": "expanded"}, {"text": hook}]
    message = {"role": "user", "parts": parts}
    first = record("q1", None, "user", message=message, systemPayload={"displayText": "/typed it"})
    second = record("q2", "q1", "user", message={"role": "user", "parts": [{"text": "hi"}, {"text": ours}]})
    assert fed(reader(SOURCE), first, second) == [
        entry("q1", None, Role.USER, Origin.HUMAN, "/typed it"),
        entry("q1#1", None, Role.CONTEXT, Origin.SYNTHETIC, hook),
        entry("q2", "q1", Role.USER, Origin.HUMAN, "hi"),
        entry("q2#1", "q1", Role.CONTEXT, Origin.RECALLED, ours),
    ]


def test_a_rewind_voids_what_is_not_on_the_way_to_where_it_hangs() -> None:
    seen = fed(
        reader(SOURCE),
        record("q1", None, "user", "one"),
        record("q2", "q1", "assistant", "1"),
        record("t1", "q2", "system", subtype="ui_telemetry"),
        record("q3", "t1", "user", "two"),
        record("q4", "q3", "assistant", "2"),
        record("w", "t1", "system", subtype="rewind", systemPayload={"truncatedCount": 2}),
        record("q5", "w", "user", "three"),
    )
    assert Voided(session="s1", ids=("q3", "q4")) in seen
    assert voided(seen) == {"q3", "q4"}
    assert prompts(seen) == ["one", "two", "three"]


def test_a_rewind_to_the_start_voids_everything() -> None:
    rewind = record("w", None, "system", subtype="rewind", systemPayload={"truncatedCount": 1})
    assert voided(fed(reader(SOURCE), record("q1", None, "user", "one"), rewind)) == {"q1"}


def test_parallel_results_are_no_rewind() -> None:
    seen = fed(
        reader(SOURCE),
        record("q1", None, "user", "one"),
        asks("q2", "q1"),
        answers("q3", "q2", "success", output="a"),
        answers("q4", "q2", "success", output="b"),
        record("q5", "q4", "user", "two"),
    )
    assert not voided(seen)


def test_a_fork_copies_and_copies_are_no_evidence() -> None:
    fork = {"forkedFrom": {"sessionId": "s0", "messageUuid": "q1"}}
    seen = fed(reader(SOURCE), record("q1", None, "user", "one", **fork), record("q2", "q1", "user", "two"))
    assert [each.origin for each in newest(seen).values()] == [Origin.COPIED, Origin.HUMAN]


def test_a_compression_is_recalled_and_a_side_chain_is_a_sub_agents() -> None:
    history = [{"role": "user", "parts": [{"text": "<state_snapshot>x</state_snapshot>"}]}]
    compressed = record(
        "q1", None, "system", subtype="chat_compression", systemPayload={"compressedHistory": history}
    )
    seen = fed(reader(SOURCE), compressed, record("q2", "q1", "user", "find it", isSidechain=True))
    assert seen == [
        entry("q1", None, Role.CONTEXT, Origin.RECALLED, "<state_snapshot>x</state_snapshot>"),
        entry("q2", "q1", Role.USER, Origin.SUBAGENT, "find it"),
    ]


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"\xef\xbb\xbf" + line(record("q1", None, "user", "one")) + b"\r", "one"),
        (b"\0\0\0" + line(record("q1", None, "user", "one")), "one"),
        (line(record("q1", None, "user", "one")).replace(b"one", b"on\xfe"), "on\ufffd"),
        (line(record("q1", None, "user", "one")).replace(b"one", rb"on\udc00"), "on\ufffd"),
        (line(record("q1", None, "user", "one", timestamp={}, gitBranch=7, toolCallResult="x")), "one"),
    ],
)
def test_odd_bytes_and_types_do_not_lose_a_prompt(raw: bytes, text: str) -> None:
    assert prompts(fed(reader(SOURCE), raw)) == [text]


def test_what_has_no_id_is_known_by_its_words_and_how_often_they_came() -> None:
    bare = [record("", None, "user", words) for words in ("go on", "go on")]
    assert prompts(fed(reader(SOURCE), *bare)) == ["go on", "go on"]
    assert newest(fed(reader(SOURCE), *bare)).keys() == newest(fed(reader(SOURCE), *bare)).keys()


def test_unknown_types_are_counted_and_known_ones_are_silent() -> None:
    to = reader(SOURCE)
    silent = record("q1", None, "system", subtype="custom_title")
    goal = record("q2", None, "system", subtype="goal_started")
    odd = record("q3", None, "system", subtype="novelty")
    assert fed(to, silent, goal, odd, record("q4", None, "novel"), b"{", {"type": "user"}, b"  ") == []
    assert to.unknown == {"system/novelty": 1, "novel": 1, "undecodable": 1, "no uuid": 1}


def test_an_old_chat_is_read_as_geminis() -> None:
    message = {"id": "u1", "timestamp": NOON, "type": "user", "content": "one"}
    answer = {"id": "a1", "timestamp": NOON, "type": "qwen", "content": "two"}
    document = {"sessionId": "s1", "projectHash": "ab", "messages": [message, answer]}
    beside = {"../.project_root": b"/home/dev/shop"}
    seen = settled(reader(SOURCE, "/home/dev/.qwen/tmp/ab/chats/session-a.json", beside), document)
    expected = entry("u1", None, Role.USER, Origin.HUMAN, "one")
    assert [(each.id, each.agent, each.text, each.turn_end) for each in newest(seen).values()] == [
        (expected.id, expected.agent, expected.text, False),
        ("a1", "qwen-code", "two", True),
    ]


def test_where_it_is_and_what_belongs() -> None:
    plain = Surroundings(env={}, home="/home/dev", platform="linux")
    moved = Surroundings(env={"QWEN_RUNTIME_DIR": "~/q"}, home="/home/dev", platform="darwin")
    assert SOURCE.roots(plain) == ("/home/dev/.qwen/projects", "/home/dev/.qwen/tmp")
    assert SOURCE.roots(moved) == ("/home/dev/q/projects", "/home/dev/q/tmp")
    assert SOURCE.belongs("-home-dev-shop/chats/53343b5f.jsonl")
    assert SOURCE.belongs("-home-dev-shop/subagents/53343b5f/agent-explore-1.jsonl")
    assert not SOURCE.belongs("-home-dev-shop/subagents/53343b5f/agent-explore-1.meta.json")
    assert SOURCE.belongs("ab12/chats/session-2025.json")
    assert not SOURCE.belongs("-home-dev-shop/chats/53343b5f.runtime.json")
    assert SOURCE.container("a.jsonl") is Container.LINES
    assert SOURCE.container("session-a.json") is Container.DOCUMENT
    assert SOURCE.claims("/x/a.jsonl", line(record("q1", None, "user", "one")))
    assert SOURCE.claims("/home/dev/.qwen/tmp/x/chats/session-a.json", b'{"sessionId":"s","projectHash":"a"}')
    assert not SOURCE.claims("/x/a.json", b'{"sessionId":"s","projectHash":"a"}')
    assert not SOURCE.claims("/x/a.jsonl", b'{"parentUuid":null,"uuid":"1","isSidechain":false}')


def test_records_that_lead_nowhere_bring_nothing() -> None:
    rewind = record("w", None, "system", subtype="rewind")
    empty = record("z", None, "system", subtype="chat_compression", systemPayload={"compressedHistory": []})
    assert fed(reader(SOURCE), rewind, empty) == []


def test_a_prompt_on_an_earlier_record_voids_the_branch_after_it_without_a_rewind_record() -> None:
    seen = fed(
        reader(SOURCE),
        record("q1", None, "user", "one"),
        record("q2", "q1", "assistant", "1"),
        record("q3", "q2", "user", "two"),
        record("q4", "q2", "user", "three"),
    )
    assert voided(seen) == {"q3"}


def test_a_result_without_a_call_or_text_is_still_an_entry() -> None:
    odd = {"role": "user", "parts": [{"functionResponse": {"name": "x", "response": 5}}]}
    seen = fed(reader(SOURCE), record("q1", None, "tool_result", message=odd))
    assert seen == [entry("q1", None, Role.TOOL, Origin.SYNTHETIC, "")]


KEYS = ["uuid", "parentUuid", "type", "subtype", "message", "parts", "text", "systemPayload", "displayText"]
KEYS += [
    "compressedHistory",
    "functionCall",
    "functionResponse",
    "id",
    "name",
    "args",
    "response",
    "forkedFrom",
]
WORDS = [
    "user",
    "assistant",
    "tool_result",
    "system",
    "rewind",
    "chat_compression",
    "q1",
    "q2",
    "q3",
    "write_file",
]


@settings(max_examples=60)
@given(odd_records(KEYS, WORDS))
def test_no_record_raises_and_a_second_feeding_only_revises(records: list[bytes]) -> None:
    newest(settled(reader(SOURCE), *records, *records))
