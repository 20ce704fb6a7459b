from __future__ import annotations

from datetime import UTC, datetime

import pytest
from feeding import fed, line, newest, odd_records, prompts, reader, settled, voided
from hypothesis import given, settings

from extractord.core.records import Entry, Origin, Role, Seen, ToolCall, Voided
from extractord.core.transcripts.gemini_cli import SOURCE
from extractord.core.transcripts.source import Container, Surroundings

META = {"sessionId": "s1", "projectHash": "ab" * 32, "startTime": "2026-11-30T12:00:00.000Z", "kind": "main"}
NOON = "2026-11-30T12:00:00.000Z"
BESIDE = {"../.project_root": b"/home/dev/shop\n"}
CONTEXT_ID = "d04923d38bb0f6017037e74183378ef4"


def user(ident: str, text: str, **more: object) -> dict[str, object]:
    return {"id": ident, "timestamp": NOON, "type": "user", "content": [{"text": text}], **more}


def model(ident: str, text: str, **more: object) -> dict[str, object]:
    return {"id": ident, "timestamp": NOON, "type": "gemini", "content": text, "tokens": {"total": 3}, **more}


def entry(ident: str, role: Role, origin: Origin, text: str, **more: object) -> Entry:
    return Entry(
        id=ident,
        agent="gemini-cli",
        session="s1",
        role=role,
        origin=origin,
        text=text,
        time=datetime(2026, 11, 30, 12, tzinfo=UTC),
        cwd="/home/dev/shop",
        **more,  # type: ignore[arg-type]
    )


def said(*records: object) -> list[Seen]:
    return settled(reader(SOURCE, beside=BESIDE), META, *records)


def write_call(status: str = "success") -> dict[str, object]:
    response = {"functionResponse": {"id": "c1", "name": "write_file", "response": {"output": "written"}}}
    args = {"file_path": "../memory/a.md", "content": "x"}
    return {"id": "c1", "name": "write_file", "args": args, "status": status, "result": [response]}


def test_an_answer_ends_the_turn_once_a_prompt_or_rest_shows_that_no_call_followed() -> None:
    seen = said(user("u1", "use tabs"), model("g1", "Noted."), user("u2", "and spaces"), model("g2", "Fine."))
    assert seen == [
        entry("u1", Role.USER, Origin.HUMAN, "use tabs"),
        entry("g1", Role.ASSISTANT, Origin.SYNTHETIC, "Noted."),
        entry("g1", Role.ASSISTANT, Origin.SYNTHETIC, "Noted.", revision=1, turn_end=True),
        entry("u2", Role.USER, Origin.HUMAN, "and spaces"),
        entry("g2", Role.ASSISTANT, Origin.SYNTHETIC, "Fine."),
        entry("g2", Role.ASSISTANT, Origin.SYNTHETIC, "Fine.", revision=1, turn_end=True),
    ]


def test_a_message_again_with_its_tool_calls_is_a_revision_and_its_result_comes_once() -> None:
    answer = {"functionResponse": {"id": "c1", "name": "write_file", "response": {"output": "written"}}}
    seen = said(
        model("g1", "I will write it."),
        {"$set": {"lastUpdated": NOON}},
        model("g1", "I will write it.", toolCalls=[write_call()]),
        {"id": "u1", "timestamp": NOON, "type": "user", "content": [answer]},
    )
    call = ToolCall(id="c1", name="write_file", paths=("/home/dev/memory/a.md",), writes=True, ok=True)
    assert seen == [
        entry("g1", Role.ASSISTANT, Origin.SYNTHETIC, "I will write it."),
        entry("g1", Role.ASSISTANT, Origin.SYNTHETIC, "I will write it.", revision=1, calls=(call,)),
        entry("c1/result", Role.TOOL, Origin.SYNTHETIC, "written"),
    ]


@pytest.mark.parametrize(
    ("status", "ok"), [("success", True), ("error", False), ("cancelled", False), ("x", None)]
)
def test_a_call_is_done_only_where_its_status_says_so(status: str, ok: bool | None) -> None:
    seen = said(model("g1", "", toolCalls=[write_call(status)]))
    assert newest(seen)["g1"].calls[0].ok is ok


@pytest.mark.parametrize(("code", "ok"), [("Exit Code: 1", False), ("Exit Code: 0", True), ("no code", True)])
def test_a_shell_command_is_done_only_with_exit_code_0(code: str, ok: bool) -> None:
    result = [{"functionResponse": {"response": {"output": f"Output: x\n{code}\nProcess Group PGID: 1"}}}]
    args = {"command": "echo x > a.md", "directory": "docs"}
    call = {"id": "c1", "name": "run_shell_command", "args": args, "status": "success", "result": result}
    assert newest(said(model("g1", "", toolCalls=[call])))["g1"].calls == (
        ToolCall(id="c1", name="run_shell_command", paths=("/home/dev/shop/docs/a.md",), writes=True, ok=ok),
    )


def test_a_read_names_its_file_and_writes_nothing() -> None:
    call = {"id": "c1", "name": "read_file", "args": {"file_path": "README.md"}, "status": "success"}
    assert newest(said(model("g1", "", toolCalls=[call])))["g1"].calls == (
        ToolCall(id="c1", name="read_file", paths=("/home/dev/shop/README.md",), ok=True),
    )


def test_a_rewind_voids_the_message_and_all_after_it() -> None:
    seen = said(user("u1", "one"), model("g1", "1"), user("u2", "two"), model("g2", "2"), {"$rewindTo": "u2"})
    assert seen[-1] == Voided(session="s1", ids=("u2", "g2"))
    assert "u1" not in voided(seen)


def test_a_rewind_to_an_unknown_message_voids_everything() -> None:
    assert voided(said(user("u1", "one"), model("g1", "1"), {"$rewindTo": "nowhere"})) == {"u1", "g1"}


def test_a_resume_repeats_the_list_and_says_nothing_anew() -> None:
    before = [user("u1", "one"), model("g1", "1", toolCalls=[write_call()]), model("g2", "done")]
    again = [
        user("u1", "one"),
        {"id": "g1", "type": "gemini", "content": [{"functionCall": {"id": "c1", "name": "write_file"}}]},
        {
            "id": "g1",
            "type": "user",
            "content": [{"functionResponse": {"id": "c1", "response": {"output": "w"}}}],
        },
        {"id": "g2", "type": "gemini", "content": [{"text": "hm", "thought": True}, {"text": "done"}]},
    ]
    seen = said(
        *before, META, {"$set": {"messages": again[:1]}}, {"$set": {"messages": again}}, user("u2", "two")
    )
    assert prompts(seen) == ["one", "two"]
    assert newest(seen)["g1"].calls[0].ok is True
    assert newest(seen)["g2"].turn_end
    assert not voided(seen)


def test_a_compression_gives_new_ids_that_are_not_said_again_and_a_snapshot_that_is_recalled() -> None:
    anew = [
        user("n1", "<scratchpad>hm</scratchpad>\n<state_snapshot>goal: tabs</state_snapshot>"),
        model("n2", "Got it. Thanks for the additional context!"),
        user("n3", "one"),
    ]
    twice = [anew[0], anew[1], user("n4", "one")]
    seen = said(
        user("u1", "one"), model("g1", "1"), {"$set": {"messages": anew}}, {"$set": {"messages": twice}}
    )
    assert prompts(seen) == ["one"]
    assert newest(seen)["n1"].origin is Origin.RECALLED
    assert newest(seen)["n1"].role is Role.CONTEXT


def test_a_note_of_what_was_cut_off_is_recalled_with_the_prompt_that_it_came_before() -> None:
    note = "### [System Note: Conversation History Truncated]\nPrior context was offloaded."
    merged = {**user("n1", ""), "content": [{"text": note}, {"text": "one"}]}
    seen = said(user("u1", "one"), model("g1", "1"), {"$set": {"messages": [merged]}}, user("u2", "two"))
    assert prompts(seen) == ["one", "two"]
    assert newest(seen)["n1"] == entry("n1", Role.CONTEXT, Origin.RECALLED, f"{note}\none")


def test_a_rewind_after_a_compression_reaches_what_was_said_before_it() -> None:
    anew = [user("n1", "<state_snapshot>x</state_snapshot>"), user("n2", "one")]
    seen = said(user("u1", "one"), {"$set": {"messages": anew}}, {"$rewindTo": "n2"})
    assert voided(seen) == {"u1"}


@pytest.mark.parametrize(
    "text",
    [
        "<session_context>\nToday is\n</session_context>",
        "This is the Gemini CLI. We are setting up the context for our chat.",
        "System: Please continue.",
        "Please continue.",
        "System: Potential loop detected. Details: the same call. Please take a step back",
        "[System: You previously returned an empty response with no text or thoughts. Please go on]",
        "Background execution update:\n<background_output>\nalways use tabs\n</background_output>",
        "User hints:\n<user_input>\n<background_output>\n</user_input>\nInternal instruction: x",
        "I ran the following shell command:\n```sh\nls\n```",
        "Here is the user's editor context as a JSON object.",
        "User has manually exited Plan Mode. Switching to Default mode (edits will require confirmation).",
        "- **Workspace Directories:**\n  - /home/dev/shop\n- **Directory Structure:**\n\nx",
    ],
)
def test_what_the_agent_writes_as_the_user_is_not_the_person(text: str) -> None:
    seen = said(user("u1", text))
    assert seen == [entry("u1", Role.CONTEXT, Origin.SYNTHETIC, text)]


def test_a_message_with_a_derived_id_is_the_agents_own_and_kept_apart_by_session() -> None:
    seen = said({"$set": {"messages": [user(CONTEXT_ID, "anything at all")]}})
    assert seen == [entry(f"s1/{CONTEXT_ID}", Role.CONTEXT, Origin.SYNTHETIC, "anything at all")]


def test_what_a_command_of_its_own_asks_is_no_persons_words() -> None:
    words = (
        "\nYou are an AI agent that brings the power of Gemini directly into the terminal. "
        "Your task is to analyze the current directory and more"
    )
    assert [each.origin for each in newest(said(user("u1", words))).values()] == [Origin.HEADLESS]


@pytest.mark.parametrize(
    "text",
    [
        "why does it say System: Please continue. so often?",
        "Please continue. And use tabs.",
        "User hints: they are ignored",
    ],
)
def test_a_person_who_writes_about_the_agents_phrases_is_still_the_person(text: str) -> None:
    assert prompts(said(user("u1", text))) == [text]


@pytest.mark.parametrize(
    ("told", "hint"),
    [
        ("User steering update:\n<user_input>\nuse tabs, not spaces\n</user_input>", "use tabs, not spaces"),
        ("User hints:\n<user_input>\n- use tabs\n- no spaces\n</user_input>", "use tabs\n- no spaces"),
    ],
)
def test_what_a_person_says_to_an_agent_at_work_is_taken_out_of_its_wrapping(told: str, hint: str) -> None:
    told += "\n\nInternal instruction: Re-evaluate the active plan."
    assert prompts(said(user("u1", told))) == [hint]


def test_memory_and_hooks_and_files_around_a_prompt_are_entries_of_their_own() -> None:
    file = "--- Content from referenced files ---\n--- End of content ---\npoison\n--- End of content ---"
    hook = "<hook_context>from a hook</hook_context>"
    memory = "<extractord-memory id=x>- tabs</extractord-memory>"
    parts = [{"text": each} for each in ("look at @a.md", file, hook, "and here", memory, "too")]
    seen = said({**user("u1", ""), "content": parts})
    assert [(each.id, each.role, each.origin, each.text) for each in newest(seen).values()] == [
        ("u1", Role.USER, Origin.HUMAN, "look at @a.md\nand here\ntoo"),
        ("u1#1", Role.CONTEXT, Origin.SYNTHETIC, file),
        ("u1#2", Role.CONTEXT, Origin.SYNTHETIC, hook),
        ("u1#3", Role.CONTEXT, Origin.RECALLED, memory),
    ]


def test_memory_that_a_hook_injects_is_recalled_even_without_an_end() -> None:
    hook = "<hook_context><extractord-memory id=x>- tabs"
    seen = said({**user("u1", ""), "content": [{"text": "hello"}, {"text": hook}]})
    assert [(each.origin, each.text) for each in newest(seen).values()] == [
        (Origin.HUMAN, "hello"),
        (Origin.RECALLED, hook),
    ]


def test_what_was_typed_is_preferred_to_what_it_expanded_to() -> None:
    expanded = user("u1", "You are an agent that writes docs.", displayContent=[{"text": "/init"}])
    answer = user("u2", "go on", displayContent=[{"functionResponse": {"id": "c9", "response": {}}}])
    assert prompts(said(expanded, answer)) == ["/init", "go on"]


def test_what_an_editor_hands_along_is_not_typed() -> None:
    context = "--- Content from referenced context ---\n\nContent from @file:///a.md:\n\nuse spaces"
    parts = [{"text": "look at this"}, {"text": f"\n{context}"}]
    seen = said({**user("u1", ""), "content": parts})
    assert [(each.role, each.origin, each.text) for each in newest(seen).values()] == [
        (Role.USER, Origin.HUMAN, "look at this"),
        (Role.CONTEXT, Origin.SYNTHETIC, context),
    ]


def test_why_a_hook_had_the_agent_go_on_is_not_the_prompt_once_more() -> None:
    records = [
        user("u1", "fix the shop"),
        model("g1", "Done."),
        user("u2", "The tests fail.", displayContent=[{"text": "fix the shop"}]),
        model("g2", "Fixed."),
        user("u3", "The linter fails.", displayContent=[{"text": "fix the shop"}]),
    ]
    seen = newest(said(*records))
    assert [(each.role, each.text) for each in seen.values()] == [
        (Role.USER, "fix the shop"),
        (Role.ASSISTANT, "Done."),
        (Role.CONTEXT, "The tests fail."),
        (Role.ASSISTANT, "Fixed."),
        (Role.CONTEXT, "The linter fails."),
    ]
    assert seen["u2"].origin is Origin.SYNTHETIC


def test_a_prompt_that_is_typed_again_counts_again() -> None:
    records = [
        user("u1", "Commit: one change", displayContent=[{"text": "/commit"}]),
        user("u2", "Commit: two changes", displayContent=[{"text": "/commit"}]),
        user("u3", "fix @a.md and more", displayContent=[{"text": "fix @a.md"}]),
        user("u4", "fix @a.md and less", displayContent=[{"text": "fix @a.md"}]),
    ]
    assert prompts(said(*records)) == ["/commit", "/commit", "fix @a.md", "fix @a.md"]
    document = {**META, "messages": records}
    to = reader(SOURCE, beside=BESIDE)
    assert len(fed(to, document)) == 4
    assert fed(to, document) == []


def test_a_cancelled_request_and_an_error_end_the_turn_and_a_notice_does_not() -> None:
    notices = [
        {"id": "i1", "timestamp": NOON, "type": "info", "content": "Model set to x"},
        {"id": "i2", "timestamp": NOON, "type": "info", "content": "Request cancelled."},
        {"id": "i3", "timestamp": NOON, "type": "error", "content": "API Error"},
        {"id": "i4", "timestamp": NOON, "type": "info", "content": ""},
    ]
    assert said(*notices) == [
        entry("i1", Role.CONTEXT, Origin.SYNTHETIC, "Model set to x"),
        entry("i2", Role.CONTEXT, Origin.SYNTHETIC, "Request cancelled.", turn_end=True),
        entry("i3", Role.CONTEXT, Origin.SYNTHETIC, "API Error", turn_end=True),
    ]


def test_a_document_and_its_op_log_have_the_same_entries() -> None:
    messages = [user("u1", "one"), model("g1", "", toolCalls=[write_call()]), model("g2", "done")]
    document = settled(reader(SOURCE, "/t/session-x.json", BESIDE), {**META, "messages": messages})
    assert newest(document) == newest(said(*messages))


def test_a_document_that_grows_tells_only_what_is_new_and_voids_what_is_gone() -> None:
    to = reader(SOURCE, "/t/session-x.json", BESIDE)
    fed(to, {**META, "messages": [user("u1", "one"), user("u2", "two")]})
    assert fed(to, {**META, "messages": [user("u1", "one"), user("u3", "three")]}) == [
        Voided(session="s1", ids=("u2",)),
        entry("u3", Role.USER, Origin.HUMAN, "three"),
    ]


def test_half_a_document_yields_nothing_and_is_counted() -> None:
    to = reader(SOURCE, "/t/session-x.json")
    assert settled(to, line({**META, "messages": [user("u1", "one")]})[:-40]) == []
    assert to.unknown == {"undecodable": 1}


@pytest.mark.parametrize("path", ["/t/tmp/x/chats/parent/child.jsonl", "/t/session-x.jsonl"])
def test_a_sub_agent_is_known_by_its_kind_or_its_folder(path: str) -> None:
    kind = "main" if "parent" in path else "subagent"
    seen = settled(reader(SOURCE, path), {**META, "kind": kind}, user("u1", "find the bug"))
    assert [each.origin for each in newest(seen).values()] == [Origin.SUBAGENT]


def test_the_cwd_is_the_projects_root_or_the_first_directory_or_the_workspace() -> None:
    shown = "<session_context>\n- **Workspace Directories:**\n  - /home/dev/c\n</session_context>"
    settings_by_cwd = {
        "/home/dev/a": (reader(SOURCE, beside={"../../.project_root": b"/home/dev/a"}), META),
        "/home/dev/b": (reader(SOURCE), {**META, "directories": ["/home/dev/b", "/x"]}),
        "/home/dev/c": (reader(SOURCE), {**META, "directories": None}),
    }
    for cwd, (to, meta) in settings_by_cwd.items():
        seen = fed(to, meta, user(CONTEXT_ID, shown), user("u1", "one"))
        assert newest(seen)["u1"].cwd == cwd


@pytest.mark.parametrize(
    ("record", "text"),
    [
        (b"\xef\xbb\xbf" + line(user("u1", "one")) + b"\r", "one"),
        (b"\0\0" + line(user("u1", "one")), "one"),
        (line(user("u1", "one")).replace(b"one", b"on\xff"), "on\ufffd"),
        (line(user("u1", "one")).replace(b"one", rb"on\ud800"), "on\ufffd"),
        (line({**user("u1", "one"), "timestamp": [1], "toolCalls": "no"}), "one"),
    ],
)
def test_odd_bytes_and_types_do_not_lose_a_prompt(record: bytes, text: str) -> None:
    assert prompts(said(record)) == [text]


def test_unknown_types_are_counted() -> None:
    to = reader(SOURCE)
    assert fed(to, {"id": "x", "type": "novelty"}, b"", b"[]", b"{torn", {"type": "user"}) == []
    assert to.unknown == {"novelty": 1, "undecodable": 2, "no id": 1}


def test_memory_tools_of_ours_are_recalled_and_others_are_not() -> None:
    calls = [
        {
            "id": "c1",
            "name": "mcp_extractord_memory_search",
            "status": "success",
            "result": {"output": "tabs"},
        },
        {"id": "c2", "name": "read_file", "status": "success", "result": {"output": "tabs"}},
    ]
    entries = newest(said(model("g1", "", toolCalls=calls)))
    assert (entries["c1/result"].origin, entries["c2/result"].origin) == (Origin.RECALLED, Origin.SYNTHETIC)


def test_a_result_nested_past_all_sense_is_left_alone() -> None:
    deep = (
        b'{"id":"g1","type":"gemini","content":"x","toolCalls":[{"id":"c1","result":'
        + b"[" * 400
        + b"]" * 400
        + b"}]}"
    )
    assert [each.text for each in newest(said(deep)).values()] == ["x"]


def test_huge_output_keeps_head_and_tail() -> None:
    call = {"id": "c1", "name": "x", "status": "success", "result": "a" * 100_000 + "z"}
    text = newest(said(model("g1", "", toolCalls=[call])))["c1/result"].text
    assert len(text) < 66_000
    assert text.startswith("aaa")
    assert text.endswith("az")
    assert "left out" in text


def test_where_it_is_and_what_belongs() -> None:
    plain = Surroundings(env={}, home="/home/dev", platform="linux")
    moved = Surroundings(env={"GEMINI_CLI_HOME": "/data"}, home="/home/dev", platform="darwin")
    assert SOURCE.roots(plain) == ("/home/dev/.gemini/tmp",)
    assert SOURCE.roots(moved) == ("/data/.gemini/tmp",)
    assert SOURCE.belongs("shop/chats/session-2026-11-30T11-55-1fedc05c.jsonl")
    assert SOURCE.belongs("shop/chats/session-2026-11-30T11-55-1fedc05c.json")
    assert SOURCE.belongs("shop/chats/parent-id/child.jsonl")
    assert not SOURCE.belongs("shop/logs.json")
    assert not SOURCE.belongs("shop/chats/session-a.jsonl.unreadable-1")
    assert SOURCE.container("a.jsonl") is Container.LINES
    assert SOURCE.container("a.json") is Container.DOCUMENT
    assert SOURCE.family("session-a.json") == "session-a.json*"
    assert SOURCE.family("child.jsonl") is None
    assert SOURCE.claims("/x/a.jsonl", line(META))
    assert not SOURCE.claims("/home/dev/.qwen/tmp/x/chats/session-a.json", line(META))
    assert not SOURCE.claims("/x/a.jsonl", b'{"uuid":"1"}')


def test_a_rewind_before_anything_was_said_and_a_message_without_id_and_words_bring_nothing() -> None:
    to = reader(SOURCE)
    assert fed(to, META, {"$rewindTo": "u1"}, {"$set": {"messages": [{"type": "user"}]}}) == []
    assert to.unknown == {"no id": 1}


def test_messages_without_an_id_are_known_by_their_words_each_time_that_they_come() -> None:
    bare = [{"type": "user", "content": words} for words in ("go on", "go on", "stop")]
    log = said(*bare)
    assert prompts(log) == ["go on", "go on", "stop"]
    to = reader(SOURCE, "/home/dev/.gemini/tmp/x/chats/session-a.json")
    document = {**META, "messages": bare}
    assert newest(fed(to, document)).keys() == newest(log).keys()
    assert fed(to, document) == []


def test_a_content_that_is_one_part_is_its_text() -> None:
    assert prompts(said({**user("u1", ""), "content": {"text": "one"}})) == ["one"]


KEYS = [
    "id",
    "type",
    "content",
    "text",
    "toolCalls",
    "sessionId",
    "messages",
    "$set",
    "$rewindTo",
    "name",
    "args",
]
KEYS += [
    "functionResponse",
    "functionCall",
    "response",
    "status",
    "result",
    "displayContent",
    "kind",
    "timestamp",
]
WORDS = [
    "user",
    "gemini",
    "info",
    "error",
    "u1",
    "u2",
    "g1",
    "success",
    "write_file",
    "<state_snapshot>",
    CONTEXT_ID,
]


@settings(max_examples=60)
@given(odd_records(KEYS, WORDS))
def test_no_record_raises_and_a_second_feeding_only_revises(records: list[bytes]) -> None:
    to = reader(SOURCE)
    newest(settled(to, META, *records, META, *records))
