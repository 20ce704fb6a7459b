"""The store of Cursor's CLI, as the rows that are asked of it."""

from __future__ import annotations

from feeding import fed, line, newest, odd_records, prompts, reader, settled
from hypothesis import given, settings

from extractord.core.records import Role, ToolCall
from extractord.core.transcripts.cursor import SOURCE

PATH = "/h/.cursor/chats/0f0f/s1/store.db"
SESSION = {"kind": "session", "id": None, "data": None}
END = {"kind": "end", "id": None, "data": None}
A, B, C, D = ("aa" * 32, "bb" * 32, "cc" * 32, "dd" * 32)


def message(ident: str, role: str, content: object) -> dict[str, object]:
    return {
        "kind": "message",
        "id": ident,
        "data": line({"role": role, "content": content, "id": "1"}).decode(),
    }


def root(*children: str, place: str = "file:///home/dev/my%20shop") -> dict[str, object]:
    raw = b"".join(b"\x0a\x20" + bytes.fromhex(child) for child in children)
    raw += b"\x4a" + bytes([len(place)]) + place.encode() + b"R\x02ok"
    return {"kind": "root", "id": "ee" * 32, "data": raw.hex().upper()}


def call(ident: str, name: str, **args: str) -> dict[str, object]:
    return {"type": "tool-call", "toolCallId": ident, "toolName": name, "args": args}


def result(ident: str, shown: object, **more: object) -> dict[str, object]:
    return {"type": "tool-result", "toolCallId": ident, "toolName": "Write", "result": shown, **more}


def test_messages_are_told_in_the_roots_order_with_what_came_of_their_calls() -> None:
    rows = [
        SESSION,
        root(A, B, C, D),
        message(D, "assistant", [{"type": "text", "text": "Done."}]),
        message(A, "user", "<user_info>\nOS\n</user_info>\n<user_query>\nnote it\n</user_query>"),
        message(
            B,
            "assistant",
            [call("c1", "Write", path="../memory/a.md", contents="x"), call("c2", "Write", path="no.md")],
        ),
        message(
            C,
            "tool",
            [result("c1", "Wrote it"), result("c2", [{"type": "text", "text": "no"}], isError=True)],
        ),
        message("ff" * 32, "user", "<user_query>of a sub-agent</user_query>"),
        END,
    ]
    seen = newest(fed(reader(SOURCE, PATH), *rows))
    assert prompts(seen.values()) == ["note it"]
    wrote = next(each for each in seen.values() if each.calls)
    assert wrote.calls == (
        ToolCall(id="c1", name="Write", paths=("/home/dev/memory/a.md",), writes=True, ok=True),
        ToolCall(id="c2", name="Write", paths=("/home/dev/my shop/no.md",), writes=True, ok=False),
    )
    assert [each.text for each in seen.values() if each.role is Role.ASSISTANT] == ["", "Done."]
    assert {(each.session, each.cwd) for each in seen.values()} == {("s1", "/home/dev/my shop")}


def test_the_same_words_twice_are_two_prompts_and_rows_asked_again_bring_what_is_new() -> None:
    to = reader(SOURCE, PATH)
    again = message(A, "user", "<user_query>\ngo on\n</user_query>")
    assert prompts(fed(to, SESSION, root(A, A), again, END)) == ["go on", "go on"]
    assert fed(to, SESSION, root(A, A), again, END) == []
    more = message(B, "user", "<user_query>\nstop\n</user_query>")
    assert prompts(fed(to, SESSION, root(A, A, B), again, more, END)) == ["stop"]


def test_without_a_root_that_is_known_all_messages_count() -> None:
    asked = message(A, "user", "ours")
    assert prompts(fed(reader(SOURCE, PATH), SESSION, asked, message(B, "system", "You are"), END)) == [
        "ours"
    ]
    odd = {"kind": "root", "id": "x", "data": "0a20zz"}
    assert prompts(fed(reader(SOURCE, PATH), SESSION, odd, asked, END)) == ["ours"]


def test_the_same_session_as_lines_says_the_same_prompt_once() -> None:
    query = "<user_query>\nnote it\n</user_query>"
    lines = fed(
        reader(SOURCE, "/p/agent-transcripts/s1/s1.jsonl"),
        {"role": "user", "message": {"content": [{"type": "text", "text": query}]}},
    )
    rows = fed(reader(SOURCE, PATH), SESSION, message(A, "user", query), END)
    assert list(newest(rows)) == list(newest(lines))


KEYS = ["kind", "id", "data", "role", "content", "type", "text", "toolCallId", "args", "result"]
WORDS = ["session", "root", "message", "end", "user", "tool", '{"role":"user","content":"x"}', "0a20", A]


@settings(max_examples=60)
@given(odd_records(KEYS, WORDS))
def test_no_row_raises_and_no_id_comes_twice_unrevised(records: list[bytes]) -> None:
    newest(settled(reader(SOURCE, PATH), *records, line(END), *records, line(END)))


def test_a_root_without_a_place_and_a_role_that_is_not_known() -> None:
    to = reader(SOURCE, PATH)
    bare = {"kind": "root", "id": "x", "data": (b"\x0a\x20" + bytes.fromhex(A)).hex()}
    assert prompts(fed(to, SESSION, bare, message(A, "user", "ours"), END)) == ["ours"]
    assert fed(to, SESSION, message(B, "novel", "x"), END) == []
    assert to.unknown == {"message/novel": 1}
