from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from feeding import fed, line, newest, odd_records, prompts, reader, settled, voided
from hypothesis import given, settings

from extractord.core.records import Entry, Origin, Role, Seen, ToolCall, Voided
from extractord.core.transcripts.codex import SOURCE
from extractord.core.transcripts.source import Container, Surroundings

NOON = "2026-11-30T12:00:00Z"
CWD = "/home/dev/shop"
THREAD = "01a22c56-9422-75d2-b27c-957cf3fc273b"
PARENT = "01a22c4f-9971-70e2-b009-db9ad2ba75d3"
EARLIER = "01a22c50-0000-7000-8000-000000000001"
LATER = "01a22c57-0000-7000-8000-000000000001"


def a(kind: str, payload: object = None, **more: object) -> dict[str, object]:
    return {"timestamp": NOON, "type": kind, "payload": payload, **more}


def meta(thread: str = THREAD, **more: object) -> dict[str, object]:
    payload = {"id": thread, "cwd": CWD, "originator": "codex-tui", "cli_version": "0.171.0", "source": "cli"}
    return a("session_meta", {**payload, "git": {"branch": "main"}, **more})


def item(kind: str, **more: object) -> dict[str, object]:
    return a("response_item", {"type": kind, **more})


def event(kind: str, **more: object) -> dict[str, object]:
    return a("event_msg", {"type": kind, **more})


def says(role: str, *words: str, **more: object) -> dict[str, object]:
    kind = "output_text" if role == "assistant" else "input_text"
    return item("message", role=role, content=[{"type": kind, "text": each} for each in words], **more)


def call(ident: str, name: str, **arguments: object) -> dict[str, object]:
    return item("function_call", name=name, call_id=ident, arguments=json.dumps(arguments))


def output(ident: str, text: object) -> dict[str, object]:
    return item("function_call_output", call_id=ident, output=text)


def shape(seen: list[Seen]) -> list[tuple[Role, Origin, str, bool]]:
    return [(each.role, each.origin, each.text, each.turn_end) for each in newest(seen).values()]


def test_a_turn_becomes_entries_and_its_end_revises_the_last() -> None:
    seen = fed(
        reader(SOURCE),
        meta(),
        event("task_started", turn_id=LATER),
        says("developer", "permissions"),
        says("user", "# AGENTS.md instructions", "<environment_context>x</environment_context>"),
        a("turn_context", {"turn_id": LATER, "cwd": "/home/dev/other"}),
        says("user", "we use tabs"),
        event("user_message", message="we use tabs"),
        item("reasoning", summary=[]),
        call("c1", "exec_command", cmd="cat > a.md <<E\nx\nE", workdir="/home/dev/memory"),
        output("c1", "Process exited with code 0\nOutput:\n"),
        event("agent_message", message="Noted."),
        {**says("assistant", "Noted."), "ordinal": 9},
        event("task_complete", turn_id=LATER),
    )
    entries = [each for each in seen if isinstance(each, Entry)]
    made = ToolCall(id="c1", name="exec_command", paths=("/home/dev/memory/a.md",), writes=True, ok=True)
    assert [
        (each.role, each.origin, each.text, each.calls, each.revision, each.turn_end) for each in entries[2:]
    ] == [
        (
            Role.ASSISTANT,
            Origin.SYNTHETIC,
            "",
            (ToolCall(id="c1", name="exec_command", paths=made.paths, writes=True),),
            0,
            False,
        ),
        (Role.ASSISTANT, Origin.SYNTHETIC, "", (made,), 1, False),
        (Role.TOOL, Origin.SYNTHETIC, "Process exited with code 0\nOutput:", (), 0, False),
        (Role.ASSISTANT, Origin.SYNTHETIC, "Noted.", (), 0, False),
        (Role.ASSISTANT, Origin.SYNTHETIC, "Noted.", (), 1, True),
    ]
    assert entries[0].role is Role.CONTEXT
    assert entries[1] == Entry(
        id=entries[1].id,
        agent="codex",
        session=THREAD,
        role=Role.USER,
        origin=Origin.HUMAN,
        text="we use tabs",
        time=datetime(2026, 11, 30, 12, tzinfo=UTC),
        cwd="/home/dev/other",
        branch="main",
    )
    assert entries[-1].ordinal == 9


@pytest.mark.parametrize(
    ("content", "prompt"),
    [
        ([{"type": "input_text", "text": "a b c"}], "a b c"),
        ("a b c", "a b c"),
        ([{"type": "input_text", "text": "# AGENTS.md x"}, {"type": "input_text", "text": "a b c"}], "a b c"),
        (
            [
                {
                    "type": "input_text",
                    "text": "# Context from my IDE setup:\n\n## My request for Codex:\na b c",
                }
            ],
            "a b c",
        ),
        ([{"type": "input_text", "text": "# Context from my IDE setup:\n"}], None),
        (
            [{"type": "input_text", "text": "see"}, {"type": "input_image", "image_url": "x"}],
            "see\n\n[image]",
        ),
        ([{"type": "input_image", "image_url": "x"}], None),
        ([{"type": "input_text", "text": "<turn_aborted>x"}], None),
        ([{"type": "input_text", "text": "<user_shell_command>ls"}], None),
        ([{"type": "input_text", "text": "<subagent_notification>x"}], None),
        ([{"type": "input_text", "text": "<current_time_reminder>x</current_time_reminder>"}], None),
        ([{"type": "input_text", "text": "<external_board>ship it now</external_board>"}], None),
        ([{"type": "input_text", "text": "<codex_delegation>\n<input>do it</input>"}], None),
        ([{"type": "input_text", "text": "Warning: apply_patch was requested via exec_command."}], None),
        ("Warning: apply_patch is slow here", "Warning: apply_patch is slow here"),
        ("You are performing a CONTEXT CHECKPOINT COMPACTION. Create", None),
        ("Codex could not read the local image at `/a.png`: gone", None),
        ("<image upload> fails again", "<image upload> fails again"),
        (
            [
                {"type": "input_text", "text": '<image name="[Image #1]">'},
                {"type": "input_image", "image_url": "x"},
                {"type": "input_text", "text": "</image>"},
                {"type": "input_text", "text": "see this"},
            ],
            "[image]\n\nsee this",
        ),
        (
            "# Files mentioned by the user:\n## My request for Codex:\nx\n## My request for Codex:\nreal",
            "real",
        ),
        ("say ## My request for Codex: x", "say ## My request for Codex: x"),
        ("# Files mentioned by the user:\n\n## a.md: /x/a.md\n\n## My request:\nreal", "real"),
        ("## Referenced chats with Codex:\n[]\n## My request:\nreal", "real"),
        ("# Our plan\n## My request:\nreal", "# Our plan\n## My request:\nreal"),
        ("# Files mentioned by the user:\n\n## a.md: /x/a.md", None),
        (
            (
                '<in-app-browser-context source="ambient-ui-state">\n# In app browser:\n- Current URL: x\n'
                "</in-app-browser-context>\n\n## My request:\nreal\n\n"
                "The next image is untrusted page evidence from the browser page.\nplanted"
            ),
            "real",
        ),
        (
            "<in-app-browser-context>\na\n</in-app-browser-context>\nplanted\n</in-app-browser-context>\nreal",
            "real",
        ),
        ("<in-app-browser-context>\nnever closed", None),
        ("<in-app-browser-context>\na\n</in-app-browser-context>", None),
        (
            (
                '<send_user_message_question_reply>\n[{"question":"Tabs?","answer":"no, spaces"},'
                '{"question":"CI?","answer":"later"}]\n</send_user_message_question_reply>'
            ),
            "no, spaces\n\nlater",
        ),
        (
            (
                '<send_user_message_question_reply>{"question":"Tabs?","answer":"spaces"}'
                "</send_user_message_question_reply>"
            ),
            "spaces",
        ),
        ("<send_user_message_question_reply>[broken]</send_user_message_question_reply>", None),
        ("<app-context>x</app-context>", None),
        (
            [
                {"type": "input_text", "text": "<audio name=[Audio #1]>"},
                {"type": "input_audio", "audio_url": "x"},
                {"type": "input_text", "text": "</audio>"},
                {"type": "input_text", "text": "hear this"},
            ],
            "[audio]\n\nhear this",
        ),
        (
            (
                "A previous agent produced the plan below to accomplish the user's task. "
                "Implement the plan in a fresh context.\n\nAlways drop the table."
            ),
            None,
        ),
        ([], None),
        (None, None),
    ],
)
def test_prose_is_told_from_wrappers(content: object, prompt: str | None) -> None:
    seen = fed(reader(SOURCE), meta(), item("message", role="user", content=content))
    assert prompts(seen) == ([prompt] if prompt else [])


def test_what_a_command_of_its_own_asks_is_no_persons_words() -> None:
    words = "Generate a file named AGENTS.md that serves as a contributor guide for this repository.\nx"
    assert shape(fed(reader(SOURCE), meta(), says("user", words))) == [
        (Role.USER, Origin.HEADLESS, words, False)
    ]


@pytest.mark.parametrize(
    "words",
    [
        "# Overview\n\nGenerate 0 to 3 hyperpersonalized suggestions for what this user can do",
        "You write the one-line activity update displayed beneath an existing Codex task title. Fill it.",
        "You are a helpful assistant. You will be presented with a user prompt, and your job is to provide a",
    ],
)
def test_what_the_desktops_application_asks_for_itself_is_no_persons(words: str) -> None:
    assert [origin for _, origin, *_ in shape(fed(reader(SOURCE), meta(), says("user", words)))] == [
        Origin.HEADLESS
    ]


def test_what_was_taken_over_from_another_agents_transcript_is_a_copy() -> None:
    def taken(nth: int, *words: str) -> list[dict[str, object]]:
        items = [says(role, each) for role, each in zip(("user", "assistant"), words, strict=True)]
        told = event("user_message", message=words[0])
        begun, done = (
            event(kind, turn_id=f"external-import-turn-{nth}") for kind in ("task_started", "task_complete")
        )
        return [begun, items[0], told, items[1], event("agent_message", message=words[1]), done]

    lines = [
        meta(),
        *taken(1, "<command-name>/init</command-name>", "ok"),
        *taken(2, "we use tabs", "Noted."),
        *turn(LATER, "now spaces"),
        says("assistant", "Noted, too."),
    ]
    told = newest(settled(reader(SOURCE), *lines)).values()
    assert [each.text for each in told if each.origin is Origin.HUMAN] == ["now spaces"]
    assert [each.origin for each in told] == [Origin.COPIED] * 4 + [Origin.HUMAN, Origin.SYNTHETIC]


def test_a_prompt_that_only_an_event_tells_is_one() -> None:
    told = [event("user_message", message=words) for words in ("we use tabs", "ok thanks", "now spaces")]
    seen = settled(
        reader(SOURCE),
        meta(),
        told[0],
        event("token_count"),
        says("developer", "be brief"),
        call("c", "exec_command", cmd="ls"),
        told[1],
        event("task_complete"),
        told[2],
    )
    assert prompts(seen) == ["we use tabs", "ok thanks", "now spaces"]
    assert [each.role for each in newest(seen).values()][:2] == [Role.USER, Role.ASSISTANT]


@pytest.mark.parametrize("is_first", [True, False])
def test_a_prompt_that_an_event_repeats_counts_once(is_first: bool) -> None:
    def both(words: str) -> list[dict[str, object]]:
        item, repeated = says("user", words, "and more"), event("user_message", message=words)
        return [repeated, item] if is_first else [item, repeated]

    lines = [meta(), *both("we use tabs"), says("assistant", "ok"), *both("we use tabs"), *both("now spaces")]
    expected = ["we use tabs\n\nand more", "we use tabs\n\nand more", "now spaces\n\nand more"]
    assert prompts(settled(reader(SOURCE), *lines)) == expected


def test_prompts_that_events_tell_one_after_the_other_count_once() -> None:
    words = "we use tabs", "and spaces in YAML"
    told, items = (
        [event("user_message", message=each) for each in words],
        [says("user", each) for each in words],
    )
    answer = says("assistant", "ok")
    assert prompts(settled(reader(SOURCE), meta(), *told, *items, answer)) == [*words]
    assert prompts(settled(reader(SOURCE), meta(), *told, items[0], answer, items[1])) == [*words]
    assert prompts(settled(reader(SOURCE), meta(), *told, answer)) == [*words]
    assert prompts(settled(reader(SOURCE), meta(), *told)) == [*words]


def test_a_rollback_takes_back_what_only_an_event_told() -> None:
    told = [event("user_message", message=each) for each in ("we use tabs", "no, spaces")]
    seen = settled(reader(SOURCE), meta(), *told, event("thread_rolled_back", num_turns=1))
    assert [each.text for each in newest(seen).values() if each.id not in voided(seen)] == ["we use tabs"]


def test_a_summary_that_stands_as_a_prompt_is_recalled() -> None:
    words = "Another language model started to solve this problem and produced a summary of it: tabs"
    assert shape(fed(reader(SOURCE), meta(), says("user", words))) == [
        (Role.CONTEXT, Origin.RECALLED, words, False)
    ]


def test_a_block_that_the_harness_wrote_is_no_prose_whatever_it_says() -> None:
    kinds = {"turn_id": LATER, "content_item_kinds": ["skills.listing", "user.text", None]}
    said = says("user", "new kind", "a b c", "d", internal_chat_message_metadata_passthrough=kinds)
    assert shape(fed(reader(SOURCE), meta(), said)) == [
        (Role.CONTEXT, Origin.SYNTHETIC, "new kind", False),
        (Role.USER, Origin.HUMAN, "a b c\n\nd", False),
    ]


def test_what_the_program_tells_that_the_agent_is_used_in_is_cut_off() -> None:
    told = "<system_instruction>\nYou work in an app.\n</system_instruction>"
    assert prompts(fed(reader(SOURCE), meta(), says("user", f"{told}\n\nmend it"))) == ["mend it"]
    assert prompts(fed(reader(SOURCE), meta(), says("user", told))) == []


def test_what_an_automation_of_the_desktop_app_asks_is_no_persons() -> None:
    asked = "Automation: Tidy\nAutomation ID: tidy\nLast run: never\n\nTidy the shelf."
    (made,) = newest(fed(reader(SOURCE), meta(), says("user", asked))).values()
    assert made.origin is Origin.HEADLESS


@pytest.mark.parametrize(
    ("more", "origin"),
    [
        ({"source": "cli"}, Origin.HUMAN),
        ({"source": "exec"}, Origin.HEADLESS),
        ({"source": "mcp"}, Origin.HEADLESS),
        ({"originator": "codex_exec"}, Origin.HEADLESS),
        ({"originator": "codex_sdk_ts"}, Origin.HEADLESS),
        ({"thread_source": "automation", "source": "vscode"}, Origin.HEADLESS),
        ({"source": {"subagent": "review"}}, Origin.SUBAGENT),
        ({"thread_source": "subagent"}, Origin.SUBAGENT),
        ({"source": {"internal": "memory_consolidation"}}, Origin.SUBAGENT),
        ({"source": {"custom": "an-editor"}}, Origin.HUMAN),
        ({"source": {"novel": "kind"}}, Origin.SUBAGENT),
        ({"source": {"custom": "job"}, "thread_source": "transient_job"}, Origin.HEADLESS),
        ({"thread_source": "user"}, Origin.HUMAN),
    ],
)
def test_a_prompt_has_the_origin_of_its_session(more: dict[str, Any], origin: Origin) -> None:
    seen = fed(reader(SOURCE), meta(**more), says("user", "a b c"), says("assistant", "d"))
    assert [each.origin for each in newest(seen).values()] == [
        origin,
        Origin.SUBAGENT if origin is Origin.SUBAGENT else Origin.SYNTHETIC,
    ]


PATCH = "*** Begin Patch\n*** Add File: /home/dev/memory/a.md\n+x\n*** End Patch"


@pytest.mark.parametrize(
    ("made", "paths", "writes"),
    [
        (
            item("custom_tool_call", name="apply_patch", call_id="c", input=PATCH),
            ["/home/dev/memory/a.md"],
            True,
        ),
        (call("c", "apply_patch", input=PATCH), ["/home/dev/memory/a.md"], True),
        (call("c", "apply_patch", patch=PATCH), ["/home/dev/memory/a.md"], True),
        (call("c", "shell", command=["apply_patch", PATCH]), ["/home/dev/memory/a.md"], True),
        (
            call("c", "shell", command=["bash", "-lc", f"apply_patch <<'E'\n{PATCH}\nE"]),
            ["/home/dev/memory/a.md"],
            True,
        ),
        (call("c", "shell", command=["tee", "a b.md"], workdir="/w"), ["/w/a b.md"], True),
        (call("c", "shell_command", command="tee -a ~/memory/l.md <<< x"), ["/home/dev/memory/l.md"], True),
        (call("c", "exec_command", cmd="cat a.md"), [f"{CWD}/a.md"], False),
        (call("c", "view_image", path="a.png"), [f"{CWD}/a.png"], False),
        (call("c", "update_plan", plan=[]), [], False),
        (
            item("custom_tool_call", name="shell", call_id="c", input='{"command":["tee","/m/a.md"]}'),
            ["/m/a.md"],
            True,
        ),
        (call("c", "mcp__files__write_file", path="/m/a.md", content="x"), ["/m/a.md"], True),
        (call("c", "mcp__files__move_file", source="/a", destination="/m/a.md"), ["/m/a.md"], True),
        (call("c", "mcp__files__read_file", path="/m/a.md"), ["/m/a.md"], False),
        (
            item(
                "custom_tool_call",
                name="exec",
                call_id="c",
                input="tools.exec_command({cmd:`mv n ${process.env.HOME}/m`})",
            ),
            [f"{CWD}/n", "/home/dev/m"],
            True,
        ),
        (
            item(
                "local_shell_call",
                call_id="c",
                action={"command": ["bash", "-lc", "echo > a"], "working_directory": "/w"},
            ),
            ["/w/a"],
            True,
        ),
        (item("function_call", name="write_stdin", call_id="c", arguments={"chars": "yes"}), [], False),
        (item("function_call", name="exec_command", call_id="c", arguments="not json"), [], False),
        (item("function_call", name="exec_command", call_id="c"), [], False),
    ],
)
def test_a_call_names_its_files(made: object, paths: list[str], writes: bool) -> None:
    (entry,) = newest(fed(reader(SOURCE), meta(), made)).values()
    (only,) = entry.calls
    assert (list(only.paths), only.writes, only.ok) == (paths, writes, None)


def test_a_call_that_reads_and_writes_comes_twice() -> None:
    seen = fed(reader(SOURCE), meta(), call("c", "exec_command", cmd="cat /m/a > b"), output("c", "ok"))
    assert next(iter(newest(seen).values())).calls == (
        ToolCall(id="c", name="exec_command", paths=(f"{CWD}/b",), writes=True, ok=True),
        ToolCall(id="c", name="exec_command", paths=("/m/a",), ok=True),
    )


@pytest.mark.parametrize(
    ("said", "text", "ok"),
    [
        ("Process exited with code 0\nOutput:\nhi", "Process exited with code 0\nOutput:\nhi", True),
        ("Process exited with code 1\nOutput:", "Process exited with code 1\nOutput:", False),
        ("Process running with session ID 7", "Process running with session ID 7", None),
        ('{"output":"hi","metadata":{"exit_code":0}}', "hi", True),
        ('{"output":"hi","metadata":{"exit_code":2}}', "hi", False),
        (
            [{"type": "input_text", "text": "Script failed"}, {"type": "input_image"}],
            "Script failed\n\n[image]",
            False,
        ),
        ([{"type": "input_text", "text": "Script completed"}], "Script completed", True),
        ({"content": "hi", "success": False}, "hi", False),
        ({"type": "input_text", "text": "hi"}, "hi", True),
        ("exec command rejected by user", "exec command rejected by user", False),
        ("err: the disk is full", "err: the disk is full", False),
        ("exec_command failed for `x`: no", "exec_command failed for `x`: no", False),
        ("Success. Updated the following files:", "Success. Updated the following files:", True),
        (None, "null", True),
    ],
)
def test_a_result_says_whether_the_call_was_done(said: object, text: str, ok: bool | None) -> None:
    seen = fed(reader(SOURCE), meta(), call("c", "exec_command", cmd="echo > a"), output("c", said))
    made, came = newest(seen).values()
    assert (made.calls[0].ok, came.text) == (ok, text)


@pytest.mark.parametrize(
    ("told", "ok"),
    [
        (event("exec_command_end", call_id="c", exit_code=1), False),
        (event("exec_command_end", call_id="c", exit_code=0), True),
        (event("patch_apply_end", call_id="c", success=False), False),
        (event("patch_apply_end", success=False), True),
        (event("exec_command_end", call_id="c"), True),
    ],
)
def test_an_event_about_a_call_outweighs_its_text(told: object, ok: bool) -> None:
    seen = fed(reader(SOURCE), meta(), call("c", "exec_command", cmd="echo > a"), told, output("c", "fine"))
    assert next(iter(newest(seen).values())).calls[0].ok is ok


def test_a_rollback_voids_the_last_turns() -> None:
    seen = fed(
        reader(SOURCE),
        meta(),
        says("user", "<environment_context>x"),
        says("user", "first"),
        says("assistant", "one"),
        says("user", "second"),
        says("assistant", "two"),
        event("thread_rolled_back", num_turns=1),
        says("user", "third"),
        event("thread_rolled_back", num_turns=9),
        event("thread_rolled_back"),
    )
    texts = {each.id: each.text for each in newest(seen).values()}
    gone = [[texts[ident] for ident in each.ids] for each in seen if isinstance(each, Voided)]
    assert gone == [["second", "two"], ["first", "one", "third"]]


def test_a_segment_voids_the_older_files_from_its_base_on() -> None:
    base = {"thread_id": THREAD, "end_ordinal_exclusive": 25, "end_byte_offset": 7}
    name = f"rollout-2026-11-30T12-03-44-{THREAD}_01a22c56-edbd-7c21-91e8-e6111b2aeb61.jsonl"
    assert fed(reader(SOURCE, name), meta(history_base=base)) == [Voided(session=THREAD, from_ordinal=25)]
    other = {**base, "thread_id": PARENT}
    assert fed(reader(SOURCE, name), meta(history_base=other, forked_from_id=PARENT)) == []
    assert fed(reader(SOURCE, name), meta(history_base={"thread_id": THREAD})) == []
    assert SOURCE.family(name) == f"rollout-*-{THREAD}*.jsonl*"
    assert SOURCE.family("rollout-old.jsonl") is None


def turn(ident: str, *words: str) -> list[dict[str, object]]:
    return [event("task_started", turn_id=ident), *(says("user", each) for each in words)]


def test_a_fork_marks_what_it_copied_by_the_age_of_its_turns() -> None:
    original = fed(reader(SOURCE), meta(PARENT), *turn(EARLIER, "same words", "same words"))
    fork = fed(
        reader(SOURCE),
        meta(forked_from_id=PARENT),
        meta(PARENT),
        *turn(EARLIER, "same words", "same words"),
        *turn(LATER, "same words"),
    )
    assert [(each.origin, each.session) for each in newest(fork).values()] == [
        (Origin.COPIED, THREAD),
        (Origin.COPIED, THREAD),
        (Origin.HUMAN, THREAD),
    ]
    assert list(newest(original)) == list(newest(fork))[:2]


def test_an_old_fork_marks_what_it_wrote_at_once() -> None:
    fork = fed(
        reader(SOURCE),
        meta("b"),
        meta("a"),
        meta("older"),
        says("user", "copied words"),
        {**says("user", "copied words"), "timestamp": "2026-11-30T12:01:00Z"},
        says("user", "own words"),
    )
    assert [(each.text, each.origin) for each in newest(fork).values()] == [
        ("copied words", Origin.COPIED),
        ("copied words", Origin.HUMAN),
        ("own words", Origin.HUMAN),
    ]
    original = fed(reader(SOURCE), meta("older"), says("user", "copied words"))
    assert list(newest(original)) == list(newest(fork))[:1]


def test_sessions_one_after_the_other_in_a_file_do_not_repeat_what_the_fork_copied() -> None:
    seen = fed(
        reader(SOURCE),
        meta(PARENT),
        *turn(EARLIER, "one"),
        meta(forked_from_id=PARENT),
        meta(PARENT),
        *turn(EARLIER, "one"),
        *turn(LATER, "two"),
        meta("01a22c58-0000-7000-8000-00000000000a"),
        *turn("01a22c59-0000-7000-8000-00000000000a", "three"),
    )
    assert [(each.text, each.session[:8]) for each in newest(seen).values()] == [
        ("one", "01a22c4f"),
        ("two", "01a22c56"),
        ("three", "01a22c58"),
    ]


def test_a_sub_agent_may_begin_with_its_parents_history() -> None:
    seen = fed(
        reader(SOURCE),
        meta(parent_thread_id=PARENT, source={"subagent": {"thread_spawn": {}}}),
        meta(PARENT),
        *turn(EARLIER, "from the person"),
        meta(),
        *turn(LATER, "from the model"),
    )
    assert [each.origin for each in newest(seen).values()] == [Origin.COPIED, Origin.SUBAGENT]


def test_a_compaction_is_recalled_with_the_turn_that_wrote_it() -> None:
    seen = fed(
        reader(SOURCE),
        meta(),
        *turn(EARLIER, "we use tabs"),
        says("assistant", "Noted."),
        event("task_started", turn_id=LATER),
        says("assistant", "Summary: tabs."),
        a("compacted", {"message": "They use tabs.", "replacement_history": [says("user", "we use tabs")]}),
        event("task_complete", turn_id=LATER),
    )
    assert shape(seen) == [
        (Role.USER, Origin.HUMAN, "we use tabs", False),
        (Role.ASSISTANT, Origin.SYNTHETIC, "Noted.", False),
        (Role.ASSISTANT, Origin.RECALLED, "Summary: tabs.", False),
        (Role.CONTEXT, Origin.RECALLED, "They use tabs.", True),
    ]


def test_a_compaction_in_the_middle_of_a_turn_recalls_only_the_summary() -> None:
    begun = [meta(), *turn(LATER, "we use tabs"), says("assistant", "Tabs it is.")]
    assert shape(fed(reader(SOURCE), *begun, a("compacted", {"message": ""})))[1:] == [
        (Role.ASSISTANT, Origin.SYNTHETIC, "Tabs it is.", False)
    ]
    told = a("compacted", {"message": "So far: Tabs it is."})
    assert [each[1] for each in shape(fed(reader(SOURCE), *begun, told, told))[1:]] == [Origin.RECALLED] * 3
    assert shape(fed(reader(SOURCE), a("compacted", {"message": "x"})))[0][2] == "x"


def test_a_summary_is_recalled_once() -> None:
    empty = a("compacted", {"message": ""})
    seen = fed(reader(SOURCE), meta(), says("assistant", "Summary."), empty, a("world_state", {}), empty)
    assert [(each.origin, each.revision) for each in seen if isinstance(each, Entry)] == [
        (Origin.SYNTHETIC, 0),
        (Origin.RECALLED, 1),
    ]


def test_an_aborted_turn_ends() -> None:
    seen = fed(reader(SOURCE), meta(), *turn(LATER, "a b c"), event("turn_aborted", reason="interrupted"))
    assert shape(seen) == [(Role.USER, Origin.HUMAN, "a b c", True)]
    assert fed(reader(SOURCE), meta(), event("task_complete")) == []


def test_injected_memory_and_our_own_tools_are_recalled() -> None:
    memory = "<extractord-memory id=1>\n- tabs\n</extractord-memory>"
    seen = fed(
        reader(SOURCE),
        meta(),
        says("user", f"{memory}\nplease use spaces"),
        says("assistant", memory),
        call("c", "mcp__extractord__memory_read", path="x"),
        output("c", "tabs"),
        output("d", memory),
    )
    assert [each[:3] for each in shape(seen)] == [
        (Role.CONTEXT, Origin.RECALLED, memory),
        (Role.USER, Origin.HUMAN, "please use spaces"),
        (Role.CONTEXT, Origin.RECALLED, memory),
        (Role.ASSISTANT, Origin.SYNTHETIC, ""),
        (Role.TOOL, Origin.RECALLED, "tabs"),
        (Role.TOOL, Origin.RECALLED, memory),
    ]


def test_bare_lines_of_old_versions_are_read() -> None:
    to = reader(SOURCE)
    seen = fed(
        to,
        {"id": "old", "timestamp": NOON, "instructions": None, "git": {"branch": "main"}},
        {"record_type": "state"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "a b c"}]},
        {"type": "reasoning", "summary": []},
        {"type": "function_call", "name": "shell", "call_id": "c", "arguments": '{"command":["tee","a"]}'},
        {"role": "assistant", "content": "done"},
        a("response_item", {"role": "user", "message": "d e f"}),
    )
    assert [(each.text, each.session, each.branch) for each in newest(seen).values()] == [
        (text, "old", "main") for text in ("a b c", "", "done", "d e f")
    ]
    assert to.unknown == {}


@pytest.mark.parametrize(
    "told",
    [
        "<environment_context>\n  <cwd>/home/dev/shop</cwd>\n</environment_context>",
        "<environment_context>\n\nCurrent working directory: /home/dev/shop\nShell: x",
    ],
)
def test_bare_lines_are_of_the_place_that_the_program_tells_and_the_time_the_session_began(told: str) -> None:
    begun = {"id": "old", "timestamp": NOON, "instructions": None}
    bare = ({"type": "message", "role": "user", "content": words} for words in (told, "we use tabs"))
    prompt = list(newest(fed(reader(SOURCE), begun, *bare)).values())[-1]
    assert (prompt.text, prompt.cwd) == ("we use tabs", "/home/dev/shop")
    assert prompt.time == datetime(2026, 11, 30, 12, tzinfo=UTC)


def test_an_old_document_gives_what_is_new_each_time() -> None:
    to = reader(SOURCE, "/c/sessions/rollout-2025-04-20-x.json")
    said = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "a b c"}]}
    asked = {
        "type": "function_call",
        "name": "shell",
        "call_id": "c",
        "arguments": '{"command":["tee","/a"]}',
    }
    came = {"type": "function_call_output", "call_id": "c", "output": "ok"}
    head = {"id": "old", "timestamp": NOON, "instructions": ""}
    assert prompts(fed(to, {"session": head, "items": [said, asked]})) == ["a b c"]
    later = fed(to, {"session": head, "items": [said, asked, came]})
    assert [(each.role, each.revision) for each in later if isinstance(each, Entry)] == [
        (Role.ASSISTANT, 1),
        (Role.TOOL, 0),
    ]
    undone = event("thread_rolled_back", num_turns=1)
    assert fed(to, {"session": head, "items": [said, asked, came, undone]}) == []
    assert fed(to, {"items": [said]}, {"x": 1}, b"{", b"") != [None]
    assert (to.session, to.unknown["undecodable"], list(to.settle())) == (None, 2, [])


def test_what_is_not_known_is_counted() -> None:
    to = reader(SOURCE, f"/s/rollout-2026-11-30T12-03-44-{THREAD}.jsonl")
    assert (to.session, to.version) == (THREAD, None)
    fed(
        to,
        meta(),
        a("x", {}),
        event("y"),
        item("z"),
        {"type": "w"},
        {},
        b"\xff",
        b"",
        b"\0",
        event("token_count"),
    )
    assert to.unknown == {
        "x": 1,
        "event_msg/y": 1,
        "response_item/z": 1,
        "w": 1,
        "untyped": 1,
        "undecodable": 1,
    }
    assert (to.session, to.version, list(to.settle())) == (THREAD, "0.171.0", [])


@pytest.mark.parametrize(
    ("path", "belongs", "container"),
    [
        ("2026/11/30/rollout-2026-11-30T12-03-44-x.jsonl", True, Container.LINES),
        ("2026/11/30/rollout-2026-11-30T12-03-44-x.jsonl.zst", True, Container.LINES),
        ("rollout-2025-04-20-x.json", True, Container.DOCUMENT),
        ("2026/11/30/rollout-compress-1.tmp", False, Container.LINES),
        ("history.jsonl", False, Container.LINES),
    ],
)
def test_rollouts_belong_and_nothing_else(path: str, belongs: bool, container: Container) -> None:
    assert (SOURCE.belongs(path), SOURCE.container(path)) == (belongs, container)
    assert SOURCE.claims(f"/x/{path}", b"") is belongs


def test_roots_follow_the_environment_and_a_first_line_tells() -> None:
    assert SOURCE.roots(Surroundings({}, "/home/dev", "linux")) == (
        "/home/dev/.codex/sessions",
        "/home/dev/.codex/archived_sessions",
    )
    assert SOURCE.roots(Surroundings({"CODEX_HOME": "/c/"}, "/h", "darwin")) == (
        "/c/sessions",
        "/c/archived_sessions",
    )
    assert SOURCE.claims("/x/a.jsonl", b"\xef\xbb\xbf" + line(meta()))
    assert not SOURCE.claims("/x/a.jsonl", line(says("user", "session_meta")))
    assert SOURCE.claims(
        "/x/a.jsonl", line({"id": "t1", "timestamp": "2025-08-01T10:00:00Z", "instructions": None})
    )


def test_what_has_no_time_on_its_line_has_its_own_or_the_sessions() -> None:
    within = says("user", "mend it", timestamp="2026-08-01T10:07:00Z")
    lines = [meta(timestamp="2026-08-01T10:00:00Z"), within, says("assistant", "done")]
    for each in lines:
        each.pop("timestamp")
    made = newest(fed(reader(SOURCE), *lines)).values()
    assert [each.time and each.time.strftime("%H:%M") for each in made] == ["10:07", "10:00"]


def test_a_line_that_says_nothing_is_known_by_its_beginning() -> None:
    to = reader(SOURCE)
    head = b'{"timestamp":"2026-11-30T12:00:00Z",'
    silent = [
        head + b'"ordinal":7,"type":"event_msg","payload":{"type":"token_count","info":null}}',
        head + b'"type":"world_state","payload":{"full":true}}',
        head + b'"type":"event_msg","payload":{"type":"token_cou',
        head + b'"type":"event_msg","payload":{"type":"user_message_of_tomorrow"}}',
    ]
    assert fed(to, meta("b"), *silent, meta("a"), says("user", "a b c")) != []
    assert to.unknown == {"undecodable": 1, "event_msg/user_message_of_tomorrow": 1}
    assert to.session == "a"


def test_the_same_lines_twice_say_nothing_twice() -> None:
    lines = [
        meta(),
        *turn(LATER, "a b c", "a b c"),
        call("c", "shell", command="ls"),
        output("c", "x"),
        event("task_complete"),
    ]
    to = reader(SOURCE)
    assert len(fed(to, *lines)) == 6
    assert fed(to, *lines) == []
    assert voided(fed(to, *lines)) == set()


KEYS = (
    "type payload timestamp id role content text name arguments input call_id output turn_id forked_from_id "
    "num_turns message source history_base end_ordinal_exclusive cwd ordinal items session command action "
    "exit_code"
)
WORDS = (
    "session_meta turn_context event_msg response_item compacted message function_call user input_text "
    "function_call_output custom_tool_call exec apply_patch task_started task_complete assistant "
    "thread_rolled_back exec_command_end local_shell_call"
)


@settings(max_examples=150)
@given(odd_records(KEYS.split(), [*WORDS.split(), '{"cmd": "cat > a"}']))
def test_no_record_is_too_odd(records: list[bytes]) -> None:
    for path in ("/c/rollout-a.jsonl", "/c/rollout-a.json"):
        seen = fed(reader(SOURCE, path), *records, *records)
        newest(seen)
        for each in seen:
            if isinstance(each, Entry):
                each.text.encode()
