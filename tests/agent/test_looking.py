from __future__ import annotations

import msgspec
import pytest
from agent.setting import BRANCH, BRANCH_KNOWN, SHOWN, call
from doubles import DictView

from extractord.agent.catalogue import CATALOGUE, TYPES
from extractord.agent.globbing import matches
from extractord.agent.prompts import load
from extractord.agent.tools import Tools
from extractord.core.records import Tool


def tools() -> Tools:
    view = DictView(
        user={"short-answers.md": "I like it short.\n"},
        project={"deploys-from-main.md": BRANCH, "area/long.md": "".join(f"line {n}\n" for n in range(5000))},
    )
    return Tools(view, SHOWN, [BRANCH_KNOWN])


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("/memory/**/*.md", "/memory/user/a.md", True),
        ("/memory/**/*.md", "/memory/a.md", True),
        ("/memory/*/a?.md", "/memory/user/ab.md", True),
        ("/memory/*/a?.md", "/memory/user/a.md", False),
        ("/memory/*", "/memory/user/a.md", False),
        ("/memory/**", "/memory/user/x/a.md", True),
        ("**/x/**/a.md", "/memory/x/y/a.md", True),
        ("/memory/user/*a*b*.md", "/memory/user/xxaxxbxx.md", True),
        ("/memory/user/A.md", "/memory/user/a.md", False),
    ],
)
def test_a_pattern_matches_by_segments(pattern: str, path: str, expected: bool) -> None:
    assert matches(pattern, path) is expected


def test_a_pattern_of_many_stars_costs_little() -> None:
    assert not matches("/memory/user/" + "*a" * 200 + "*b", "/memory/user/" + "a" * 200)


def test_glob_lists_memories_and_folders() -> None:
    assert tools().apply(call("Glob", pattern="/memory/project/*")) == (
        "/memory/project/area/\n/memory/project/deploys-from-main.md"
    )
    assert tools().apply(call("Glob", pattern="/memory/nowhere/*")) == "No memory matches."


def test_read_numbers_lines_and_says_how_to_read_on() -> None:
    asked = call("Read", file_path="/memory/project/area/long.md", offset=11, limit=2)
    assert tools().apply(asked) == "11\tline 10\n12\tline 11\n… 4988 more lines: read on with offset 13."
    behind = call("Read", file_path="/memory/project/area/long.md", offset=9999)
    assert tools().apply(behind) == "/memory/project/area/long.md has 5000 lines; line 9999 is past its end."


def test_an_answer_is_bounded() -> None:
    whole = Tools(DictView(user={"wide.md": "x" * 200_000}), SHOWN, [])
    assert len(whole.apply(call("Read", file_path="/memory/user/wide.md"))) < 70_000
    assert len(tools().apply(call("Grep", pattern="line"))) < 10_000


def test_read_of_a_folder_says_how_to_list_it() -> None:
    assert tools().apply(call("Read", file_path="/memory/project")) == (
        "/memory/project is a folder. List it with Glob, as /memory/project/*."
    )


def test_grep_finds_a_literal_string_in_any_case_below_a_path() -> None:
    nothing = "No memory holds that text."
    assert tools().apply(call("Grep", pattern="LIKE IT (", path="/memory/user")) == nothing
    assert tools().apply(call("Grep", pattern="like it", path="/memory/project")) == nothing
    found = "/memory/user/short-answers.md:1: I like it short."
    assert tools().apply(call("Grep", pattern="LIKE it")) == found


@pytest.mark.parametrize("tool", CATALOGUE, ids=lambda tool: tool.name)
def test_a_schema_names_what_the_type_takes_and_a_description_what_not(tool: Tool) -> None:
    fields = msgspec.structs.fields(TYPES[tool.name])
    properties, required = tool.parameters["properties"], tool.parameters["required"]
    assert isinstance(properties, dict)
    assert isinstance(required, list)
    assert list(properties) == [field.name for field in fields]
    needed = {field.name for field in fields if field.required}
    assert needed <= set(required) <= needed | {"evidence"}
    assert "Not " in tool.description


def test_the_fixed_part_is_under_1500_tokens() -> None:
    fixed = load().system + msgspec.json.encode(CATALOGUE).decode()
    assert len(fixed) / 4 <= 1500  # providers count 4.4 characters a token of it
