"""Cursor's transcripts as text: what only looks like a person's words is none."""

from __future__ import annotations

import pytest
from feeding import fed, line, newest, prompts, reader, settled
from hypothesis import given, settings
from hypothesis import strategies as st

from extractord.core.records import Origin, Role, ToolCall
from extractord.core.transcripts.cursor import SOURCE

PATH = "/h/.cursor/projects/home-dev-shop/agent-transcripts/s1.txt"
WHOLE = b"""user:
<user_info>
Workspace Path: /home/dev/shop
</user_info>
<user_query>
note it
and test
</user_query>

assistant:
[Thinking] They want a note.
I write it down.
[Tool call] Write
  path: ../memory/a.md
  contents: # A
user:
<user_query>
forged
</user_query>

assistant:
not said
[Tool call] Shell
  command: cat > x.txt <<'END'
one
END
  description: write x

[Tool result] Write

[Tool result] Shell
  bash: x.txt: Permission denied
  exit code: 1

assistant:
Done.

user:
<user_query>
thanks
</user_query>
"""


def test_a_persons_words_calls_and_what_came_back_are_told_apart() -> None:
    seen = newest(fed(reader(SOURCE, PATH), WHOLE))
    assert prompts(seen.values()) == ["note it\nand test", "thanks"]
    answers = [each for each in seen.values() if each.role is Role.ASSISTANT]
    assert [each.text for each in answers] == ["I write it down.", "Done."]
    wrote, ran = answers[0].calls
    ident = answers[0].id
    assert wrote == ToolCall(id=f"{ident}/0", name="Write", paths=("/home/dev/memory/a.md",), writes=True)
    assert ran == ToolCall(
        id=f"{ident}/1", name="Shell", paths=("/home/dev/shop/x.txt",), writes=True, ok=False
    )
    assert {each.session for each in seen.values()} == {"s1"}


def test_the_same_session_as_lines_and_as_text_says_the_same_once() -> None:
    query = "<user_query>\nnote it\n</user_query>"
    lines = fed(
        reader(SOURCE, "/p/agent-transcripts/s1.jsonl"),
        {"role": "user", "message": {"content": [{"type": "text", "text": query}]}},
        {"role": "assistant", "message": {"content": [{"type": "text", "text": "Done."}]}},
    )
    assert fed(reader(SOURCE, PATH), f"user:\n{query}\n\nassistant:\nDone.\n".encode()) == lines


def test_a_text_that_has_grown_brings_only_what_is_new() -> None:
    to = reader(SOURCE, PATH)
    first = b"user:\n<user_query>\ngo on\n</user_query>\n\nA:\nok\n\n"
    assert prompts(fed(to, first)) == ["go on"]
    assert prompts(fed(to, first + first)) == ["go on"]
    assert fed(to, first + first) == []


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("user:\nno query\n", []),
        ("user:\n<user_query>\r\nours\r\n</user_query>\r\n".replace("user:\n", "user:\r\n"), ["ours"]),
        ("user:\n<rules>\n<user_query>x</user_query>\n</rules>\n<user_query>ours</user_query>\n", ["ours"]),
        ("assistant:\n```\n\nuser:\n<user_query>forged</user_query>\n```\n", []),
        ("assistant:\nprose\nuser:\n<user_query>forged</user_query>\n", []),
        (
            "assistant:\n[Tool call] Read\n\n[Tool result] Read\n\nuser:\n<user_query>ours</user_query>",
            ["ours"],
        ),
        ("assistant:\n[Tool call] Read\n  path: a\n\nuser:\n<user_query>ours</user_query>", ["ours"]),
        ("assistant:\n[Tool call] Write\n  contents: a\n\nuser:\n<user_query>forged</user_query>\n", []),
        ("assistant:\n[Tool call] Write\n  x: a\nb\n\nA:\nc\n\nuser:\n<user_query>f</user_query>\n", []),
        ("no speaker at all\n", []),
        ("", []),
    ],
)
def test_only_a_query_that_stands_where_a_person_speaks_is_theirs(text: str, typed: list[str]) -> None:
    assert prompts(fed(reader(SOURCE, PATH), text.encode())) == typed


def test_a_sub_agents_text_is_no_persons() -> None:
    beside = reader(SOURCE, "/p/agent-transcripts/s1/subagents/s2.txt")
    seen = newest(fed(beside, b"user:\n<user_query>\ngo\n</user_query>\n"))
    assert [each.origin for each in seen.values()] == [Origin.SUBAGENT]


def test_arguments_stand_as_json_and_a_patch_as_itself() -> None:
    patch = "[Tool call] ApplyPatch\n  *** Begin Patch\n  *** Add File: b.md\n  +x\n  *** End Patch\n"
    text = f'user:\n<user_query>x</user_query>\n\nassistant:\n[Tool call] Read {{"path": "/w/a.md"}}\n{patch}'
    seen = newest(fed(reader(SOURCE, PATH), text.encode()))
    (answer,) = [each for each in seen.values() if each.role is Role.ASSISTANT]
    assert [(call.paths, call.writes) for call in answer.calls] == [(("/w/a.md",), False), (("b.md",), True)]


MARKS = [
    "user:\n",
    "assistant:\n",
    "\n",
    "[Tool call] Write\n",
    "[Tool result] Write\n",
    "```\n",
    "  path: a\n",
]
MARKS += ["[Thinking] x\n", "<user_query>", "</user_query>\n", "word ", "\0", line({"a": 1}).decode()]


@settings(max_examples=100)
@given(st.lists(st.sampled_from(MARKS), max_size=30).map("".join), st.binary(max_size=40))
def test_no_text_raises_and_only_queries_are_prompts(text: str, torn: bytes) -> None:
    seen = fed(reader(SOURCE, PATH), text.encode() + torn)
    newest(seen)
    assert "<user_query>" in text or prompts(seen) == []


def test_prose_after_a_result_is_said_and_nothing_waits() -> None:
    text = b"user:\n<user_query>x</user_query>\n\nassistant:\n"
    text += b"[Tool call] Read\n  path: a\n\n[Tool result] Read\n"
    to = reader(SOURCE, PATH)
    seen = settled(to, text + b"  shown\nThat is all.\n")
    assert [(each.role, each.text) for each in newest(seen).values()][1:] == [
        (Role.ASSISTANT, "That is all."),
        (Role.TOOL, "  shown"),
    ]
