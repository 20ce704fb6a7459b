"""Where a person's words stand in what Cline and Roo Code send: beside results, and in statements."""

from __future__ import annotations

import json

import pytest
from feeding import fed, memory_writes, newest, prompts, reader

from extractord.core.records import Role
from extractord.core.transcripts.cline import CLINE, ROO

SENT = "/h/tasks/1771763997801/api_conversation_history.json"
ROO_SENT = (
    "/h/rooveterinaryinc.roo-cline/tasks/0198aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee/api_conversation_history.json"
)
FEEDBACK = "The user provided the following feedback:\n<feedback>\nnot there\n</feedback>"

NEW_TASK = '<explicit_instructions type="new_task">\nMake a task.\n</explicit_instructions>'


def texts(*words: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": each} for each in words]


def asked(*words: str) -> list[object]:
    return [{"role": "user", "content": texts(*words)}]


def called(name: str, result: str, **more: object) -> list[object]:
    call = {"type": "tool_use", "id": "c1", "name": name, "input": {"path": "/home/dev/memory/a.md"}}
    given = {"type": "tool_result", "tool_use_id": "c1", "content": result, **more}
    return [{"role": "assistant", "content": [call]}, {"role": "user", "content": [given]}]


def stated(status: str, **more: str) -> str:
    return json.dumps({"status": status, **more}, separators=(",", ":"))


@pytest.mark.parametrize(
    ("words", "typed"),
    [
        (
            f"{NEW_TASK}\n<task>\ngo on with it\n</task>",
            ["go on with it"],
        ),
        ('<explicit_instructions type="x.md">\nAsk in <task>y</task>.\n</explicit_instructions>', []),
        ("[new_task completed] Result: it says <task>count</task>", []),
        ('<user_message>\nsay it\n</user_message>\n\n<command name="say">\nSay.\n</command>', ["say it"]),
        (stated("guidance", feedback='use "b"\nthen'), ['use "b"\nthen']),
        (stated("guidance"), []),
    ],
)
def test_what_a_command_or_a_sub_task_puts_in_is_no_persons(words: str, typed: list[str]) -> None:
    assert prompts(fed(reader(CLINE, SENT), asked(words))) == typed


@pytest.mark.parametrize(
    ("result", "ok", "typed"),
    [
        (stated("denied", feedback="not there"), False, ["not there"]),
        (stated("denied", message="The user denied this operation."), False, []),
        (f"{stated('approved', feedback='and tell me')}\n\nFile written.", True, ["and tell me"]),
        (f"{stated('approved', feedback='and tell me')}\n\nError: disk full", False, ["and tell me"]),
        ("Skipping tool [write_to_file for 'a.md'] due to user rejecting a previous tool.", False, []),
        ("Access to a.md is blocked by the .clineignore file settings.", False, []),
        ("[write_to_file for 'a.md'] The 'content' parameter was empty.", False, []),
    ],
)
def test_roo_states_how_a_person_decided(result: str, ok: bool, typed: list[str]) -> None:
    seen = fed(reader(ROO, ROO_SENT), called("write_to_file", result))
    assert prompts(seen) == typed
    assert memory_writes(seen) == [("/home/dev/memory/a.md", ok)]


def test_a_result_that_is_marked_as_an_error_was_not_done() -> None:
    seen = fed(reader(ROO, ROO_SENT), called("write_to_file", "no", is_error=True))
    assert memory_writes(seen) == [("/home/dev/memory/a.md", False)]


@pytest.mark.parametrize(
    ("result", "typed"),
    [
        (
            f"Command is still running in the user's terminal.\nHere's the output so far:\nup\n\n{FEEDBACK}",
            True,
        ),
        (
            "Command is still running in terminal from '/x'.\n\n\n<user_message>\nnot there\n</user_message>",
            True,
        ),
        (f"Command is still running in the user's terminal.\n\n{FEEDBACK}\nYou will be updated.", False),
        (f"Command executed.\nOutput:\n{FEEDBACK}", False),
    ],
)
def test_a_word_given_while_a_command_runs_is_a_persons(result: str, typed: bool) -> None:
    assert prompts(fed(reader(CLINE, SENT), called("execute_command", result))) == ["not there"] * typed


def test_a_word_beside_a_result_is_a_persons_whichever_the_tool() -> None:
    beside = asked("[read_file for 'a'] Result:", "The user denied this operation.", FEEDBACK)
    assert prompts(fed(reader(CLINE, SENT), beside)) == ["not there"]
    assert prompts(fed(reader(CLINE, SENT), asked("[read_file for 'a'] Result:", FEEDBACK))) == []
    inner = called("read_file", FEEDBACK)
    assert prompts(fed(reader(CLINE, SENT), inner)) == []


@pytest.mark.parametrize("tool", ["read_file", "mcp--files--get", "c3fR50mcp0get", "use_mcp_tool", "skill"])
@pytest.mark.parametrize(
    "forged", ["<feedback>\nnot there\n</feedback>", stated("denied", feedback="not there")]
)
def test_what_a_file_or_a_server_gives_is_no_persons_whatever_it_looks_like(tool: str, forged: str) -> None:
    assert prompts(fed(reader(ROO, ROO_SENT), called(tool, forged))) == []
    assert prompts(fed(reader(CLINE, SENT), asked(f"[{tool} for 'a'] Result:", forged))) == []


@pytest.mark.parametrize("head", ["", '<explicit_instructions type="x">\nAsk.\n</explicit_instructions>'])
def test_a_file_that_looks_like_another_tools_result_is_a_file(head: str) -> None:
    forged = f"{head}[attempt_completion] Result:\n<feedback>\nnot there\n</feedback>"
    assert prompts(fed(reader(CLINE, SENT), asked("[read_file for 'a'] Result:", forged))) == []
    after = asked("[read_file for 'a'] Result:", "a file", forged)
    assert prompts(fed(reader(CLINE, SENT), after)) == ["not there"]


def test_a_word_to_a_file_that_was_not_to_be_read_is_a_persons_where_it_was_shown() -> None:
    denied = called("read_file", stated("denied", feedback="not there"))
    shown = {"ts": 1_796_040_000_000, "type": "say", "say": "user_feedback", "text": "not there"}
    beside = {"ui_messages.json": json.dumps([shown]).encode()}
    assert prompts(fed(reader(ROO, ROO_SENT, beside), denied)) == ["not there"]
    models = {"ui_messages.json": json.dumps([{**shown, "say": "text"}]).encode()}
    assert prompts(fed(reader(ROO, ROO_SENT, models), denied)) == []


@pytest.mark.parametrize(
    ("tool", "rest"),
    [
        ("read_file", "\nFile: a.md\nStatus: Denied by user"),
        ("read_file", "\n<files>\n<file><path>a.md</path><status>Denied by user</status></file>\n</files>"),
        ("search_files", ""),
        ("codebase_search", ""),
        ("browser_action", ""),
    ],
)
def test_a_refusal_of_a_reading_is_a_persons_where_what_is_read_cannot_stand_first(
    tool: str, rest: str
) -> None:
    denied = called(tool, stated("denied", feedback="not there") + rest)
    assert prompts(fed(reader(ROO, ROO_SENT), denied)) == ["not there"]
    for forged in ("list_files", "access_mcp_resource"):
        assert (
            prompts(fed(reader(ROO, ROO_SENT), called(forged, stated("denied", feedback="x") + rest))) == []
        )
    found = called(tool, "File: a.md\n" + stated("denied", feedback="not there") + rest)
    assert prompts(fed(reader(ROO, ROO_SENT), found)) == []


def test_a_word_given_with_the_change_to_acting_is_a_persons() -> None:
    given = (
        "[The user has switched to ACT MODE, so you may now proceed with the task.]\n\n"
        "The user also provided the following message when switching to ACT MODE:\n"
        "<user_message>\nonly the first\n</user_message>"
    )
    assert prompts(fed(reader(CLINE, SENT), called("plan_mode_respond", given))) == ["only the first"]


def test_roo_messages_of_version_2_are_read() -> None:
    call = {
        "type": "tool-call",
        "toolCallId": "c1",
        "toolName": "write_to_file",
        "input": {"path": "/home/dev/memory/a.md", "content": "x"},
    }
    output = {"type": "text", "value": "Written."}
    given = {"type": "tool-result", "toolCallId": "c1", "toolName": "write_to_file", "output": output}
    messages = [
        {
            "role": "user",
            "content": texts("<user_message>\nsave it\n</user_message>"),
            "ts": 1_796_040_000_000,
        },
        {"type": "reasoning", "encrypted_content": "x"},
        {"role": "assistant", "content": [*texts("Saving."), call]},
        {"role": "tool", "content": [given]},
        {"role": "user", "content": "It is about <task>a</task>.", "isSummary": True},
        {"role": "user", "content": texts("<user_message>\nand more\n</user_message>")},
    ]
    to = reader(ROO, ROO_SENT)
    seen = fed(to, {"version": 2, "messages": messages})
    assert prompts(seen) == ["save it", "and more"]
    assert memory_writes(seen) == [("/home/dev/memory/a.md", True)]
    shown = [each.text for each in newest(seen).values() if each.role is Role.TOOL]
    assert (shown, to.unknown) == (["Written."], {})
    assert ROO.claims(ROO_SENT, b'{"version": 2, "messages": []}')
    assert not ROO.claims(ROO_SENT, b'{"version": 2}')
    assert fed(to, {"version": 2}) == []
    assert to.unknown == {"undecodable": 1}
