from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from extractord.core.casereading import read_case
from extractord.core.cases import Before, Case, Forgotten, Heard, MustKeep, MustNotKeep, ToolUse
from extractord.core.records import Origin, Role

SAID = {"role": "user", "text": "we deploy on Tuesdays"}


def read(**given: Any) -> Case:
    problems: list[str] = []
    case = read_case({"entries": [SAID], **given}, "some-file", problems.append)
    assert problems == []
    assert case is not None
    return case


def problems_of(given: object) -> list[str]:
    problems: list[str] = []
    assert read_case(given, "some-file", problems.append) is None
    return problems


def test_a_case_needs_no_more_than_what_was_said() -> None:
    assert read() == Case(
        id="some-file",
        kind="unsorted",
        entries=(
            Heard(id="entry-1", role=Role.USER, origin=Origin.HUMAN, text="we deploy on Tuesdays"),
        ),
    )  # fmt: skip


def test_every_key_is_read_as_it_is_written() -> None:
    case = read(
        id="c1",
        kind="update",
        project="/srv/shop",
        now="2026-11-30T12:00:00+01:00",
        memories_before=[
            {"file": "a.md", "scope": "user", "name": "a", "description": "b", "type": "user", "body": "c"},
            {"file": "project/d", "description": "d", "trust": "confirmed"},
        ],
        forgotten_before=[{"name": "n", "description": "d", "evidence_entry": "e1"}],
        entries=[
            {"id": "e1", "role": "user", "origin": "human", "text": "x", "time": "2026-11-30T10:45:00Z"},
            {"id": "e2", "role": "assistant", "tool": {"name": "Bash", "input": {"command": "ls"}}},
            {"id": "e3", "role": "user", "origin": "tool", "text": "a.txt"},
        ],
        must_keep=[
            {"what": "w", "all_of": ["a", "b"], "type": "user", "scope": "user", "updates": "a.md"},
        ],
        must_not_keep=[{"what": "v", "any_of": "x"}],
        max_new="2",
        must_delete="d.md",
        note="why",
    )
    zone = timezone(timedelta(hours=1))
    assert case == Case(
        id="c1",
        kind="update",
        project="/srv/shop",
        now=datetime(2026, 11, 30, 12, tzinfo=zone),
        memories_before=(
            Before(file="a.md", scope="user", name="a", description="b", type="user", body="c"),
            Before(
                file="d.md", scope="project", name="d", description="d", type="project", body="d",
                trust="confirmed",
            ),
        ),
        forgotten_before=(Forgotten(name="n", description="d", evidence_entry="e1"),),
        entries=(
            Heard(
                id="e1", role=Role.USER, origin=Origin.HUMAN, text="x",
                time=datetime(2026, 11, 30, 10, 45, tzinfo=UTC),
            ),
            Heard(
                id="e2", role=Role.ASSISTANT, origin=Origin.SYNTHETIC,
                tool=ToolUse(name="Bash", input={"command": "ls"}),
            ),
            Heard(id="e3", role=Role.TOOL, origin=Origin.SYNTHETIC, text="a.txt"),
        ),
        must_keep=(
            MustKeep(what="w", all_of=("a", "b"), type=("user",), scope="user", updates="a.md"),
        ),
        must_not_keep=(MustNotKeep(what="v", any_of=("x",)),),
        max_new=2,
        must_delete=("d.md",),
        note="why",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("given", "role", "origin"),
    [
        ({"role": "user"}, Role.USER, Origin.HUMAN),
        ({"role": "assistant"}, Role.ASSISTANT, Origin.SYNTHETIC),
        ({"role": "assistant", "origin": "synthetic"}, Role.ASSISTANT, Origin.SYNTHETIC),
        ({"role": "tool"}, Role.TOOL, Origin.SYNTHETIC),
        ({"origin": "tool"}, Role.TOOL, Origin.SYNTHETIC),
        ({"role": "assistant", "origin": "tool"}, Role.TOOL, Origin.SYNTHETIC),
        ({"origin": "human"}, Role.USER, Origin.HUMAN),
        ({"origin": "headless"}, Role.USER, Origin.HEADLESS),
        ({"role": "context", "origin": "recalled"}, Role.CONTEXT, Origin.RECALLED),
        ({"role": "USER", "origin": "Copied"}, Role.USER, Origin.COPIED),
    ],
)
def test_role_and_origin_stand_for_one_another(given: dict[str, str], role: Role, origin: Origin) -> None:
    heard = read(entries=[{**given, "text": "x"}]).entries[0]
    assert (heard.role, heard.origin) == (role, origin)


@pytest.mark.parametrize(
    ("written", "when"),
    [
        ("2026-11-30T10:45:00Z", datetime(2026, 11, 30, 10, 45, tzinfo=UTC)),
        ("2026-11-30 10:45", datetime(2026, 11, 30, 10, 45, tzinfo=UTC)),
        ("2026-11-30T10:45:00.250+0100", datetime(2026, 11, 30, 9, 45, 0, 250000, tzinfo=UTC)),
        ("2026-11-30", datetime(2026, 11, 30, 12, tzinfo=UTC)),
        ("9:05", datetime(2026, 12, 1, 9, 5, tzinfo=UTC)),
    ],
)
def test_a_time_is_read_in_every_usual_form(written: str, when: datetime) -> None:
    assert read(now="2026-12-01T12:00:00Z", entries=[{**SAID, "time": written}]).entries[0].time == when


def test_without_a_now_it_is_shortly_after_the_last_entry() -> None:
    case = read(entries=[{**SAID, "time": "2026-05-01T10:00:00Z"}])
    assert case.now == datetime(2026, 5, 1, 10, 5, tzinfo=UTC)


def test_a_session_is_in_some_project_where_none_is_named_and_in_none_where_that_is_said() -> None:
    assert read().project == ""
    assert read(project="shop").project == "shop"
    assert [read(project=given).project for given in (None, "", "null", "~", False)] == [None] * 5


def test_every_problem_is_said_at_once_with_its_key() -> None:
    given = {
        "id": "x",
        "sort": "update",
        "now": "yesterday",
        "memories_before": [{"file": "a.md", "colour": "red", "description": "a", "type": "secret"}],
        "forgotten_before": [{"evidence_entry": "e1"}],
        "entries": [
            {"id": "e1", "text": "x"},
            {"role": "pilot", "text": "x"},
            {"role": "user", "origin": "martian", "text": "x"},
            {"role": "user"},
            {"role": "user", "text": "x", "time": "25:99"},
            {"role": "user", "text": "x", "tool": {"input": 1}},
            "hello",
        ],
        "must_keep": [{"what": "w"}, {"all_of": ["(a"]}, {"all_of": ["a"], "type": "x", "updates": "b.md"}],
        "must_not_keep": [{"any_of": []}, {"any_of": [["a"]]}],
        "max_new": "-1",
        "must_delete": ["z.md"],
    }
    said = problems_of(given)
    keys = [problem.partition(": ")[0] for problem in said]
    assert keys == [
        "sort",
        "now",
        "entries[0].role",
        "entries[1].role",
        "entries[2].origin",
        "entries[3].text",
        "entries[4].time",
        "entries[5].tool.name",
        "entries[6]",
        "memories_before[0].colour",
        "memories_before[0].type",
        "forgotten_before[0].name",
        "must_keep[0].all_of",
        "must_keep[1].all_of[0]",
        "must_keep[2].updates",
        "must_keep[2].type",
        "must_not_keep[0].any_of",
        "must_not_keep[1].any_of",
        "must_not_keep[1].any_of",
        "max_new",
        "must_delete",
    ]
    assert "there are: id kind project now" in said[0]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["a"], ["the case: is not a mapping of keys: write `id:`, `kind:`, `entries:` and so on"]),
        ({"id": "a"}, ["entries: or `transcript` says what was said: give one of the two"]),
        (
            {"entries": [SAID], "transcript": "a.jsonl"},
            ["entries: or `transcript` says what was said: give one of the two"],
        ),
        (
            {"entries": [{"id": "a", **SAID}, {"id": "a", **SAID}]},
            ["entries[1].id: a is the id of an earlier entry"],
        ),
        ({"entries": "x"}, ["entries: is not a list"]),
    ],
)
def test_what_is_no_case_says_why(given: object, said: list[str]) -> None:
    assert problems_of(given)[: len(said)] == said
