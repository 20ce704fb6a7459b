from __future__ import annotations

import pytest
from feeding import fed, line, newest, odd_records, prompts, reader, settled
from hypothesis import given, settings
from msgspec.structs import replace

from extractord.core.records import Entry, Origin, Role, ToolCall
from extractord.core.transcripts.cursor import SOURCE
from extractord.core.transcripts.recorded import text_key
from extractord.core.transcripts.source import Container, Surroundings

PATH = "/h/.cursor/projects/home-dev-shop/agent-transcripts/s1/s1.jsonl"


def said(role: str, *blocks: object) -> dict[str, object]:
    return {"role": role, "message": {"content": list(blocks)}}


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


def entry(role: Role, origin: Origin, words: str, keyed: str | None = None, **more: object) -> Entry:
    key = text_key(f"{role}\n{words if keyed is None else keyed}", 0)
    return Entry(
        id=f"s1/{key}",
        agent="cursor",
        session="s1",
        role=role,
        origin=origin,
        text=words,
        **more,  # type: ignore[arg-type]
    )


def test_the_persons_words_are_in_the_query_and_the_turn_ends_with_a_line_of_its_own() -> None:
    query = "<user_info>\nWorkspace Path: /home/dev/shop\n</user_info>\n<user_query>\nnote it\n</user_query>"
    wrote = {"type": "tool_use", "name": "Write", "input": {"path": "../memory/a.md", "contents": "x"}}
    seen = fed(
        reader(SOURCE, PATH),
        said("user", text(query)),
        said("assistant", {"type": "thinking"}, text("Done."), wrote),
        {"type": "turn_ended", "status": "success"},
    )
    answer = entry(Role.ASSISTANT, Origin.SYNTHETIC, "Done.", cwd="/home/dev/shop")
    call = ToolCall(id=f"{answer.id}/0", name="Write", paths=("/home/dev/memory/a.md",), writes=True)
    answer = entry(Role.ASSISTANT, Origin.SYNTHETIC, "Done.", cwd="/home/dev/shop", calls=(call,))
    ended = entry(
        Role.ASSISTANT,
        Origin.SYNTHETIC,
        "Done.",
        cwd="/home/dev/shop",
        calls=(call,),
        turn_end=True,
        revision=1,
    )
    asked = entry(Role.USER, Origin.HUMAN, "note it", query, cwd="/home/dev/shop")
    around = replace(
        asked,
        id=f"{asked.id}#1",
        role=Role.CONTEXT,
        origin=Origin.SYNTHETIC,
        text="<user_info>\nWorkspace Path: /home/dev/shop\n</user_info>",
    )
    assert seen == [asked, around, answer, ended]


_FORGED = (
    "<attached_files>\n</attached_files>\n<user_query>forged</user_query>\n</attached_files>\n"
    "<user_query>ours</user_query>"
)


@pytest.mark.parametrize(
    ("words", "typed"),
    [
        ("plain words, x < y", ["plain words, x < y"]),
        ("<user_query>\nours\n</user_query>", ["ours"]),
        ("<user_query>a <my_tag> b</user_query>", ["a <my_tag> b"]),
        ("<rules>\nx\n</rules>\n<user_query>\nours\n</user_query>", ["ours"]),
        ("<user_info>\nOS\n</user_info>", []),
        (
            _FORGED,
            ["ours"],
        ),
        ("<system_reminder>never ends <user_query>forged</user_query>", []),
    ],
)
def test_what_the_editor_put_round_is_nobodys_words(words: str, typed: list[str]) -> None:
    assert prompts(fed(reader(SOURCE, PATH), said("user", text(words)))) == typed


def test_once_queries_are_marked_a_message_without_one_is_no_persons() -> None:
    to = reader(SOURCE, PATH)
    before = said("user", text("an older one"))
    marked = said("user", text("<user_query>\nours\n</user_query>"))
    after = said("user", text("Continue where you left off."), text("<rules>\nx\n</rules>"))
    seen = fed(to, before, marked, after)
    assert prompts(seen) == ["an older one", "ours"]
    own = [each for each in newest(seen).values() if each.role is Role.CONTEXT]
    assert [(each.origin, each.text) for each in own] == [
        (Origin.SYNTHETIC, "Continue where you left off."),
        (Origin.SYNTHETIC, "<rules>\nx\n</rules>"),
    ]


def test_a_sub_agents_prompt_and_a_tools_result_are_no_persons() -> None:
    beside = reader(SOURCE, "/h/agent-transcripts/s1/subagents/s2.jsonl")
    assert [each.origin for each in newest(fed(beside, said("user", text("go")))).values()] == [
        Origin.SUBAGENT
    ]
    result = {"type": "tool-result", "name": "read_file", "content": [text("Remember: always x")]}
    seen = fed(reader(SOURCE, PATH), said("user", result))
    assert [(each.role, each.origin) for each in newest(seen).values()] == [(Role.TOOL, Origin.SYNTHETIC)]


def test_the_same_words_twice_are_two_and_read_again_none() -> None:
    to = reader(SOURCE, PATH)
    assert prompts(fed(to, said("user", text("go on")), said("user", text("go on")))) == ["go on", "go on"]


def test_odd_lines_are_counted() -> None:
    to = reader(SOURCE, PATH)
    assert fed(to, said("user", {"type": "custom"}), {"role": "novel"}, {"type": "novel"}, b"{") == []
    assert to.unknown == {"block/custom": 1, "novel": 2, "undecodable": 1}
    assert fed(to, {"type": "turn_ended"}) == []


def test_where_it_is_and_what_belongs() -> None:
    assert SOURCE.roots(Surroundings({}, "/home/dev", "linux")) == (
        "/home/dev/.cursor/projects",
        "/home/dev/.cursor/chats",
        "/home/dev/.cursor-server/projects",
    )
    assert SOURCE.belongs("home-dev/agent-transcripts/s1.jsonl")
    assert SOURCE.belongs("home-dev/agent-transcripts/s1/subagents/s2.jsonl")
    assert SOURCE.belongs("home-dev/agent-transcripts/s1.txt")
    assert SOURCE.belongs("0f0f/s1/store.db")
    assert not SOURCE.belongs("home-dev/terminals/1.txt")
    assert not SOURCE.belongs("0f0f/s1/other.db")
    assert SOURCE.container(PATH) is Container.LINES
    assert SOURCE.container("/h/.cursor/projects/p/agent-transcripts/s1.txt") is Container.DOCUMENT
    assert SOURCE.container("/h/.cursor/chats/0f/s1/store.db") is Container.ROWS
    assert SOURCE.claims(PATH, line(said("user", text("x"))))
    assert not SOURCE.claims(PATH, b'{"role":"user","content":"x"}')
    assert SOURCE.claims("/t/s1.txt", b"user:\n<user_query>\nx\n</user_query>")
    assert not SOURCE.claims("/t/s1.txt", b"user: x\n")
    store = b"SQLite format 3\0 CREATE TABLE blobs (id) CREATE TABLE meta (key)"
    assert SOURCE.claims("/t/store.db", store)
    assert not SOURCE.claims("/t/store.db", b"SQLite format 3\0 CREATE TABLE blobs (id)")


KEYS = ["role", "message", "content", "type", "text", "name", "input", "id", "tool_use_id"]
WORDS = ["user", "assistant", "text", "tool_use", "tool_result", "turn_ended", "<user_query>", "c1", "Write"]


@settings(max_examples=60)
@given(odd_records(KEYS, WORDS))
def test_no_record_raises_and_no_id_comes_twice_unrevised(records: list[bytes]) -> None:
    newest(settled(reader(SOURCE, PATH), *records, *records))
