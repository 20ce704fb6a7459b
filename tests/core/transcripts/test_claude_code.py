from __future__ import annotations

from datetime import UTC, datetime

import pytest
from feeding import fed, line, newest, odd_records, prompts, reader, settled, voided
from hypothesis import given, settings

from extractord.core.records import Entry, Origin, Role, ToolCall, Voided
from extractord.core.transcripts.claude_code import SOURCE
from extractord.core.transcripts.source import Container, Surroundings

NOON = "2026-11-30T12:00:00.000Z"
CWD = "/home/dev/shop"


def record(
    ident: str, parent: str | None, kind: str, content: object = None, **more: object
) -> dict[str, object]:
    return {
        "parentUuid": parent,
        "isSidechain": False,
        "type": kind,
        "message": {"role": kind, "content": content},
        "uuid": ident,
        "timestamp": NOON,
        "cwd": CWD,
        "sessionId": "s1",
        "version": "2.1.332",
        "gitBranch": "main",
        **more,
    }


def spoken(ident: str, parent: str, *blocks: object, stop: str | None = "end_turn", **more: object) -> object:
    message = {"role": "assistant", "model": "m", "content": list(blocks), "stop_reason": stop}
    return record(ident, parent, "assistant", message=message, **more)


def text(words: str) -> dict[str, object]:
    return {"type": "text", "text": words}


def use(call: str, name: str, **asked: object) -> dict[str, object]:
    return {"type": "tool_use", "id": call, "name": name, "input": asked}


def result(call: str, output: object = "done", **more: object) -> dict[str, object]:
    return {"type": "tool_result", "tool_use_id": call, "content": output, **more}


def attachment(ident: str, parent: str, **what: object) -> dict[str, object]:
    return record(ident, parent, "attachment", attachment=what)


def entry(ident: str, parent: str | None, role: Role, origin: Origin, words: str, **more: object) -> Entry:
    return Entry(
        id=ident,
        agent="claude-code",
        session="s1",
        role=role,
        origin=origin,
        text=words,
        parent=parent,
        time=datetime(2026, 11, 30, 12, tzinfo=UTC),
        cwd=CWD,
        branch="main",
        **more,  # type: ignore[arg-type]
    )


def test_a_turn_becomes_entries_and_its_result_revises_the_call() -> None:
    call = ToolCall(id="t1", name="Write", paths=("/home/dev/memory/a.md",), writes=True)
    done = ToolCall(id="t1", name="Write", paths=("/home/dev/memory/a.md",), writes=True, ok=True)
    seen = fed(
        reader(SOURCE),
        record("u1", None, "user", "we use tabs", promptSource="typed", origin={"kind": "human"}),
        spoken("a0", "u1", {"type": "thinking", "thinking": "hm", "signature": "s"}),
        spoken(
            "a1",
            "a0",
            text("I note it."),
            use("t1", "Write", file_path="../memory/a.md", content="x"),
            stop="tool_use",
        ),
        record("r1", "a1", "user", [result("t1")], toolUseResult={"filePath": "/home/dev/memory/a.md"}),
        spoken("a2", "r1", text("Noted.")),
        record("d1", "a2", "system", subtype="turn_duration"),
    )
    assert seen == [
        entry("u1", None, Role.USER, Origin.HUMAN, "we use tabs"),
        entry("a1", "a0", Role.ASSISTANT, Origin.SYNTHETIC, "I note it.", calls=(call,)),
        entry("a1", "a0", Role.ASSISTANT, Origin.SYNTHETIC, "I note it.", calls=(done,), revision=1),
        entry("r1", "a1", Role.TOOL, Origin.SYNTHETIC, "done"),
        entry("a2", "r1", Role.ASSISTANT, Origin.SYNTHETIC, "Noted.", turn_end=True),
    ]


@pytest.mark.parametrize(
    ("block", "note", "ok"),
    [
        (result("t1"), {"type": "create"}, True),
        (result("t1", is_error=False), [{"type": "text"}], True),
        (result("t1", is_error=True), {}, False),
        (result("t1"), "User rejected tool use", False),
        (result("t1"), "Error: no such file", False),
        (result("t1"), {"interrupted": True}, False),
    ],
)
def test_a_call_is_done_unless_its_result_says_otherwise(block: object, note: object, ok: bool) -> None:
    seen = fed(
        reader(SOURCE),
        spoken("a1", "u1", use("t1", "Bash", command="ls > a.txt")),
        record("r1", "a1", "user", [block], toolUseResult=note),
    )
    assert newest(seen)["a1"].calls == (
        ToolCall(id="t1", name="Bash", paths=(f"{CWD}/a.txt",), writes=True, ok=ok),
    )


@pytest.mark.parametrize(
    ("block", "calls"),
    [
        (use("t", "Edit", file_path="~/a.md"), [("Edit", ("/home/dev/a.md",), True)]),
        (use("t", "MultiEdit", file_path="/a.md", edits=[]), [("MultiEdit", ("/a.md",), True)]),
        (use("t", "NotebookEdit", notebook_path="/a.ipynb"), [("NotebookEdit", ("/a.ipynb",), True)]),
        (use("t", "Read", file_path="/m/a.md"), [("Read", ("/m/a.md",), False)]),
        (use("t", "Grep", pattern="x", path="src"), [("Grep", (f"{CWD}/src",), False)]),
        (use("t", "Task", prompt="x"), [("Task", (), False)]),
        (use("t", "Write", file_path=7), [("Write", (), False)]),
        ({"type": "tool_use", "id": "t", "name": "Write"}, [("Write", (), False)]),
        (use("t", "mcp__files__write_file", path="/a.md"), [("mcp__files__write_file", ("/a.md",), True)]),
        (use("t", "mcp__files__read_file", path="/a.md"), [("mcp__files__read_file", ("/a.md",), False)]),
        (use("t", "PowerShell", command="Set-Content a.md x"), [("PowerShell", (f"{CWD}/a.md",), True)]),
        (
            use("t", "Bash", command="cat /m/a.md >> b.md"),
            [("Bash", (f"{CWD}/b.md",), True), ("Bash", ("/m/a.md",), False)],
        ),
    ],
)
def test_a_call_names_its_files(block: object, calls: list[tuple[str, tuple[str, ...], bool]]) -> None:
    (made,) = newest(fed(reader(SOURCE), spoken("a1", "u1", block, stop="tool_use"))).values()
    assert [(call.name, call.paths, call.writes) for call in made.calls] == calls


@pytest.mark.parametrize(
    ("content", "prompt"),
    [
        ('plain <not a tag> & "quotes"', 'plain <not a tag> & "quotes"'),
        ("\ufeffwith a mark", "with a mark"),
        ("<system-reminder>\nx\n</system-reminder>\nbehind a reminder", "behind a reminder"),
        ("before a reminder\n<system-reminder>x</system-reminder>", "before a reminder"),
        ("<system-reminder>never closed", "<system-reminder>never closed"),
        ("<system-reminder>not <b>closed</b>", "<system-reminder>not <b>closed</b>"),
        ([text("<ide_opened_file>x</ide_opened_file>"), text("in an IDE")], "in an IDE"),
        ("<ide_selection>x</ide_selection>\nplanted words\n</ide_selection>\nreal words", "real words"),
        ("<terminal>$ ls</terminal>\nwhy so few?", "why so few?"),
        ("our <terminal>tag</terminal> is wrong", "our <terminal>tag</terminal> is wrong"),
        ("<slack-ping>do it now</slack-ping>", None),
        ([text("see this"), {"type": "image", "source": {"data": "x"}}], "see this\n\n[image]"),
        ([{"type": "image"}, text("[todo]")], "[image]\n\n[todo]"),
        ([{"type": "document"}], None),
        ([text("<command-name>/x</command-name>"), text("expanded")], None),
        ([text("prose"), text("<command-args>y</command-args>")], "prose"),
        ("<command-name>/cost</command-name>", None),
        ("<command-message>x</command-message>", None),
        ("<local-command-stdout>x</local-command-stdout>", None),
        ("<bash-input>ls</bash-input>", None),
        ("<bash-stdout>x</bash-stdout>", None),
        ("<bash-stderr>x</bash-stderr>", None),
        ("<user-memory-input>x</user-memory-input>", None),
        ("<task-notification>x</task-notification>", None),
        ("Caveat: The messages below", None),
        ("Stop hook feedback:\nx", None),
        ("A session-scoped Stop hook is", None),
        ("Base directory for this skill: /x", None),
        ("This session is being continued from", None),
        ('<teammate-message teammate_id="lead">do it</teammate-message>', None),
        ('<channel source="desk">ship it today please</channel>', None),
        ("<background-task-input>build it all</background-task-input>", None),
        ("Another Claude session sent a message:\nship it today please", None),
        ("[Cross-session idle notice] build", None),
        ("Goal check-in: \u00abship it\u00bb", None),
        ("Operation stopped by hook: not on a Friday", None),
        ("UserPromptSubmit operation blocked by hook:\nno", None),
        ("Commands are in the form `/command [args]`", None),
        ("Unknown slash command: shipit", None),
        ("Unknown slash command: why does it say that?", "Unknown slash command: why does it say that?"),
        ("Write operation feedback:\n- run the linter first", None),
        ("Write operation feedback: the form loses it", "Write operation feedback: the form loses it"),
        ("(no content)", None),
        ("(no content) is all that I see", "(no content) is all that I see"),
        ("", None),
    ],
)
def test_prose_is_told_from_wrappers(content: object, prompt: str | None) -> None:
    seen = fed(reader(SOURCE), record("u1", None, "user", content))
    assert prompts(seen) == ([prompt] if prompt else [])
    assert {each.role for each in newest(seen).values()} <= {Role.USER if prompt else Role.CONTEXT}


@pytest.mark.parametrize(
    "more",
    [
        {"isMeta": True},
        {"rowSource": "hook"},
        {"promptSource": "system"},
        {"origin": {"kind": "task-notification"}},
        {"toolUseResult": {"x": 1}},
        {"isCompactSummary": True},
        {"isSidechain": True},
        {"isVirtual": True},
        {"fromConnector": True},
        {"emailSenderTurn": {"address": "a@example.net"}},
    ],
)
def test_what_the_record_says_is_not_typed_is_not_a_prompt(more: dict[str, object]) -> None:
    assert prompts(fed(reader(SOURCE), record("u1", None, "user", "some words here", **more))) == []
    assert prompts(fed(reader(SOURCE), record("u1", None, "user", "some words here"))) == ["some words here"]


@pytest.mark.parametrize(
    ("more", "origin"),
    [
        ({"promptSource": "sdk"}, Origin.HEADLESS),
        ({"entrypoint": "sdk-cli"}, Origin.HEADLESS),
        ({"entrypoint": "sdk-ts", "promptSource": "sdk", "turnOrigin": "sdk"}, Origin.HEADLESS),
        ({"entrypoint": "cli", "promptSource": "sdk"}, Origin.HEADLESS),
        ({"entrypoint": "remote_cowork_trigger", "origin": {"kind": "human"}}, Origin.HEADLESS),
        (
            {"entrypoint": "claude-desktop", "turnOrigin": "scheduled", "origin": {"kind": "human"}},
            Origin.HEADLESS,
        ),
        ({"promptSource": "suggestion_accepted", "origin": {"kind": "human"}}, Origin.HEADLESS),
        ({"promptSource": "typed", "entrypoint": "cli"}, Origin.HUMAN),
        ({"promptSource": "sdk", "entrypoint": "claude-vscode"}, Origin.HUMAN),
        ({"promptSource": "sdk", "entrypoint": "claude-desktop", "origin": {"kind": "human"}}, Origin.HUMAN),
        ({"promptSource": "sdk", "entrypoint": "sdk-ts", "turnOrigin": "human"}, Origin.HUMAN),
        ({"origin": {"kind": "human"}, "textNotTyped": True}, Origin.HEADLESS),
        ({"origin": {"kind": "human"}, "promptRewritten": True, "turnOrigin": "human"}, Origin.HEADLESS),
        ({"promptSource": "typed", "verifiedSlackHumanTurn": True}, Origin.HEADLESS),
        ({"handedOff": True}, Origin.HEADLESS),
        ({"rowSource": "recorded"}, Origin.HEADLESS),
        ({"rowSource": "local", "emailSenderTurn": None}, Origin.HUMAN),
        ({"wakeupSource": "loop_wakeup"}, Origin.HEADLESS),
        ({"sessionKind": "daemon-worker"}, Origin.HEADLESS),
        ({"sessionKind": "bg"}, Origin.HUMAN),
        ({"forkedFrom": {"sessionId": "s0", "messageUuid": "u0"}}, Origin.COPIED),
        ({"isSidechain": True, "agentId": "x"}, Origin.SUBAGENT),
        ({"isCompactSummary": True}, Origin.RECALLED),
    ],
)
def test_a_prompt_has_the_origin_that_its_record_gives(more: dict[str, object], origin: Origin) -> None:
    (made,) = newest(fed(reader(SOURCE), record("u1", None, "user", "a b c", **more))).values()
    assert made.origin is origin


@pytest.mark.parametrize("name", ["system_instruction", "system-instruction", "system-instructions"])
def test_what_the_program_tells_that_the_agent_is_used_in_is_cut_off(name: str) -> None:
    told = f"<{name}>\nYou work in an app.\n</{name}>"
    words = record("u1", None, "user", f"{told}\n\n<system_instruction>a</system_instruction>\nmend it")
    assert prompts(fed(reader(SOURCE), words)) == ["mend it"]
    assert prompts(fed(reader(SOURCE), record("u1", None, "user", told))) == []
    quoted = f"<{name}>\n</{name}>\nwe use a trap\n</{name}>"
    assert prompts(fed(reader(SOURCE), record("u1", None, "user", quoted))) == []


def test_what_a_person_says_who_refuses_a_call_is_human() -> None:
    def told(**more: object) -> list[str]:
        refused = result("t1", "No. To go on, the user said:\nuse the other one", is_error=True)
        asked = spoken("a1", "u1", use("t1", "Write", file_path="/a"))
        first = record("u1", None, "user", "mend it")
        return prompts(fed(reader(SOURCE), first, asked, record("r1", "a1", "user", [refused], **more)))

    said = {"userFeedback": "use the other one"}
    assert told(**said, toolDenialKind="user-rejected") == ["mend it", "use the other one"]
    assert told(**said, toolDenialKind="user-rejected", isSidechain=True) == ["mend it"]
    assert told(**said, toolDenialKind="permission-rule") == ["mend it"]
    assert told(**said, toolDenialKind="user-rejected", toolDenialFromHost=True) == ["mend it"]
    assert told(**said, toolDenialKind="user-rejected", toolDenialAfterRun=True) == ["mend it"]
    assert told() == ["mend it"]


def test_a_scheduled_task_of_the_desktop_app_is_no_person_though_its_record_says_so() -> None:
    words = '<scheduled-task name="tidy" file="/h/tidy/SKILL.md">\nTidy the shelf.\n</scheduled-task>'
    host = {"entrypoint": "claude-desktop", "promptSource": "sdk", "origin": {"kind": "human"}}
    (made,) = newest(fed(reader(SOURCE), record("u1", None, "user", words, **host))).values()
    assert made.origin is Origin.HEADLESS


def test_a_sub_agents_file_has_no_human_and_ends_no_turn() -> None:
    seen = fed(
        reader(SOURCE, "/p/s1/subagents/agent-x.jsonl"),
        record("u1", None, "user", "explore"),
        spoken("a1", "u1", text("found"), use("t1", "Bash", command="ls")),
        record("r1", "a1", "user", [result("t1")]),
        spoken("a2", "r1", text("over")),
        spoken("a3", "a2"),
        attachment("q1", "a3", type="queued_command", prompt="more words"),
        record("d1", "q1", "system", subtype="turn_duration"),
    )
    assert [(each.origin, each.turn_end) for each in newest(seen).values()] == [(Origin.SUBAGENT, False)] * 5


def test_an_inline_sub_agent_does_not_end_its_parents_turn() -> None:
    seen = fed(
        reader(SOURCE),
        spoken("a1", "u1", text("asking"), stop="tool_use"),
        spoken("b1", "a1", text("aside"), isSidechain=True),
        record("d1", "a1", "system", subtype="turn_duration"),
    )
    assert [(each.id, each.turn_end) for each in newest(seen).values()] == [("a1", True), ("b1", False)]


@pytest.mark.parametrize(
    ("below", "prompt"),
    [
        ("", []),
        (
            "\n\nUser feedback on this plan: keep the old name\nof the table",
            ["keep the old name\nof the table"],
        ),
        ("\n\nread the full transcript at: /x\n\nUser feedback on this plan: no", ["no"]),
    ],
)
def test_a_plan_that_was_approved_is_the_models_and_only_what_stands_below_it_a_persons(
    below: str, prompt: list[str]
) -> None:
    plan = "1. drop it\n\nUser feedback on this plan: we love it"
    words = f"Implement the following plan:\n\n{plan}{below}"
    gone_on = record("u1", None, "user", words, planContent=plan)
    assert prompts(fed(reader(SOURCE), gone_on)) == prompt
    automatic = record("u1", None, "user", words, origin={"kind": "auto-continuation"})
    assert prompts(fed(reader(SOURCE), automatic)) == []
    unsaid = record("u1", None, "user", words, planContent="")
    assert prompts(fed(reader(SOURCE), unsaid)) == []
    assert prompts(fed(reader(SOURCE), record("u1", None, "user", words))) == [words]


def earlier(ident: str, parent: str | None, kind: str, content: object, second: str) -> dict[str, object]:
    """A record as versions before 2.0 write it."""
    return record(
        ident,
        parent,
        kind,
        content,
        version="1.0.44",
        timestamp=f"2026-11-30T12:00:{second}Z",
        gitBranch=None,
    )


def test_what_an_old_session_repeats_of_the_one_it_goes_on_from_is_a_copy() -> None:
    resumed = [
        {"type": "summary", "summary": "Tabs", "leafUuid": "z9"},
        earlier("c1", None, "user", [text("we use tabs here")], "00.100"),
        earlier("c2", "c1", "assistant", [use("t1", "Write", file_path="/home/dev/memory/a.md")], "00.100"),
        earlier("c3", "c2", "user", [result("t1")], "00.101"),
        earlier("c4", "c3", "assistant", [text("Noted.")], "00.101"),
        earlier("c5", "c4", "user", "and spaces in YAML", "00.101"),
        earlier("c6", "c5", "assistant", [text("Noted, too.")], "00.102"),
        earlier("u1", "c6", "user", "deploys are on Tuesdays", "00.104"),
        earlier("a1", "u1", "assistant", [text("Understood.")], "02.000"),
    ]
    seen = newest(settled(reader(SOURCE), *resumed))
    assert prompts(seen.values()) == ["deploys are on Tuesdays"]
    copies = {each.id for each in seen.values() if each.origin is Origin.COPIED}
    assert copies == {"c1", "c2", "c3", "c4", "c5", "c6"}


@pytest.mark.parametrize(
    "later",
    [
        [],
        [earlier("a1", "u1", "assistant", [text("Noted.")], "00.180")],
        [earlier("a1", "u1", "assistant", [text("Noted.")], "00.100") | {"version": "2.0.0"}],
        [earlier("a1", "u1", "assistant", [text("Noted.")], "00.100") | {"timestamp": None}],
        [earlier("a1", "u1", "assistant", [text("Noted.")], "00.000") | {"version": "1.0.44"}],
        [earlier("e1", "u1", "assistant", [text("no key")], "00.101") | {"isApiErrorMessage": True}],
    ],
)
def test_an_old_sessions_first_prompt_is_a_persons_unless_its_answer_stands_there_at_once(
    later: list[dict[str, object]],
) -> None:
    by_hand = any(str(each["timestamp"]).endswith(".000Z") for each in later)
    first = earlier("u1", None, "user", "we use tabs here", "00.000" if by_hand else "00.100")
    for each in later:
        first["version"] = each["version"]
    assert prompts(settled(reader(SOURCE), first, *later)) == ["we use tabs here"]


def test_what_the_program_says_at_once_is_no_answer_that_marks_a_copy() -> None:
    def told(ident: str, parent: str, second: str) -> dict[str, object]:
        return earlier(ident, parent, "assistant", None, second) | {
            "message": {
                "role": "assistant",
                "model": "<synthetic>",
                "content": [text("No response requested.")],
            }
        }

    first = earlier("u1", None, "user", "we use tabs here", "00.100")
    answer = earlier("a1", "e1", "assistant", [text("Noted.")], "00.106")
    assert prompts(settled(reader(SOURCE), first, told("e1", "u1", "00.103"))) == ["we use tabs here"]
    later = [
        answer | {"timestamp": "2026-11-30T12:00:03.500Z"},
        earlier("u2", "a1", "user", "and CI", "09.1"),
    ]
    seen = settled(reader(SOURCE), first, told("e1", "u1", "00.103"), *later)
    assert prompts(seen) == ["we use tabs here", "and CI"]
    assert [
        each.origin
        for each in newest(settled(reader(SOURCE), first, told("e1", "u1", "00.103"), answer)).values()
    ] == [Origin.COPIED] * 3


def test_a_prompt_that_the_model_suggested_is_not_a_persons_words() -> None:
    seen = fed(
        reader(SOURCE),
        record("u1", None, "user", "run the tests", promptSource="suggestion_accepted"),
        record("u2", "u1", "user", "fix the issue", entrypoint="claude-code-github-action"),
        record("u3", "u2", "user", "and say why", entrypoint="claude-vscode", promptSource="typed"),
    )
    assert [each.origin for each in newest(seen).values()] == [Origin.HEADLESS, Origin.HEADLESS, Origin.HUMAN]


def test_a_queued_prompt_counts_once() -> None:
    seen = fed(
        reader(SOURCE),
        {"type": "queue-operation", "operation": "enqueue", "content": "queued words", "sessionId": "s1"},
        attachment("q1", "a1", type="queued_command", prompt="queued words", commandMode="prompt"),
        record("u2", "q1", "user", "another one"),
        attachment("q2", "u2", type="queued_command", prompt="another one", source_uuid="u2"),
        attachment("q3", "u2", type="queued_command", prompt="<task-notification>x</task-notification>"),
        attachment("q4", "u2", type="queued_command", prompt="told", origin={"kind": "task-notification"}),
        attachment("q5", "u2", type="skill_listing", content="x"),
        attachment("q6", "u2", type="queued_command", prompt="a note", isMeta=True),
        attachment("q7", "u2", type="queued_command", prompt="it is done", commandMode="task-notification"),
    )
    assert prompts(seen) == ["queued words", "another one"]


def test_a_queued_prompt_is_told_from_what_else_is_queued() -> None:
    def origins(**more: object) -> list[Origin]:
        queued = attachment("q1", "a1", type="queued_command", prompt="queued words", **more)
        return [each.origin for each in newest(fed(reader(SOURCE), queued)).values()]

    assert origins() == origins(commandMode="prompt", origin={"kind": "human"}) == [Origin.HUMAN]
    assert origins(commandMode="bash") == origins(commandMode="poll-event") == [Origin.SYNTHETIC]
    assert origins(fromConnector=True) == origins(rowSource="hook") == [Origin.SYNTHETIC]
    assert origins(textNotTyped=True) == origins(promptRewritten=True) == [Origin.HEADLESS]
    assert origins(rowSource="recorded") == origins(verifiedSlackHumanTurn=True) == [Origin.HEADLESS]


@pytest.mark.parametrize(
    ("words", "text_of_it", "pastes"),
    [
        (
            'see <pasted_content id="0a1f">\nnot mine\n</pasted_content id="0a1f"> there',
            "see not mine there",
            ["not mine"],
        ),
        (
            (
                'a\n\n<pasted_content id="0a1f">\nx\ny\n</pasted_content id="0a1f">\n\nb'
                '\n\n<pasted_content id="22ff">\nz\n</pasted_content id="22ff">\n'
            ),
            "a\n\nx\ny\n\nb\n\nz",
            ["x\ny", "z"],
        ),
        (
            '<pasted_content id="0a1f">\nx\n</pasted_content id="22ff">\n</pasted_content id="0a1f">',
            'x\n</pasted_content id="22ff">',
            ['x\n</pasted_content id="22ff">'],
        ),
        (
            (
                '<pasted_content id="0a1f">\n<pasted_content id="22ff">\nx\n</pasted_content id="22ff">'
                '\n</pasted_content id="0a1f">'
            ),
            '<pasted_content id="22ff">\nx\n</pasted_content id="22ff">',
            ['<pasted_content id="22ff">\nx\n</pasted_content id="22ff">'],
        ),
        (
            'why <pasted_content id="0a1f">\nnever closed?',
            'why <pasted_content id="0a1f">\nnever closed?',
            [],
        ),
        ("our <pasted_content> tag", "our <pasted_content> tag", []),
    ],
)
def test_what_is_marked_as_pasted_stands_without_its_marks(
    words: str, text_of_it: str, pastes: list[str]
) -> None:
    (made,) = newest(fed(reader(SOURCE), record("u1", None, "user", words))).values()
    assert (made.role, made.origin, made.text) == (Role.USER, Origin.HUMAN, text_of_it)
    assert [made.text[slice(*span)] for span in made.pastes] == pastes


def test_an_answer_of_the_program_is_not_the_models() -> None:
    seen = fed(
        reader(SOURCE),
        record(
            "e1",
            "u1",
            "assistant",
            "No response requested.",
            message={"model": "<synthetic>", "content": [text("x")]},
        ),
        spoken("e2", "e1", text("API Error: 529"), isApiErrorMessage=True),
        record("e3", "e2", "assistant", message=None),
    )
    assert seen == [
        entry("e1", "u1", Role.CONTEXT, Origin.SYNTHETIC, "x"),
        entry("e2", "e1", Role.CONTEXT, Origin.SYNTHETIC, "API Error: 529", turn_end=True),
    ]


@pytest.mark.parametrize(
    "last",
    [
        record("x1", "a1", "system", subtype="turn_duration"),
        spoken("x1", "a1"),
    ],
)
def test_a_turn_ends_late_where_nothing_said_so_before(last: object) -> None:
    seen = fed(reader(SOURCE), spoken("a1", "u1", text("over"), stop=None), last, last)
    assert seen == [
        entry("a1", "u1", Role.ASSISTANT, Origin.SYNTHETIC, "over"),
        entry("a1", "u1", Role.ASSISTANT, Origin.SYNTHETIC, "over", turn_end=True, revision=1),
    ]


def test_an_interruption_ends_the_turn_beside_a_result_or_alone() -> None:
    seen = fed(
        reader(SOURCE),
        record("i1", "u1", "user", [text("[Request interrupted by user]")]),
        record("i2", "i1", "user", [result("t9", "no"), text("[Request interrupted by user for tool use]")]),
        record("i3", "i2", "user", [result("t9", "no"), {"type": "image"}]),
    )
    assert [(each.id, each.role, each.turn_end) for each in newest(seen).values()] == [
        ("i1", Role.CONTEXT, True),
        ("i2", Role.TOOL, False),
        ("i2#1", Role.CONTEXT, True),
        ("i3", Role.TOOL, False),
    ]


def test_a_rewind_voids_the_abandoned_branch_and_nothing_else() -> None:
    seen = fed(
        reader(SOURCE),
        record("u1", None, "user", "first"),
        spoken("a1", "u1", text("answer")),
        record("d1", "a1", "system", subtype="turn_duration"),
        record("u2", "d1", "user", "dead <extractord-memory id=1>m</extractord-memory>"),
        spoken("a2", "u2", use("t1", "Bash", command="ls"), use("t2", "Bash", command="ls"), stop="tool_use"),
        record("p1", "a2", "progress", data={"type": "hook_progress"}),
        record("r2", "p1", "user", [result("t2"), result("t1")]),
        attachment("x1", "r2", type="file"),
        record("u3", "a1", "user", "live"),
        spoken("a3", "u3", text("ok")),
    )
    assert [each for each in seen if isinstance(each, Voided)] == [
        Voided(session="s1", ids=("u2", "u2#1", "a2", "r2", "r2#1"))
    ]


def test_branching_without_a_second_prompt_is_no_rewind() -> None:
    seen = fed(
        reader(SOURCE),
        record("u1", None, "user", "first"),
        spoken("a1", "u1", use("t1", "Bash", command="ls"), stop="tool_use"),
        spoken("a2", "a1", use("t2", "Bash", command="ls"), stop="tool_use"),
        record("r1", "a1", "user", [result("t1")]),
        record("r2", "a2", "user", [result("t2")]),
        attachment("q1", "r2", type="queued_command", prompt="also this please"),
        attachment("q2", "r2", type="queued_command", prompt="and this please"),
        spoken("a3", "r2", text("ok")),
        record("c1", "a3", "user", "<command-name>/cost</command-name>"),
        record("u2", "c1", "user", "second"),
        record("u3", "gone", "user", "under a record that is not here"),
    )
    assert voided(seen) == set()


def test_a_rewind_to_the_beginning_needs_a_tree_and_stays_in_its_session() -> None:
    first = record("u1", None, "user", "first words")
    again = record("u2", None, "user", "other words")
    assert voided(fed(reader(SOURCE), first, spoken("a1", "u1", text("x")), again)) == {"u1", "a1"}
    assert voided(fed(reader(SOURCE), first, again)) == set()
    other = {**again, "sessionId": "s2"}
    assert voided(fed(reader(SOURCE), first, spoken("a1", "u1", text("x")), other)) == set()
    unsaid = [{key: each[key] for key in each if key != "parentUuid"} for each in (first, again)]
    assert voided(fed(reader(SOURCE), unsaid[0], spoken("a1", "u1", text("x")), unsaid[1])) == set()


def test_a_rewind_past_a_compaction_takes_it_along_but_a_compaction_alone_voids_nothing() -> None:
    before = [
        record("u1", None, "user", "first"),
        spoken("a1", "u1", text("answer")),
        record("u2", "a1", "user", "second"),
        record("b1", None, "system", subtype="compact_boundary", logicalParentUuid="u2"),
        record("s1", "b1", "user", "This session is being continued", isCompactSummary=True),
        record("u3", "s1", "user", "third"),
    ]
    assert voided(fed(reader(SOURCE), *before)) == set()
    assert voided(fed(reader(SOURCE), *before, record("u4", "a1", "user", "again"))) == {"u2", "s1", "u3"}


def test_injected_memory_and_our_own_tools_are_recalled() -> None:
    memory = "<extractord-memory id=1>\n- tabs\n</extractord-memory>"
    seen = fed(
        reader(SOURCE),
        record("u1", None, "user", f"{memory}\nplease use spaces"),
        record("u2", "u1", "user", memory),
        spoken(
            "a1", "u2", use("t1", "mcp__extractord__memory_read", path="x"), use("t2", "Bash", command="x")
        ),
        record(
            "r1",
            "a1",
            "user",
            [result("t1", "tabs"), result("t2", [text(f"see {memory}"), {"type": "tool_reference"}])],
        ),
    )
    assert [(each.id, each.origin, each.text) for each in newest(seen).values()] == [
        ("u1#1", Origin.RECALLED, memory),
        ("u1", Origin.HUMAN, "please use spaces"),
        ("u2#1", Origin.RECALLED, memory),
        ("a1", Origin.SYNTHETIC, ""),
        ("r1", Origin.RECALLED, "tabs"),
        ("r1#1", Origin.RECALLED, f"see {memory}"),
    ]


def test_a_spilled_output_is_named() -> None:
    path = "/home/dev/.claude/projects/p/s1/tool-results/1.txt"
    seen = fed(
        reader(SOURCE),
        record("r1", "a1", "user", [result("t1", "head")], toolUseResult={"persistedOutputPath": path}),
        record(
            "r2",
            "a1",
            "user",
            [result("t2", f"saved to: {path}")],
            toolUseResult={"persistedOutputPath": path},
        ),
    )
    assert [each.text for each in newest(seen).values()] == [
        f"head\n[full output: {path}]",
        f"saved to: {path}",
    ]


def test_a_chain_that_stands_twice_comes_once_and_a_change_is_a_revision() -> None:
    chain = [
        record("u1", None, "user", "first"),
        spoken("a1", "u1", use("t1", "Bash", command="ls"), stop="tool_use"),
        record("r1", "a1", "user", [result("t1")]),
        spoken("a2", "r1", text("ok"), stop=None),
        record("d1", "a2", "system", subtype="turn_duration"),
    ]
    to = reader(SOURCE)
    assert len(fed(to, *chain)) == 6
    assert fed(to, *chain) == []
    assert fed(to, record("u1", None, "user", "changed")) == [
        entry("u1", None, Role.USER, Origin.HUMAN, "changed", revision=1)
    ]


def test_records_without_an_id_get_one_from_their_text() -> None:
    bare = {"type": "user", "message": {"content": "same words"}}
    first, second = fed(reader(SOURCE, "/p/abc.jsonl"), bare, bare)
    (copy,) = fed(reader(SOURCE, "/p/abc.jsonl"), bare)
    assert isinstance(first, Entry)
    assert isinstance(second, Entry)
    assert first.id != second.id
    assert first == copy
    assert first.session == "abc"


@pytest.mark.parametrize(
    "spoilt",
    [
        lambda raw: b"\xef\xbb\xbf" + raw,
        lambda raw: b"\0" * 4096 + raw,
        lambda raw: raw + b"\r",
        lambda raw: raw.replace(b'"cli"', b'"c\xffi"'),
        lambda raw: raw.replace(b'"cli"', b"NaN"),
        lambda raw: raw.replace(b'"isMeta": false', b'"isMeta": "no"'),
        lambda raw: raw.replace(b'"version": "2.1.332"', b'"version": {"a": 1}'),
        lambda raw: raw.replace(b'"timestamp"', b'"attachment": 1, "origin": [], "timestamp"'),
    ],
)
def test_a_spoilt_line_is_read_all_the_same(spoilt: object) -> None:
    raw = line(record("u1", None, "user", "a b c", isMeta=False, entrypoint="cli"))
    assert fed(reader(SOURCE), spoilt(raw)) == [entry("u1", None, Role.USER, Origin.HUMAN, "a b c")]  # type: ignore[operator]


def test_what_cannot_be_read_is_counted_and_surrogates_are_replaced() -> None:
    to = reader(SOURCE)
    words = b'{"type":"user","uuid":"u1","sessionId":"s1",'
    words += b'"message":{"content":["no block",{"type":"text","text":"a \\ud800 b"}]}}'
    assert prompts(fed(to, words, b"", b" \r", b"\0\0", b'{"type":"us', b"[1]", b"7", b"[" * 5000)) == [
        "a \ufffd b"
    ]
    fed(
        to,
        {"type": "some-future-type"},
        {"uuid": "z"},
        {"type": "mode", "mode": "x"},
        b'{"type":"mode","mo',
        b'{"type":"mode"}',
    )
    assert to.unknown == {"undecodable": 5, "some-future-type": 1, "untyped": 1}


def test_long_attachments_are_skimmed_and_stay_in_the_tree() -> None:
    long = (
        line(attachment("x1", "u1", type="prompt_snapshot", systemPrompt=["s" * 5000]))
        .replace(b", ", b",")
        .replace(b": ", b":")
    )
    skimmed = (
        b'{"parentUuid":"u1","isSidechain":false,"attachment":{"type":"prompt_snapshot","x":"' + b"s" * 5000
    )
    skimmed += b'"},"type":"attachment","uuid":"x1","timestamp":"2026-11-30T12:00:00.000Z","sessionId":"s1"}'
    short = skimmed.replace(b"s" * 5000, b"")
    for raw in (long, skimmed, skimmed.replace(b'"timestamp"', b'"time"'), short):
        seen = fed(
            reader(SOURCE),
            record("u1", None, "user", "first"),
            raw,
            raw,
            spoken("a1", "x1", text("answer")),
            record("u2", None, "user", "again"),
        )
        assert voided(seen) == {"u1", "a1"}


def test_the_version_and_session_are_those_of_the_records() -> None:
    to = reader(SOURCE)
    fed(to, {"type": "mode", "session_id": "s7"}, record("u1", None, "user", "x"))
    assert (to.session, to.version, list(to.settle())) == ("s1", "2.1.332", [])


@pytest.mark.parametrize(
    ("path", "belongs"),
    [
        ("-home-dev-shop/4c1ca625.jsonl", True),
        ("-home-dev-shop/agent-x.jsonl", True),
        ("-home-dev-shop/4c1ca625/subagents/agent-x.jsonl", True),
        ("-home-dev-shop/4c1ca625/subagents/workflows/wf_1/agent-x.jsonl", True),
        ("a/b/.claude/projects/-x/4c1ca625.jsonl", True),
        ("a/b/audit.jsonl", True),
        ("-home-dev-shop/4c1ca625/subagents/workflows/wf_1/journal.jsonl", False),
        ("-home-dev-shop/memory/a.jsonl", False),
        ("-home-dev-shop/memory/MEMORY.md", False),
        ("-home-dev-shop/sessions-index.json", False),
        ("-home-dev-shop/4c1ca625/tool-results/1.txt", False),
        ("-home-dev-shop/4c1ca625/subagents/agent-x.meta.json", False),
        ("history.jsonl", False),
    ],
)
def test_transcripts_belong_and_what_lies_beside_them_does_not(path: str, belongs: bool) -> None:
    assert SOURCE.belongs(path) is belongs


def test_roots_follow_the_environment_and_the_platform() -> None:
    assert SOURCE.roots(Surroundings({}, "/home/dev", "linux")) == ("/home/dev/.claude/projects",)
    assert SOURCE.roots(Surroundings({"CLAUDE_CONFIG_DIR": "/c/"}, "/home/dev", "linux")) == ("/c/projects",)
    desktop = "/Users/dev/Library/Application Support/Claude"
    assert SOURCE.roots(Surroundings({}, "/Users/dev", "darwin")) == (
        "/Users/dev/.claude/projects",
        f"{desktop}/claude-code-sessions",
        f"{desktop}/local-agent-mode-sessions",
    )


@pytest.mark.parametrize(
    ("path", "head", "claimed"),
    [
        ("/x/a.jsonl", line(record("u1", None, "user", "x")), True),
        ("/x/a.jsonl", b'{"type":"mode"}\n\n' + line({"type": "permission-mode", "sessionId": "s"}), True),
        ("/x/a.txt", line(record("u1", None, "user", "x")), False),
        ("/x/a.jsonl", line({"type": "user", "uuid": "u", "message": {"parts": []}}), False),
        ("/x/a.jsonl", b'{"type":"user"}\nnot json', False),
    ],
)
def test_a_transcript_is_known_by_its_first_lines(path: str, head: bytes, claimed: bool) -> None:
    assert SOURCE.claims(path, head) is claimed
    assert SOURCE.container(path) is Container.LINES


KEYS = (
    "type uuid parentUuid sessionId timestamp isMeta isSidechain message content text id name input "
    "tool_use_id is_error toolUseResult attachment prompt stop_reason command file_path "
    "origin kind subtype model forkedFrom cwd"
)
WORDS = (
    "user assistant system attachment queued_command tool_use tool_result text u1 a1 turn_duration "
    "end_turn Bash Write <system-reminder>"
)


@settings(max_examples=150)
@given(odd_records(KEYS.split(), [*WORDS.split(), "cat > a <<E", "[Request interrupted"]))
def test_no_record_is_too_odd_and_none_counts_twice(records: list[bytes]) -> None:
    to = reader(SOURCE)
    seen = fed(to, *records, *records)
    newest(seen)
    for each in seen:
        if isinstance(each, Entry):
            each.text.encode()


MODE = {"type": "mode", "mode": "normal", "sessionId": "s1"}


def test_an_answer_that_stands_before_its_prompt_follows_it() -> None:
    early, late = "2026-11-30T11:00:00.000Z", "2026-11-30T12:00:01.000Z"
    of_before = spoken("a0", "gone", text("Left over."), timestamp=early)
    answer = spoken("a1", "x2", text("Noted."), timestamp=late)
    end = record("s1", "a1", "system", subtype="turn_duration", timestamp=late)
    prompt = record("u1", None, "user", "we deploy on tuesdays", promptSource="typed")
    lines = [MODE, of_before, answer, end, prompt, attachment("x1", "u1"), attachment("x2", "x1")]
    left, asked, said, *_ = (each for each in fed(reader(SOURCE), *lines) if isinstance(each, Entry))
    assert [(each.id, each.turn_end) for each in (left, asked, said)] == [
        ("a0", True),
        ("u1", False),
        ("a1", True),
    ]


def test_an_answer_whose_prompt_never_comes_is_said_at_last() -> None:
    one = reader(SOURCE)
    assert fed(one, MODE, spoken("a1", "gone", text("Noted."))) == []
    assert [each.id for each in one.settle() if isinstance(each, Entry)] == ["a1"]
