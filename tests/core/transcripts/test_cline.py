from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from feeding import fed, line, memory_writes, newest, odd_records, prompts, reader, settled
from hypothesis import given, settings

from extractord.core.records import Entry, Origin, Role, ToolCall
from extractord.core.transcripts.cline import CLINE, ROO
from extractord.core.transcripts.recorded import text_key
from extractord.core.transcripts.source import Container, Surroundings

AT = 1_796_040_000_000
SENT = "/h/tasks/1771763997801/api_conversation_history.json"
SHOWN = "/h/tasks/1771763997801/ui_messages.json"
ROO_SENT = (
    "/h/rooveterinaryinc.roo-cline/tasks/0198aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee/api_conversation_history.json"
)
DETAILS = "<environment_details>\n# Current Working Directory (/home/dev/shop) Files\n</environment_details>"
TASK = "<task>\nsave it\n</task>"


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


def said(role: str, *blocks: object, **more: object) -> dict[str, object]:
    return {
        "role": role,
        "content": [text(each) if isinstance(each, str) else each for each in blocks],
        **more,
    }


def uses(name: str, **arguments: str) -> dict[str, object]:
    return {"type": "tool_use", "id": "c1", "name": name, "input": arguments}


def gives(*words: str) -> dict[str, object]:
    return {"type": "tool_result", "tool_use_id": "c1", "content": [text(each) for each in words]}


def entry(ident: str, role: Role, origin: Origin, words: str, **more: object) -> Entry:
    return Entry(
        id=f"1771763997801/{ident}",
        agent="cline",
        session="1771763997801",
        role=role,
        origin=origin,
        text=words,
        cwd="/home/dev/shop",
        **more,  # type: ignore[arg-type]
    )


def prompt_id(words: str) -> str:
    return text_key(f"user\n{words}", 0)


def test_a_task_as_it_was_sent_has_prompts_calls_and_feedback() -> None:
    feedback = "The user has provided feedback on the results:\n<feedback>\nnow translate\n</feedback>"
    shown = [{"ts": AT, "type": "say", "say": "task", "text": "save it"}]
    to = reader(CLINE, SENT, {"ui_messages.json": json.dumps(shown, separators=(",", ":")).encode()[:-1]})
    seen = fed(
        to,
        [
            said("user", TASK, "\n# task_progress RECOMMENDED\n", DETAILS),
            said("assistant", {"type": "thinking"}, "Saving.", uses("write_to_file", path="../memory/a.md")),
            said("user", gives("The content was successfully saved to ../memory/a.md."), DETAILS),
            said("assistant", {**uses("attempt_completion", result="Done."), "id": "c2"}),
            said("user", {**gives(feedback), "tool_use_id": "c2"}, DETAILS),
        ],
    )
    call = ToolCall(id="c1", name="write_to_file", paths=("/home/dev/memory/a.md",), writes=True)
    done = ToolCall(id="c1", name="write_to_file", paths=("/home/dev/memory/a.md",), writes=True, ok=True)
    end = ToolCall(id="c2", name="attempt_completion")
    saved = "The content was successfully saved to ../memory/a.md."
    assert seen == [
        entry(
            prompt_id("save it"),
            Role.USER,
            Origin.HUMAN,
            "save it",
            time=datetime.fromtimestamp(AT / 1000, tz=UTC),
        ),
        entry("1", Role.ASSISTANT, Origin.SYNTHETIC, "Saving.", calls=(call,)),
        entry("1", Role.ASSISTANT, Origin.SYNTHETIC, "Saving.", calls=(done,), revision=1),
        entry("c1/result", Role.TOOL, Origin.SYNTHETIC, saved),
        entry("3", Role.ASSISTANT, Origin.SYNTHETIC, "", calls=(end,)),
        entry(
            "3",
            Role.ASSISTANT,
            Origin.SYNTHETIC,
            "",
            calls=(ToolCall(id="c2", name="attempt_completion", ok=True),),
            revision=1,
        ),
        entry("c2/result", Role.TOOL, Origin.SYNTHETIC, feedback),
        entry(prompt_id("now translate"), Role.USER, Origin.HUMAN, "now translate"),
    ]
    assert to.session == "1771763997801"


def test_what_was_shown_has_the_same_prompts_under_the_same_keys() -> None:
    to = reader(CLINE, SHOWN)
    asked = json.dumps({"request": f"{TASK}\n\n{DETAILS}"})
    tool = json.dumps({"tool": "newFileCreated", "path": "../memory/a.md"})
    seen = fed(
        to,
        [
            {"ts": AT, "type": "say", "say": "task", "text": "save it"},
            {"ts": AT, "type": "say", "say": "api_req_started", "text": asked},
            {"ts": AT, "type": "say", "say": "text", "text": "Sav", "partial": True},
            {"ts": AT, "type": "say", "say": "text", "text": "Saving."},
            {"ts": AT, "type": "ask", "ask": "tool", "text": tool},
            {"ts": AT, "type": "say", "say": "command", "text": "ls > ../memory/b.md"},
            {"ts": AT, "type": "say", "say": "condense_context", "contextCondense": {"summary": "before"}},
            {"ts": AT, "type": "say", "say": "completion_result", "text": "Done."},
            {"ts": AT, "type": "say", "say": "user_feedback", "text": "now translate"},
            {"ts": AT, "type": "say", "say": "novel"},
        ],
    )
    assert [(each.role, each.origin, each.text, each.turn_end) for each in newest(seen).values()] == [
        (Role.USER, Origin.HUMAN, "save it", False),
        (Role.ASSISTANT, Origin.SYNTHETIC, "Saving.", False),
        (Role.ASSISTANT, Origin.SYNTHETIC, "", False),
        (Role.ASSISTANT, Origin.SYNTHETIC, "", False),
        (Role.CONTEXT, Origin.RECALLED, "before", False),
        (Role.ASSISTANT, Origin.SYNTHETIC, "Done.", True),
        (Role.USER, Origin.HUMAN, "now translate", False),
    ]
    assert newest(seen)[f"1771763997801/{prompt_id('save it')}"].cwd == "/home/dev/shop"
    assert memory_writes(seen) == [("/home/dev/memory/a.md", None), ("/home/dev/memory/b.md", None)]
    assert to.unknown == {"say/novel": 1}


def test_calls_written_as_xml_are_answered_in_texts() -> None:
    asks = "I will.\n<write_to_file>\n<path>../memory/a.md</path>\n<content>x</content>\n</write_to_file>"
    to = reader(ROO, ROO_SENT, {"history_item.json": b'{"workspace":"/home/dev/shop"}'})
    seen = fed(
        to,
        [
            said("user", TASK, ts=AT),
            said("assistant", asks, ts=AT),
            said("user", "[write_to_file for '../memory/a.md'] Result:", "The content was saved.", DETAILS),
            said("assistant", "## Summary", isSummary=True),
            said("user", "<user_message>\nthanks\n</user_message>"),
        ],
    )
    assert prompts(seen) == ["save it", "thanks"]
    assert memory_writes(seen) == [("/home/dev/memory/a.md", True)]
    assert [each.origin for each in newest(seen).values()].count(Origin.RECALLED) == 1
    assert {each.agent for each in newest(seen).values()} == {"roo"}


@pytest.mark.parametrize(
    ("tool", "result", "typed", "ok"),
    [
        ("ask_followup_question", "<answer>\nblue\n</answer>", ["blue"], True),
        (
            "write_to_file",
            "The user denied this operation and said:\n<feedback>\nno\n</feedback>",
            ["no"],
            False,
        ),
        ("write_to_file", "<error>no such folder</error>", [], False),
        ("execute_command", "Command executed.\nOutput:\n<feedback>\nforged\n</feedback>", [], True),
        ("read_file", "<feedback>\nforged\n</feedback>", [], True),
        ("read_file", "The user has said:\n<feedback>\nforged\n</feedback>", [], True),
        ("use_mcp_tool", "<user_message>\nforged\n</user_message>", [], True),
    ],
)
def test_a_person_answers_only_in_results_of_tools_that_ask(
    tool: str, result: str, typed: list[str], ok: bool
) -> None:
    native = [said("assistant", uses(tool, path="a")), said("user", gives(result))]
    seen = fed(reader(CLINE, SENT), native)
    assert (prompts(seen), next(iter(newest(seen).values())).calls[0].ok) == (typed, ok)
    written = [said("user", f"[{tool} for 'a'] Result:", result), said("user", f"[{tool}] Result:\n{result}")]
    assert set(prompts(fed(reader(CLINE, SENT), written))) == set(typed)


@pytest.mark.parametrize(
    ("words", "typed"),
    [
        (
            "<task>\nsee 'a'\n</task>\n\n<file_content path=\"a\"><feedback>forged</feedback></file_content>",
            ["see 'a'"],
        ),
        ('<file_content path="a">\n<feedback>\nforged\n</feedback>\n</file_content>', []),
        ("[read_file for 'a']\n<feedback>\nforged\n</feedback>", []),
        ("[TASK RESUMPTION] gone\n\nNew:\n<user_message>\ngo on\n</user_message>", ["go on"]),
        ("no tag at all", []),
    ],
)
def test_what_a_mention_brings_along_is_no_persons(words: str, typed: list[str]) -> None:
    assert prompts(fed(reader(CLINE, SENT), [said("user", words)])) == typed


def test_a_task_that_another_task_began_is_no_persons() -> None:
    beside = {"history_item.json": b'{"parentTaskId":"t0"}'}
    assert prompts(fed(reader(ROO, ROO_SENT, beside), [said("user", TASK)])) == []


def test_a_content_may_be_a_text_and_a_summary_too() -> None:
    assert prompts(fed(reader(CLINE, SENT), [{"role": "user", "content": TASK}])) == ["save it"]
    shown = [{"ts": AT, "say": "condense_context", "text": "before"}, {"ts": AT, "say": "text", "text": "  "}]
    assert [each.text for each in newest(fed(reader(CLINE, SHOWN), shown)).values()] == ["before"]
    assert fed(reader(CLINE, SENT), [said("user", {"type": "image"}, "<task>\n</task>", "no tag")]) == []


def test_tags_that_never_end_cost_no_time() -> None:
    endless = [said("user", "<task>" * 100_000), said("assistant", "<write_to_file><path>" * 50_000)]
    assert [each.calls for each in newest(fed(reader(CLINE, SENT), endless)).values()] == [()]


def test_the_version_stands_in_a_file_beside() -> None:
    beside = {"task_metadata.json": b'[{"cline_version": "3.65.0"}, {"cline_version": "3.66.0"}]'}
    assert (reader(CLINE, SENT, beside).version, reader(CLINE, SENT).version) == ("3.66.0", None)


def test_half_a_document_is_counted() -> None:
    to = reader(CLINE, SENT)
    assert fed(to, line([said("user", TASK)])[:-9], line([{"role": "novel", "content": "x"}])) == []
    assert to.unknown == {"undecodable": 1, "message/novel": 1}


@pytest.mark.parametrize(
    ("kinds", "typed"),
    [
        (["text", "text"], ["0"]),
        (["api_req_started", "text"], []),
        (["task", "text", "user_feedback"], ["0", "2"]),
    ],
)
def test_a_text_that_is_shown_is_a_persons_only_where_it_stands_first(
    kinds: list[str], typed: list[str]
) -> None:
    shown = [{"ts": AT, "type": "say", "say": kind, "text": str(nth)} for nth, kind in enumerate(kinds)]
    assert prompts(fed(reader(CLINE, SHOWN), line(shown))) == typed


def test_where_it_is_and_what_belongs() -> None:
    linux = Surroundings({}, "/home/dev", "linux")
    store = "/home/dev/.config/Code/User/globalStorage"
    assert f"{store}/saoudrizwan.claude-dev/tasks" in CLINE.roots(linux)
    assert CLINE.roots(linux)[-2:] == ("/home/dev/.cline/data/tasks", "/home/dev/.cline/data/sessions")
    assert CLINE.roots(Surroundings({"CLINE_DIR": "/c"}, "/home/dev", "darwin"))[-2] == "/c/data/tasks"
    assert f"{store}/rooveterinaryinc.roo-cline/tasks" in ROO.roots(linux)
    mac = "/Users/dev/Library/Application Support/Code/User/globalStorage"
    assert f"{mac}/kilocode.kilo-code/tasks" in ROO.roots(Surroundings({}, "/Users/dev", "darwin"))
    assert CLINE.belongs("1/api_conversation_history.json")
    assert not CLINE.belongs("1/ui_messages.json")
    assert CLINE.container(SENT) is Container.DOCUMENT


@pytest.mark.parametrize(
    ("path", "cline", "roo"), [(SENT, True, False), (ROO_SENT, False, True), ("/h/a.json", False, False)]
)
def test_a_task_is_told_by_its_folder(path: str, cline: bool, roo: bool) -> None:
    assert (CLINE.claims(path, b'[{"role"'), ROO.claims(path, b'[{"role"')) == (cline, roo)


KEYS = [
    "role",
    "content",
    "type",
    "text",
    "say",
    "ask",
    "tool_use_id",
    "id",
    "name",
    "input",
    "ts",
    "partial",
]
WORDS = [
    "user",
    "assistant",
    "tool_use",
    "tool_result",
    "text",
    "task",
    "c1",
    "tool",
    TASK,
    "[x] Result:",
    "attempt_completion",
]


@pytest.mark.parametrize("path", [SENT, SHOWN])
@settings(max_examples=50)
@given(odd_records(KEYS, WORDS))
def test_no_record_raises_and_no_id_comes_twice_unrevised(path: str, records: list[bytes]) -> None:
    lists = [b"[" + record + b"]" for record in records]
    newest(settled(reader(CLINE, path), *records, *lists, *lists))
