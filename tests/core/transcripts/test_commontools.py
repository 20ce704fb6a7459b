from __future__ import annotations

import json

import pytest

from extractord.core.records import ToolCall
from extractord.core.transcripts.commontools import common_call, has_failed

CWD = "/home/dev/shop"


@pytest.mark.parametrize(
    ("name", "arguments", "path", "writes"),
    [
        ("Write", {"path": "a.md"}, "a.md", True),
        ("write_to_file", {"path": "a.md"}, "a.md", True),
        ("create_new_file", '{"filepath":"a.md"}', "a.md", True),
        ("single_find_and_replace", {"filepath": "a.md"}, "a.md", True),
        ("WriteFile", {"path": "a.md"}, "a.md", True),
        ("mcp__files__write_file", {"file_path": "a.md"}, "a.md", True),
        ("functions.create_file", '{"filePath":"a.md"}', "a.md", True),
        ("str_replace_editor", {"command": "str_replace", "path": "a.md"}, "a.md", True),
        ("str_replace_editor", {"command": "view", "path": "a.md"}, "a.md", False),
        ("apply_patch", "*** Begin Patch\n*** Add File: a.md\n", "a.md", True),
        ("apply_patch", {"patch": "*** Update File: a.md"}, "a.md", True),
        ("patch", {"patch": "*** Delete File: a.md"}, "a.md", True),
        ("patch", {"path": "a.md", "old_string": "x"}, "a.md", True),
        ("run_terminal_cmd", {"command": "echo x > a.md"}, "a.md", True),
        ("shell", {"command": ["bash", "-lc", "echo x > a.md"]}, "a.md", True),
        ("shell", {"command": ["rm", "a.md"]}, "a.md", True),
        ("bash_command", {"keystrokes": "echo x > a.md\n"}, "a.md", True),
        ("exec", {"command": "cat a.md", "workdir": "sub"}, "sub/a.md", False),
        ("search_replace", {"file_path": "a.md", "old_string": "x"}, "a.md", True),
        ("MultiStrReplace", {"path": "a.md"}, "a.md", True),
        ("EditNotebook", {"target_notebook": "a.ipynb"}, "a.ipynb", True),
        ("insert_edit_into_file", {"filePath": "a.md"}, "a.md", True),
        ("fs_write_file", {"path": "a.md"}, "a.md", True),
        ("morph_edit_file", {"path": "a.md"}, "a.md", True),
        ("mcp_files_move_file", {"source": "b.md", "destination": "a.md"}, "a.md", True),
        ("move_file", {"source": "b.md", "destination": "a.md"}, "a.md", True),
        ("extractord_memory_read", {"path": "a.md"}, "a.md", False),
        ("Read", {"file_path": "a.md"}, "a.md", False),
    ],
)
def test_a_tool_is_known_by_its_letters(name: str, arguments: object, path: str, writes: bool) -> None:
    call = ToolCall(id="c1", name=name, paths=(f"{CWD}/{path}",), writes=writes)
    assert common_call("c1", name, arguments, CWD) == call


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("todo", {"path": "a.md"}),
        ("todo_write", {"todos": []}),
        ("rewriter", {"path": "a.md"}),
        ("get_created_files", {"path": "a.md"}),
        ("Agent", {"prompt": "x"}),
        ("write", "not json"),
        ("shell", {"command": []}),
        ("", None),
    ],
)
def test_other_tools_and_odd_arguments_name_nothing(name: str, arguments: object) -> None:
    assert common_call("c1", name, arguments, CWD) == ToolCall(id="c1", name=name)


@pytest.mark.parametrize(
    ("result", "failed"),
    [
        ("ok", False),
        ("", False),
        ("Saved; the error page is fine", False),
        ("Error: no such file", True),
        ("<error>x</error>", True),
        ("The user denied this operation.", True),
        ("done\nExit code: 0", False),
        ("done\nexit code 2", True),
        (json.dumps({"ok": True}), False),
        (json.dumps({"output": "x", "exit_code": 0, "error": None}), False),
        (json.dumps({"output": "x", "exit_code": 1}), True),
        (json.dumps({"success": False}), True),
        (json.dumps({"error": "x"}), True),
        ("{torn", False),
    ],
)
def test_a_result_says_by_its_own_words_whether_it_was_done(result: str, failed: bool) -> None:
    assert has_failed(result) is failed
