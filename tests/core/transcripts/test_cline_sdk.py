"""Sessions of Cline's SDK: only what stands in an input is a person's, once inputs are marked."""

from __future__ import annotations

from pathlib import Path

import pytest
from feeding import fed, line, newest, odd_records, prompts, reader, settled
from hypothesis import given, settings

from extractord.core.records import Entry, Origin, Role, ToolCall
from extractord.core.transcripts.cline import CLINE
from extractord.core.transcripts.cline_sdk import MANIFEST
from extractord.core.transcripts.source import Container, Surroundings
from extractord.reading.members import opened

PATH = "/h/.cline/data/sessions/1796040000000_ab12c/1796040000000_ab12c.messages.json"
S = "1796040000000_ab12c"
PLACE = {"cwd": "/home/dev/shop", "interactive": True, "metadata": {"git": {"branch": "main"}}}


def session(*messages: object, **more: object) -> dict[str, object]:
    return {"version": 1, "agent": "lead", "sessionId": S, "messages": list(messages), **more}


def said(role: str, *content: object, **more: object) -> dict[str, object]:
    blocks = [{"type": "text", "text": each} if isinstance(each, str) else each for each in content]
    return {"role": role, "content": blocks, "ts": 1_796_040_000_000, **more}


def typed(words: str) -> dict[str, object]:
    return said("user", f'<user_input mode="act">{words}</user_input>')


def uses(ident: str, name: str, given: object) -> dict[str, object]:
    return {"type": "tool_use", "id": ident, "name": name, "input": given}


def gives(ident: str, *results: object, **more: object) -> dict[str, object]:
    return {"type": "tool_result", "tool_use_id": ident, "content": list(results), **more}


def read(*messages: object, manifest: object = None, path: str = PATH, **more: object) -> list[Entry]:
    beside = {MANIFEST: line(PLACE if manifest is None else manifest)}
    return [*newest(fed(reader(CLINE, path, beside), session(*messages, **more))).values()]


def test_a_session_is_read_with_what_came_of_its_calls() -> None:
    entries = read(
        typed("note it"),
        said(
            "assistant",
            {"type": "thinking", "thinking": "hm"},
            "I do.",
            uses("c1", "editor", {"path": "../memory/a.md", "new_text": "x"}),
            uses("c2", "run_commands", {"commands": ["ls", {"command": "tee", "args": ["b c.md"]}]}),
            uses("c3", "read_files", {"files": [{"path": "/w/x.md"}, "/w/y.md"]}),
        ),
        said(
            "user",
            gives("c1", {"query": "edit:a", "result": "Edited", "success": True}),
            gives("c2", {"query": "ls", "result": "x", "success": True}, {"error": "no", "success": False}),
            gives("c3", {"type": "text", "text": "words of a file"}),
        ),
    )
    assert prompts(entries) == ["note it"]
    (answer,) = [each for each in entries if each.role is Role.ASSISTANT]
    assert answer.calls == (
        ToolCall(id="c1", name="editor", paths=("/home/dev/memory/a.md",), writes=True, ok=True),
        ToolCall(id="c2/0", name="run_commands", ok=True),
        ToolCall(id="c2/1", name="run_commands", paths=("/home/dev/shop/b c.md",), writes=True, ok=False),
        ToolCall(id="c3", name="read_files", paths=("/w/x.md", "/w/y.md"), ok=True),
    )
    assert {(each.session, each.cwd, each.branch) for each in entries} == {(S, "/home/dev/shop", "main")}
    assert [each.text for each in entries if each.role is Role.TOOL] == ["Edited", "x\nno", "words of a file"]


def test_of_several_commands_each_ends_for_itself() -> None:
    commands = {"commands": ["echo x > /w/a.md", "false"]}
    asked = said("assistant", uses("c1", "run_commands", commands))
    apart = gives(
        "c1", {"query": "echo", "result": "", "success": True}, {"query": "false", "success": False}
    )
    (answer, *_) = read(asked, said("user", apart))
    assert [call.ok for call in answer.calls] == [True, False]
    (answer, *_) = read(asked, said("user", gives("c1", {"type": "text", "text": "no"}, is_error=True)))
    assert [call.ok for call in answer.calls] == [False, False]


@pytest.mark.parametrize(
    ("messages", "typed_words"),
    [
        ([said("user", "an older one")], ["an older one"]),
        ([typed("ours"), said("user", "You made no tool call. Go on.")], ["ours"]),
        ([typed("<mode_notice>The user switched.</mode_notice>\nours")], ["ours"]),
        ([said("user", '<mode_notice>x</mode_notice><user_input mode="plan">ours</user_input>')], ["ours"]),
        ([typed("ours\n\n<editor_state>\nActive file: a\n</editor_state>")], ["ours"]),
        ([typed("ours"), said("user", '<file_content path="a">\n<b>\n</file_content>')], ["ours"]),
        ([typed("a <b> c")], ["a <b> c"]),
        ([typed("The user approved switching to act mode. Continue with the approved plan now.")], []),
        (
            [
                said(
                    "user",
                    '<user_command slash="team">'
                    "spawn a team of agents for the following task: x</user_command>",
                )
            ],
            ["x"],
        ),
        ([said("user", "Context summary:\n\nx", metadata={"kind": "compaction_summary"})], []),
        ([said("user", "Context summary:\n\nx")], []),
        ([{"role": "user", "content": "as a text"}], ["as a text"]),
    ],
)
def test_only_what_a_person_gave_is_theirs(messages: list[object], typed_words: list[str]) -> None:
    assert prompts(read(*messages)) == typed_words


def test_a_program_drives_what_is_not_interactive() -> None:
    (entry,) = read(typed("go"), manifest={"interactive": False})
    assert entry.origin is Origin.HEADLESS
    (entry,) = read(typed("go"), manifest={"interactive": True})
    assert entry.origin is Origin.HUMAN


@pytest.mark.parametrize(
    ("path", "manifest", "more"),
    [
        (PATH.replace(f"{S}.messages", "scout__task1.messages"), PLACE, {}),
        (PATH.replace(f"{S}.messages", "scout.messages"), PLACE, {}),
        (PATH, {"parent_session_id": "1"}, {}),
        (PATH, PLACE, {"origin": {"subagent": "scout"}}),
    ],
)
def test_what_a_team_mate_is_told_is_no_persons(path: str, manifest: object, more: dict[str, object]) -> None:
    (entry,) = read(typed("go"), path=path, manifest=manifest, **more)
    assert entry.origin is Origin.SUBAGENT


def test_a_document_that_has_grown_brings_only_what_is_new() -> None:
    to = reader(CLINE, PATH)
    assert prompts(fed(to, session(typed("one")))) == ["one"]
    assert fed(to, session(typed("one"))) == []
    assert prompts(fed(to, session(typed("one"), typed("two")))) == ["two"]
    assert prompts(fed(reader(CLINE, PATH), [typed("bare")])) == ["bare"]


def test_where_it_is_and_what_stands_beside_it(tmp_path: Path) -> None:
    around = Surroundings({"CLINE_DATA_DIR": "/d"}, "/home/dev", "linux")
    assert CLINE.roots(around)[-2:] == ("/d/tasks", "/d/sessions")
    assert CLINE.roots(Surroundings({}, "/h", "linux"))[-1] == "/h/.cline/data/sessions"
    assert CLINE.roots(Surroundings({"CLINE_SESSION_DATA_DIR": "/s"}, "/h", "linux"))[-1] == "/s"
    assert CLINE.belongs(f"{S}/{S}.messages.json")
    assert not CLINE.belongs(f"{S}/{S}.json")
    assert CLINE.container(PATH) is Container.DOCUMENT
    assert CLINE.claims(PATH, line(session(typed("x"))))
    assert not CLINE.claims(PATH, b"{}")
    folder = tmp_path / S
    folder.mkdir()
    (folder / f"{S}.json").write_text('{"cwd": "/w"}')
    transcript = opened(CLINE, str(folder / f"{S}.messages.json"))
    assert transcript.beside == {MANIFEST: b'{"cwd": "/w"}'}


def test_odd_documents_are_counted() -> None:
    to = reader(CLINE, PATH)
    assert fed(to, {"version": 1}, b"[", session(said("novel", "x"))) == []
    assert to.unknown == {"no messages": 2, "undecodable": 1, "message/novel": 1}


KEYS = [
    "messages",
    "role",
    "content",
    "type",
    "text",
    "id",
    "name",
    "input",
    "tool_use_id",
    "commands",
    "files",
]
WORDS = [
    "user",
    "assistant",
    "tool_use",
    "tool_result",
    "run_commands",
    "read_files",
    "<user_input>x",
    "text",
]


@settings(max_examples=100)
@given(odd_records(KEYS, WORDS), odd_records(KEYS, WORDS))
def test_no_document_raises_and_no_id_comes_twice_unrevised(
    records: list[bytes], beside: list[bytes]
) -> None:
    to = reader(CLINE, PATH, {MANIFEST: b"".join(beside)})
    joined = b'{"messages":[' + b",".join(records) + b"]}"
    newest(settled(to, *records, joined, *records))


def test_a_command_is_known_in_every_form_and_an_error_by_its_flag() -> None:
    write = {"command": "echo x > /w/a.md"}
    given_ = [write, {"commands": write["command"]}, {"cmd": [write["command"]]}, write["command"], {"x": 1}]
    for nth, each in enumerate(given_):
        result = gives("c1", {"type": "text", "text": "no"}, is_error=True)
        entries = read(said("assistant", uses("c1", "run_commands", each)), said("user", result))
        (call,) = entries[0].calls
        assert (call.paths, call.ok) == (("/w/a.md",) if nth < len(given_) - 1 else (), False)
    only = said("user", typed("x"), '<user_input mode="act"><mode_notice>x</mode_notice></user_input>')
    assert prompts(read(only)) == []
