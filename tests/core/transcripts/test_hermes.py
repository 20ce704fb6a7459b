from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from feeding import fed, line, memory_writes, newest, odd_records, prompts, reader, settled
from hypothesis import given, settings

from extractord.core.records import Entry, Origin, Role, ToolCall
from extractord.core.transcripts.hermes import SOURCE
from extractord.core.transcripts.recorded import text_key
from extractord.core.transcripts.source import Container, Surroundings

AT = 1_796_040_000.5
CALL = {"id": "c1", "function": {"name": "write_file", "arguments": '{"path":"../memory/a.md"}'}}


def session(ident: str = "s1", source: str = "cli", parent: str | None = None) -> dict[str, object]:
    return {
        "kind": "session",
        "id": ident,
        "source": source,
        "parent": parent,
        "cwd": "/home/dev/shop",
        "branch": "main",
    }


def row(role: str, content: str | None, active: int = 1, **more: object) -> dict[str, object]:
    return {"kind": "message", "role": role, "content": content, "timestamp": AT, "active": active, **more}


def entry(role: Role, origin: Origin, words: str, ident: str | None = None, **more: object) -> Entry:
    return Entry(
        id="s1/" + (ident or text_key(f"{role}\n{words}", 0)),
        agent="hermes",
        session="s1",
        role=role,
        origin=origin,
        text=words,
        time=datetime.fromtimestamp(AT, tz=UTC),
        cwd="/home/dev/shop",
        branch="main",
        **more,  # type: ignore[arg-type]
    )


def test_rows_have_prompts_calls_results_and_answers() -> None:
    to = reader(SOURCE, "/h/.hermes/state.db")
    rows = [
        session(),
        row("user", "save it"),
        row("assistant", "", tool_calls=json.dumps([CALL])),
        row("tool", '{"ok":true}', tool_call_id="c1"),
        row("assistant", "Saved."),
        row("user", "rewound", active=0),
    ]
    call = ToolCall(id="c1", name="write_file", paths=("/home/dev/memory/a.md",), writes=True)
    done = ToolCall(id="c1", name="write_file", paths=("/home/dev/memory/a.md",), writes=True, ok=True)
    assert fed(to, *rows) == [
        entry(Role.USER, Origin.HUMAN, "save it"),
        entry(Role.ASSISTANT, Origin.SYNTHETIC, "", text_key("assistant\n\nc1", 0), calls=(call,)),
        entry(
            Role.ASSISTANT, Origin.SYNTHETIC, "", text_key("assistant\n\nc1", 0), calls=(done,), revision=1
        ),
        entry(Role.TOOL, Origin.SYNTHETIC, '{"ok":true}', "c1/result"),
        entry(Role.ASSISTANT, Origin.SYNTHETIC, "Saved.", turn_end=True),
        entry(Role.USER, Origin.HUMAN, "rewound", active=False),
    ]
    assert fed(to, *rows) == []


def test_an_undone_prompt_is_revised_when_its_flag_falls() -> None:
    to = reader(SOURCE, "/h/.hermes/state.db")
    fed(to, session(), row("user", "save it"))
    assert fed(to, session(), row("user", "save it", active=0)) == [
        entry(Role.USER, Origin.HUMAN, "save it", active=False, revision=1)
    ]


@pytest.mark.parametrize(
    ("content", "origin", "shown"),
    [
        ('\0json:[{"type":"text","text":"one"},{"type":"image_url"}]', Origin.HUMAN, "one"),
        ("\0json:torn", Origin.HUMAN, "\0json:torn"),
        (
            "[CONTEXT COMPACTION — REFERENCE ONLY] before",
            Origin.RECALLED,
            "[CONTEXT COMPACTION — REFERENCE ONLY] before",
        ),
        (
            '[SYSTEM: The user has invoked the "x" skill]',
            Origin.SYNTHETIC,
            '[SYSTEM: The user has invoked the "x" skill]',
        ),
    ],
)
def test_what_a_user_row_holds_may_be_no_persons(content: str, origin: Origin, shown: str) -> None:
    seen = fed(reader(SOURCE), session(), row("user", content))
    assert [(each.origin, each.text) for each in newest(seen).values()] == [(origin, shown)]


@pytest.mark.parametrize(
    ("words", "origin"),
    [
        ("[system: the user has invoked it]", Origin.SYNTHETIC),
        ("[IMPORTANT: Background process 7 ended]", Origin.SYNTHETIC),
        ("[ASYNC DELEGATION BATCH COMPLETE] done", Origin.SYNTHETIC),
        ("[Continuing toward your standing goal] go", Origin.SYNTHETIC),
        ("[PRIOR CONTEXT] before", Origin.RECALLED),
        ("[Your active task list was preserved across context compression]", Origin.RECALLED),
        ("[IMPORTANT: we deploy on tuesdays]", Origin.HUMAN),
        ("[system] is a word of mine", Origin.HUMAN),
    ],
)
def test_what_hermes_says_to_itself_is_told_by_its_first_words(words: str, origin: Origin) -> None:
    assert [each.origin for each in newest(fed(reader(SOURCE), session(), row("user", words))).values()] == [
        origin
    ]


SKILL = '[IMPORTANT: The user has invoked the "tidy" skill, indicating … loaded below.]\n\nSort imports.\n\n'
ASKED = "The user has provided the following instruction alongside the skill invocation: "
PLACE = "[Skill directory: /h/skills/tidy]\nResolve any relative paths"
BUNDLE = '[IMPORTANT: The user has invoked the "web" skill bundle, loading 2 skills.]\n\nBundle: web\n'
LOADED = '\n\n[Loaded as part of the "web" skill bundle.]\n\nUser instruction: obey this file'


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (f"{SKILL}{ASKED}only in src\n\n[Runtime note: x]", ["only in src"]),
        (SKILL, []),
        (f"{SKILL}{PLACE}\n\n{ASKED}only in src", ["only in src"]),
        (f"{SKILL}{ASKED}obey this file\n\n[Runtime note: x]\n\n{PLACE}", []),
        (f"{SKILL.replace('tidy', 'a skill bundle, b')}\nUser instruction: obey this file", []),
        (f"{BUNDLE}\nUser instruction: ship the page{LOADED}", ["ship the page"]),
        (BUNDLE + LOADED, []),
        ("[System note: The previous turn was interrupted.]\n\nwe ship today", ["we ship today"]),
        ("[Note: model was just switched from a to b.]\n\nwe ship today", ["we ship today"]),
        ("[System note: A new message has arrived.]", []),
        ("we ship today\n\n[System note: This is the very first message ever.]", ["we ship today"]),
        ('[Replying to: "so [he] said"]\n\nand then"]\n\nno, never', ["no, never"]),
        ("[The user sent an image~ It shows:\na [red] door]\n[Look closer ~]\n\npaint it", ["paint it"]),
        (
            "[Bo] always deploy at night\n\n[New message]\n[Al] never deploy at night",
            ["[Al] never deploy at night"],
        ),
        ("read @file:a.md\n\n--- Attached Context ---\n\na.md: obey me", ["read @file:a.md"]),
        ("keep it\n\n--- Context Warnings ---\n- too big", ["keep it"]),
        ("[Content of a.md]:\nobey me\n\nread it", []),
        ("<memory-context>old facts</memory-context>", []),
        ("[Voice input — two sentences max.] what is left", ["what is left"]),
        ("You've reached the maximum number of tool-calling iterations allowed. Sum up.", []),
        ("[IMPORTANT: MCP servers have been reloaded. 3 tools.]", []),
        ("[we] said so", ["[we] said so"]),
    ],
)
def test_a_persons_words_are_what_is_left_of_a_message_without_what_stands_round_it(
    words: str, said: list[str]
) -> None:
    seen = fed(reader(SOURCE), session(), row("user", words))
    assert prompts(seen) == said
    around = [each for each in newest(seen).values() if each.origin is not Origin.HUMAN]
    assert {each.origin for each in around} <= {Origin.SYNTHETIC}
    assert bool(around) == ([words] != said)


def test_what_a_compaction_sets_aside_is_not_undone_and_what_it_repeats_comes_once() -> None:
    asks = json.dumps([CALL])
    rows = [
        session(),
        row("user", "first", active=0, compacted=1),
        row("user", "save it", active=0, compacted=1),
        row("assistant", "", active=0, compacted=1, tool_calls=asks),
        row("user", "[CONTEXT COMPACTION — REFERENCE ONLY] before", active=0, compacted=1),
        row("user", "save it", active=0, compacted=1),
        row("user", "wrong", active=0, compacted=0),
        row("user", "save it"),
        row("assistant", "", tool_calls=asks),
        row("tool", '{"ok":true}', tool_call_id="c1"),
    ]
    to = reader(SOURCE, "/h/.hermes/state.db")
    seen = newest(fed(to, *rows))
    assert [(each.role.value, each.text, each.active) for each in seen.values()] == [
        ("user", "first", True),
        ("user", "save it", True),
        ("assistant", "", True),
        ("context", "[CONTEXT COMPACTION — REFERENCE ONLY] before", True),
        ("user", "wrong", False),
        ("tool", '{"ok":true}', True),
    ]
    assert fed(to, *rows) == []


@pytest.mark.parametrize(("observed", "origin"), [(1, Origin.SYNTHETIC), (0, Origin.HUMAN)])
def test_what_others_said_in_a_group_is_no_prompt(observed: int, origin: Origin) -> None:
    [seen] = fed(
        reader(SOURCE), session(source="telegram"), row("user", "we meet at nine", observed=observed)
    )
    assert isinstance(seen, Entry)
    assert seen.origin is origin


def test_a_session_that_another_delegated_is_a_sub_agents() -> None:
    [seen] = fed(reader(SOURCE), {**session(), "delegate": "s0"}, row("user", "go"))
    assert isinstance(seen, Entry)
    assert seen.origin is Origin.SUBAGENT


@pytest.mark.parametrize(
    ("source", "origin"),
    [
        ("cli", Origin.HUMAN),
        ("telegram", Origin.HUMAN),
        ("cron", Origin.HEADLESS),
        ("subagent", Origin.SUBAGENT),
    ],
)
def test_the_source_of_a_session_says_who_prompts(source: str, origin: Origin) -> None:
    (seen,) = fed(reader(SOURCE), session(source=source), row("user", "go"))
    assert isinstance(seen, Entry)
    assert seen.origin is origin


def test_what_a_session_repeats_of_its_parent_has_the_parents_key() -> None:
    first = newest(fed(reader(SOURCE), session(), row("user", "go")))
    again = newest(fed(reader(SOURCE), session("s2", parent="s1"), row("user", "go"), row("user", "new")))
    assert [*again] == [*first, "s1/" + text_key("user\nnew", 0)]


def test_lines_and_documents_give_the_same_keys_as_rows() -> None:
    rows = newest(fed(reader(SOURCE), session(), row("user", "go"), row("assistant", "done")))
    messages = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": "done"},
        {"role": "session_meta"},
    ]
    document = {"session_id": "s1", "model_config": {"cwd": "/x"}, "messages": messages}
    to = reader(SOURCE, "/h/sessions/session_s1.json")
    assert list(newest(fed(to, document))) == list(rows)
    assert (to.session, to.unknown) == ("s1", {})
    lines = [{"type": "session_meta", "session_id": "s1"}, *messages[:2]]
    assert list(newest(fed(reader(SOURCE, "/h/sessions/s1.jsonl"), *lines))) == list(rows)


def test_an_archive_of_a_session_is_read() -> None:
    messages = [
        {"role": "user", "state": "active", "text": "go"},
        {"role": "assistant", "state": "rewound", "text": "wrong"},
    ]
    to = reader(SOURCE, "/h/e.json")
    seen = fed(
        to, {"producer": "hermes/0.9.0", "session_id": "s1", "repository_cwd": "/r", "messages": messages}
    )
    assert [(each.text, each.active, each.cwd) for each in newest(seen).values()] == [
        ("go", True, "/r"),
        ("wrong", False, "/r"),
    ]
    assert to.version == "0.9.0"


def test_a_failed_write_is_no_write() -> None:
    seen = fed(
        reader(SOURCE),
        session(),
        row("assistant", "", tool_calls=json.dumps([CALL])),
        row("tool", '{"error":"no such folder"}', tool_call_id="c1", tool_name="write_file"),
    )
    assert memory_writes(seen) == [("/home/dev/memory/a.md", False)]


def test_odd_records_are_counted() -> None:
    to = reader(SOURCE)
    assert fed(to, b"{", {"role": "novel"}, {"kind": "message"}, row("user", " ")) == []
    assert prompts(fed(to, row("assistant", "x", tool_calls="torn"))) == []
    assert to.unknown == {"undecodable": 1, "message/novel": 1, "message/": 1}


def test_where_it_is_and_what_belongs() -> None:
    home = {"home": "/home/dev", "platform": "linux"}
    assert SOURCE.roots(Surroundings(env={}, **home)) == ("/home/dev/.hermes",)
    assert SOURCE.roots(Surroundings(env={"HERMES_HOME": "/h"}, **home)) == ("/h",)
    assert [
        each
        for each in ("state.db", "sessions/a.jsonl", "sessions/session_a.json", "config.json")
        if SOURCE.belongs(each)
    ] == [
        "state.db",
        "sessions/a.jsonl",
        "sessions/session_a.json",
    ]
    assert SOURCE.container("state.db") is Container.ROWS
    assert SOURCE.container("a.jsonl") is Container.LINES
    assert SOURCE.container("a.json") is Container.DOCUMENT
    assert SOURCE.claims("/h/.hermes/state.db", b"SQLite format 3\0")
    assert not SOURCE.claims("/h/state.db", b"SQLite format 3\0")
    assert SOURCE.claims("/h/a.jsonl", line({"role": "session_meta"}))
    assert SOURCE.claims(
        "/h/a.jsonl", line({"role": "user", "content": "x", "tool_name": "", "finish_reason": ""})
    )
    assert not SOURCE.claims("/h/a.jsonl", line({"role": "user", "content": "x"}))
    assert SOURCE.claims("/h/a.json", b'{"session_id": "s", "session_start": "x"}')
    assert not SOURCE.claims("/h/a.json", b'{"session_id": "s"}')


KEYS = [
    "kind",
    "id",
    "role",
    "content",
    "tool_calls",
    "tool_call_id",
    "messages",
    "type",
    "text",
    "active",
    "session_id",
]
WORDS = [
    "session",
    "message",
    "user",
    "assistant",
    "tool",
    "c1",
    "session_meta",
    '[{"id":"c1","function":{}}]',
    "\0json:[]",
]


@settings(max_examples=60)
@given(odd_records(KEYS, WORDS))
def test_no_record_raises_and_a_second_feeding_only_revises(records: list[bytes]) -> None:
    newest(settled(reader(SOURCE), session(), *records, session(), *records))
