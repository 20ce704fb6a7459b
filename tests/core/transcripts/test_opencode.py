from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
from feeding import fed, newest, odd_records, prompts, reader, settled, voided
from hypothesis import given, settings
from msgspec.structs import replace

from extractord.core.exchanges import Session
from extractord.core.records import Entry, Origin, Role, ToolCall, Voided
from extractord.core.transcripts.opencode import SOURCE
from extractord.core.transcripts.opencode_words import unquoted
from extractord.core.transcripts.source import Container, Surroundings

AT = 1_796_040_000_000


def session(*messages: str, **more: object) -> dict[str, object]:
    row = {
        "kind": "session",
        "id": "ses_1",
        "directory": "/home/dev/shop",
        "version": "1.18",
        "time_updated": AT,
    }
    return {**row, "data": json.dumps(messages), **more}


def row(
    ident: str, body: dict[str, object], *parts: Mapping[str, object], updated: int = AT
) -> dict[str, object]:
    stored = [{"id": f"prt_{ident}_{nth}", "data": json.dumps(part)} for nth, part in enumerate(parts)]
    return {
        "kind": "message",
        "id": ident,
        "time_updated": updated,
        "data": json.dumps({"time": {"created": AT}, **body}),
        "parts": json.dumps(stored),
    }


def user(ident: str, *parts: dict[str, object], updated: int = AT) -> dict[str, object]:
    return row(ident, {"role": "user"}, *parts, updated=updated)


def model(ident: str, *parts: Mapping[str, object], updated: int = AT, **more: Any) -> dict[str, object]:
    body = {"role": "assistant", "parentID": "msg_1", "path": {"cwd": "/home/dev/shop/api"}, **more}
    return row(ident, body, *parts, updated=updated)


def text(words: str, **more: object) -> dict[str, object]:
    return {"type": "text", "text": words, **more}


def tool(name: str, status: str, given: Mapping[str, object], **more: object) -> dict[str, object]:
    return {"type": "tool", "tool": name, "callID": "c1", "state": {"status": status, "input": given, **more}}


def entry(ident: str, role: Role, origin: Origin, words: str, **more: object) -> Entry:
    return Entry(
        id=ident,
        agent="opencode",
        session="ses_1",
        role=role,
        origin=origin,
        text=words,
        **{  # type: ignore[arg-type]
            "revision": AT,
            "time": datetime.fromtimestamp(AT / 1000, tz=UTC),
            "cwd": "/home/dev/shop",
            **more,
        },
    )


FORKED = "ses_dd1f4a1d5ffe3UmX1u4rAYuca5"
"""Made at 1,796,068,826,666 ms."""


@pytest.mark.parametrize(
    ("ident", "created", "origin"),
    [
        ("msg_22e0b5e45001GE2xodd3Kt3xne", 1_796_068_674_932, Origin.COPIED),
        ("msg_22e0b6f54001BQ9sbu02Vd3z7o", 1_796_068_831_060, Origin.HUMAN),
        ("msg_22e0b5e45001GE2xodd3Kt3xne", 1_796_068_826_692, Origin.HUMAN),
        ("msg_1", 1_796_068_674_932, Origin.HUMAN),
        ("msg_22e0b5e45001GE2xodd3Kt3xne", None, Origin.HUMAN),
    ],
)
def test_what_a_fork_repeats_is_a_copy(ident: str, created: int | None, origin: Origin) -> None:
    said = row(ident, {"role": "user", "time": {"created": created}}, text("we use tabs"))
    seen = newest(fed(reader(SOURCE), session(ident, id=FORKED), said))
    assert [(each.text, each.origin) for each in seen.values()] == [("we use tabs", origin)]


@pytest.mark.parametrize(
    ("words", "origin"),
    [
        ("Create or update `AGENTS.md` for this repository.\n\nThe goal is", Origin.HEADLESS),
        ("Please create or update `AGENTS.md`: we use tabs", Origin.HUMAN),
    ],
)
def test_what_a_command_of_its_own_asks_is_no_persons_words(words: str, origin: Origin) -> None:
    seen = newest(fed(reader(SOURCE), session("msg_1"), user("msg_1", text(words))))
    assert [each.origin for each in seen.values()] == [origin]


def answered(ident: str, role: Role, words: str, **more: object) -> Entry:
    return entry(
        ident, role, Origin.SYNTHETIC, words, **{"parent": "msg_1", "cwd": "/home/dev/shop/api", **more}
    )


DONE: dict[str, Any] = {"time": {"created": AT, "completed": AT + 5}, "finish": "stop"}


def test_prompt_call_result_and_answer() -> None:
    given_file = {"filePath": "../../memory/a.md", "content": "x"}
    written = tool("write", "completed", given_file, output="Wrote it.", time={"end": AT + 1000})
    seen = fed(
        reader(SOURCE),
        session("msg_1", "msg_2", "msg_3"),
        user("msg_1", text("save it")),
        model(
            "msg_2",
            {"type": "step-start"},
            written,
            finish="tool-calls",
            time={"created": AT, "completed": AT},
        ),
        model("msg_3", {"type": "reasoning", "text": "hm"}, text("Saved."), **DONE),
    )
    call = ToolCall(id="c1", name="write", paths=("/home/dev/memory/a.md",), writes=True, ok=True)
    assert seen == [
        entry("msg_1", Role.USER, Origin.HUMAN, "save it"),
        answered("msg_2", Role.ASSISTANT, "", calls=(call,)),
        answered("prt_msg_2_1", Role.TOOL, "Wrote it.", time=datetime.fromtimestamp(AT / 1000 + 1, tz=UTC)),
        answered("msg_3", Role.ASSISTANT, "Saved.", turn_end=True),
    ]


def test_a_row_that_is_updated_is_a_revision_by_its_time_and_the_same_row_is_silent() -> None:
    to = reader(SOURCE)
    running = model("msg_2", tool("bash", "running", {"command": "echo x > a.md"}))
    first = fed(to, session("msg_2"), running)
    ended = model(
        "msg_2", tool("bash", "completed", {"command": "echo x > a.md"}, output="x"), updated=AT + 9
    )
    second = fed(to, session("msg_2"), running, ended, ended)
    call = ToolCall(id="c1", name="bash", paths=("/home/dev/shop/api/a.md",), writes=True)
    done = ToolCall(id="c1", name="bash", paths=("/home/dev/shop/api/a.md",), writes=True, ok=True)
    assert first == [answered("msg_2", Role.ASSISTANT, "", calls=(call,))]
    assert second == [
        answered("msg_2", Role.ASSISTANT, "", calls=(done,), revision=AT + 9),
        answered("prt_msg_2_0", Role.TOOL, "x", revision=AT + 9),
    ]


def test_a_change_without_a_newer_time_is_still_a_higher_revision() -> None:
    seen = fed(
        reader(SOURCE), session("msg_1"), user("msg_1", text("a")), user("msg_1", text("a"), text("b"))
    )
    assert [(each.text, each.revision) for each in seen if isinstance(each, Entry)] == [
        ("a", AT),
        ("a\nb", AT + 1),
    ]


@pytest.mark.parametrize(
    ("state", "ok"),
    [
        ({"status": "completed", "metadata": {"exit": 0}}, True),
        ({"status": "completed", "metadata": {"exit": 1}}, False),
        ({"status": "completed"}, True),
        ({"status": "error", "error": "no"}, False),
        ({"status": "running"}, None),
        ({"status": "pending"}, None),
    ],
)
def test_a_call_is_done_only_where_its_state_says_so(state: dict[str, object], ok: bool | None) -> None:
    part = {"type": "tool", "tool": "bash", "callID": "c1", "state": {"input": {"command": "ls"}, **state}}
    assert newest(fed(reader(SOURCE), session("msg_2"), model("msg_2", part)))["msg_2"].calls[0].ok is ok


@pytest.mark.parametrize(
    ("name", "arguments", "paths", "writes"),
    [
        ("read", {"filePath": "/etc/hosts"}, ("/etc/hosts",), False),
        ("edit", {"filePath": "a.md", "oldString": "x"}, ("/home/dev/shop/api/a.md",), True),
        (
            "apply_patch",
            {"patchText": "*** Begin Patch\n*** Add File: a.md\n+x\n"},
            ("/home/dev/shop/api/a.md",),
            True,
        ),
        (
            "bash",
            {"command": "echo x > a.md", "workdir": "/home/dev/memory"},
            ("/home/dev/memory/a.md",),
            True,
        ),
        ("files_write_file", {"path": "/m/a.md", "content": "x"}, ("/m/a.md",), True),
        ("files_read_file", {"path": "/m/a.md"}, (), False),
        ("tracker_create_issue", {"title": "x"}, (), False),
        ("webfetch", {"url": "https://example.org"}, (), False),
    ],
)
def test_a_call_names_its_files(
    name: str, arguments: dict[str, object], paths: tuple[str, ...], writes: bool
) -> None:
    seen = fed(reader(SOURCE), session("msg_2"), model("msg_2", tool(name, "running", arguments)))
    assert newest(seen)["msg_2"].calls == (ToolCall(id="c1", name=name, paths=paths, writes=writes),)


@pytest.mark.parametrize(
    ("more", "parts", "ends"),
    [
        (DONE, [], True),
        ({**DONE, "finish": "length"}, [], True),
        ({**DONE, "finish": "tool-calls"}, [], False),
        ({"finish": "stop"}, [], False),
        ({"time": DONE["time"]}, [], False),
        ({"time": DONE["time"]}, [{"type": "step-finish", "reason": "stop"}], True),
        ({"time": DONE["time"]}, [{"type": "step-finish", "reason": "tool-calls"}], False),
        ({"time": DONE["time"], "error": {"name": "MessageAbortedError"}}, [], True),
    ],
)
def test_a_turn_ends_with_a_completed_message_that_asks_for_nothing(
    more: dict[str, Any], parts: list[dict[str, object]], ends: bool
) -> None:
    seen = fed(reader(SOURCE), session("msg_2"), model("msg_2", text("hm"), *parts, **more))
    assert newest(seen)["msg_2"].turn_end is ends


def test_what_no_person_typed_is_not_the_person() -> None:
    memory = "<extractord-memory id=x>- tabs</extractord-memory>"
    seen = fed(
        reader(SOURCE),
        session("msg_1", "msg_2", "msg_3", "msg_4", "msg_5"),
        user(
            "msg_1",
            text("read @a.md"),
            text("Called the Read tool", synthetic=True),
            text("aside", ignored=True),
        ),
        user("msg_2", {"type": "compaction", "auto": True}),
        model("msg_3", text("## Goal"), summary=True, **DONE),
        user("msg_4", text("Continue if you have next steps", synthetic=True)),
        user("msg_5", text(f"hello\n{memory}"), {"type": "file", "url": "file:///a.md"}),
    )
    assert [(each.id, each.role, each.origin, each.text) for each in newest(seen).values()] == [
        ("msg_1", Role.USER, Origin.HUMAN, "read @a.md"),
        ("prt_msg_1_1", Role.CONTEXT, Origin.SYNTHETIC, "Called the Read tool"),
        ("prt_msg_1_2", Role.CONTEXT, Origin.SYNTHETIC, "aside"),
        ("msg_3", Role.CONTEXT, Origin.RECALLED, "## Goal"),
        ("prt_msg_4_0", Role.CONTEXT, Origin.SYNTHETIC, "Continue if you have next steps"),
        ("msg_5", Role.USER, Origin.HUMAN, "hello"),
        ("msg_5#1", Role.CONTEXT, Origin.RECALLED, memory),
    ]


SEARCH = "[search-mode]\nMAXIMIZE SEARCH.\n\n---\n"
ULTRA = "<ultrawork-mode>\n\nBe bold.\n\n---\n\nMore.\n\n</ultrawork-mode>"
LOOP = "<auto-slash-command>\n# /ralph-loop Command\n\n**User Arguments**: mend it\n\n---\n\nGo round.\n"


@pytest.mark.parametrize(
    ("words", "typed", "around"),
    [
        (f"{SEARCH}\nmend it\n---\nand this", "mend it\n---\nand this", SEARCH.strip()),
        (
            f"{SEARCH}MANDATORY delegate_task params: x\n---\nmend it",
            "mend it",
            f"{SEARCH}MANDATORY delegate_task params: x\n---",
        ),
        (f"{ULTRA}\n\n---\n\nulw mend it", "ulw mend it", f"{ULTRA}\n\n---"),
        (f"ulw mend it\n\n---\n\n{ULTRA}", "ulw mend it", f"---\n\n{ULTRA}"),
        (
            f"{LOOP}\n## User Request\n\nmend it\n</auto-slash-command>",
            "/ralph-loop mend it",
            f"{LOOP}\n## User Request\n\nmend it\n</auto-slash-command>",
        ),
        (
            "<command-instruction>Go.</command-instruction>\n<user-request>\nmend it\n</user-request>",
            "mend it",
            "<command-instruction>Go.</command-instruction>\n<user-request>\n\n</user-request>",
        ),
    ],
)
def test_what_a_plugin_puts_round_a_prompt_is_taken_off(words: str, typed: str, around: str) -> None:
    seen = newest(fed(reader(SOURCE), session("m1"), user("m1", text(words))))
    assert [(each.id, each.role, each.origin, each.text) for each in seen.values()] == [
        ("m1", Role.USER, Origin.HUMAN, typed),
        ("m1#0", Role.CONTEXT, Origin.SYNTHETIC, around),
    ]


@pytest.mark.parametrize(
    "words",
    [
        "[SYSTEM DIRECTIVE: OH-MY-OPENCODE - TODO CONTINUATION]\n\nGo on.",
        "ultrawork [SYSTEM DIRECTIVE: OH-MY-OPENCODE - ULTRAWORK LOOP 1/9]\n\nGo on.",
        "[BACKGROUND TASK COMPLETED]\n**ID:** `bg_1`",
        "The shop is open.\n<!-- OMO_INTERNAL_INITIATOR -->",
        "[search-mode]\nMAXIMIZE SEARCH.",
        ULTRA,
    ],
)
def test_what_a_plugin_says_in_a_persons_place_is_not_theirs(words: str) -> None:
    seen = newest(fed(reader(SOURCE), session("m1"), user("m1", text(words))))
    assert [(each.role, each.origin, each.text) for each in seen.values()] == [
        (Role.CONTEXT, Origin.SYNTHETIC, words)
    ]


def test_a_reminder_beside_a_prompt_and_a_command_without_words_are_no_persons() -> None:
    reminder = "<system-reminder>Be brief.</system-reminder>"
    command = "<command-instruction>Go.</command-instruction>"
    rows = [user("m1", text(f"{reminder}\nmend it")), user("m2", text(command))]
    seen = newest(fed(reader(SOURCE), session("m1", "m2"), *rows))
    assert [(each.role, each.origin, each.text) for each in seen.values()] == [
        (Role.USER, Origin.HUMAN, "mend it"),
        (Role.CONTEXT, Origin.SYNTHETIC, reminder),
        (Role.USER, Origin.HEADLESS, command),
    ]


def test_a_prompt_of_a_picture_alone_still_opens_an_exchange() -> None:
    seen = fed(reader(SOURCE), session("msg_1"), user("msg_1", {"type": "file", "mime": "image/png"}))
    assert seen == [entry("msg_1", Role.USER, Origin.HUMAN, "")]


def test_a_session_with_a_parent_is_a_sub_agents() -> None:
    seen = fed(reader(SOURCE), session("msg_1", parent_id="ses_0"), user("msg_1", text("find it")))
    assert seen == [entry("msg_1", Role.USER, Origin.SUBAGENT, "find it")]


def test_a_revert_voids_from_its_message_on_and_taking_it_back_revives() -> None:
    to = reader(SOURCE)
    rows = [user("msg_1", text("one")), user("msg_2", text("two")), model("msg_3", text("2"))]
    fed(to, session("msg_1", "msg_2", "msg_3"), *rows)
    revert = json.dumps({"messageID": "msg_2", "snapshot": "x"})
    seen = fed(to, session("msg_1", "msg_2", "msg_3", revert=revert), *rows)
    assert voided(seen) == {"msg_2", "msg_3"}
    assert {each.id for each in newest(seen).values() if not each.active} == {"msg_2", "msg_3"}
    back = fed(to, session("msg_1", "msg_2", "msg_3"), *rows)
    assert not voided(back)
    assert [each.again for each in back if isinstance(each, Voided)] == [("msg_2",), ("msg_3",)]
    assert {each.id for each in newest(back).values() if each.active} == {"msg_2", "msg_3"}


def test_what_was_undone_and_redone_is_an_exchange_again() -> None:
    """Undone it is none; redone and gone on from, it is one, with what follows."""
    to, folded = reader(SOURCE), Session("opencode", "ses_1")
    rows = [user("msg_1", text("one")), user("msg_2", text("two")), model("msg_3", text("2"))]
    revert = json.dumps({"messageID": "msg_2"})
    steps = ((None, ["msg_1", "msg_2"]), (revert, ["msg_1"]), (None, ["msg_1", "msg_2"]))
    for undone, exchanges in steps:
        for seen in fed(to, session("msg_1", "msg_2", "msg_3", revert=undone), *rows):
            folded.apply(seen)
        assert [each.key for each in folded.exchanges()] == exchanges
    (_, redone) = folded.exchanges()
    assert [each.id for each in redone.entries] == ["msg_2", "msg_3"]
    assert not folded.has_voided("msg_2")


def test_a_revert_seen_first_gives_an_entry_that_is_not_active() -> None:
    revert = json.dumps({"messageID": "msg_1"})
    assert fed(reader(SOURCE), session("msg_1", revert=revert), user("msg_1", text("one"))) == [
        entry("msg_1", Role.USER, Origin.HUMAN, "one", active=False),
        Voided(session="ses_1", ids=("msg_1",)),
    ]


def test_a_revert_inside_a_message_keeps_its_prompt() -> None:
    revert = json.dumps({"messageID": "msg_1", "partID": "prt_9"})
    seen = fed(reader(SOURCE), session("msg_1", revert=revert), user("msg_1", text("one")))
    assert seen == [entry("msg_1", Role.USER, Origin.HUMAN, "one")]


def test_messages_that_are_deleted_are_void() -> None:
    to = reader(SOURCE)
    fed(to, session("msg_1", "msg_2"), user("msg_1", text("one")), user("msg_2", text("two")))
    assert fed(to, session("msg_1")) == [Voided(session="ses_1", ids=("msg_2",))]


@pytest.mark.parametrize(
    ("given_text", "typed"),
    [
        ('"use tabs please"', "use tabs please"),
        ('"say \\"tabs\\" now"', 'say "tabs" now'),
        ("plain", "plain"),
        ('"a b" and "c d"', '"a b" and "c d"'),
        ('"unfinished', '"unfinished'),
        ("\"run: printf 'two\\n' && ls\"", "run: printf 'two\\n' && ls"),
    ],
)
def test_the_quotes_that_the_command_line_adds_come_off(given_text: str, typed: str) -> None:
    assert unquoted(given_text) == typed
    assert prompts(fed(reader(SOURCE), session("msg_1"), user("msg_1", text(given_text)))) == [typed]


def test_our_memory_tools_are_recalled() -> None:
    part = tool("extractord_memory_search", "completed", {"query": "tabs"}, output="- tabs")
    seen = newest(fed(reader(SOURCE), session("msg_2"), model("msg_2", part)))
    assert seen["prt_msg_2_0"].origin is Origin.RECALLED


def test_odd_rows_are_counted_and_the_others_go_on() -> None:
    to = reader(SOURCE)
    odd = {
        **user("msg_1"),
        "parts": json.dumps([{"id": "p", "data": "{torn"}, {"id": "q", "data": '{"type":"new"}'}]),
    }
    system = row("msg_2", {"role": "system"})
    seen = fed(
        to,
        session("msg_1", revert="{torn", data="no"),
        odd,
        system,
        {"kind": "x"},
        b"{",
        user("msg_3", text("one")),
    )
    assert prompts(seen) == ["", "one"]
    assert to.unknown == {"undecodable": 4, "part/new": 1, "message/system": 1, "x": 1}


def test_where_it_is_and_what_belongs() -> None:
    home = {"home": "/home/dev", "platform": "darwin"}
    assert SOURCE.roots(Surroundings(env={}, **home)) == ("/home/dev/.local/share/opencode",)
    assert SOURCE.roots(Surroundings(env={"XDG_DATA_HOME": "/d", "OPENCODE_DB": "/x/my.db"}, **home)) == (
        "/d/opencode",
        "/x",
    )
    assert SOURCE.roots(Surroundings(env={"OPENCODE_DB": "my.db"}, **home)) == (
        "/home/dev/.local/share/opencode",
    )
    assert SOURCE.belongs("opencode.db")
    assert SOURCE.belongs("opencode-beta.db")
    assert not SOURCE.belongs("opencode.db-wal")
    assert not SOURCE.belongs("snapshot/x.db")
    assert SOURCE.container("/d/opencode/opencode.db") is Container.ROWS
    assert SOURCE.claims("/d/opencode.db", b"SQLite format 3\0")
    assert not SOURCE.claims("/d/opencode.db", b"")
    assert not SOURCE.claims("/d/goose.db", b"SQLite format 3\0")


def test_rows_joined_from_files_are_read_as_rows_and_an_odd_message_is_left() -> None:
    own = {"id": "ses_1", "parentID": None, "directory": "/home/dev/shop", "revert": {"messageID": "msg_2"}}
    rows = [
        {"kind": "file", "id": "ses_1", "data": json.dumps(own), "parts": '["msg_1","msg_2"]'},
        user("msg_1", text("one")),
        user("msg_2", text("two")),
        {"kind": "message", "id": "msg_3", "data": "{torn"},
    ]
    to = reader(SOURCE)
    seen = fed(to, rows)
    assert prompts(seen) == ["one", "two"]
    assert voided(seen) == {"msg_2"}
    assert fed(to, rows) == []
    assert fed(to, b"[torn") == []


def test_an_export_is_read_as_the_rows_that_it_was_made_of() -> None:
    given = {"filePath": "/home/dev/shop/a.md", "content": "x"}
    said = [user("msg_1", text("save it")), model("msg_2", tool("write", "completed", given), finish="stop")]
    info = {"id": "ses_1", "directory": "/home/dev/shop", "version": "1.18", "time": {"created": AT}}
    messages = [
        {
            "info": {"id": each["id"], **json.loads(str(each["data"]))},
            "parts": [
                {"id": part["id"], **json.loads(part["data"])} for part in json.loads(str(each["parts"]))
            ],
        }
        for each in said
    ]
    export = [
        {"kind": "file", "id": "x", "data": json.dumps({"info": info, "messages": messages}), "parts": "[]"}
    ]
    exported, stored = reader(SOURCE), reader(SOURCE)
    seen = newest(fed(exported, export))
    rows = newest(fed(stored, session("msg_1", "msg_2"), *said))
    unrevised = {ident: replace(each, revision=0) for ident, each in rows.items()}
    assert seen == unrevised
    assert (exported.session, exported.version) == ("ses_1", "1.18")
    assert fed(exported, export) == []


@pytest.mark.parametrize(
    ("head", "claimed"),
    [
        (b'{\n  "info": {\n    "id": "ses_1"\n  },\n  "messages": []', True),
        (b'\xef\xbb\xbf{"info":{"id":"ses_1"},\r\n"messages":[]', True),
        (b'{"info":{"id":"x1"},"messages":[]', False),
        (b'{"info":{"id":"ses_1"}}', False),
    ],
)
def test_an_export_is_known_by_how_it_begins(head: bytes, claimed: bool) -> None:
    assert SOURCE.claims("/x/a.json", head) is claimed


KEYS = ["kind", "id", "data", "parts", "revert", "time_updated", "parent_id", "directory"]
WORDS = [
    "session",
    "file",
    "message",
    "msg_1",
    "msg_2",
    '{"role":"user"}',
    '{"role":"assistant","time":5}',
    '["msg_1"]',
]
WORDS += ['{"info":{"id":"ses_1"},"messages":[{"info":{"id":"msg_1"}},5]}']
WORDS += ['[{"id":"p","data":"{\\"type\\":\\"text\\",\\"text\\":\\"x\\"}"}]', '{"messageID":"msg_1"}', "{"]


@settings(max_examples=60)
@given(odd_records(KEYS, WORDS))
def test_no_record_raises_and_a_second_feeding_only_revises(records: list[bytes]) -> None:
    newest(settled(reader(SOURCE), *records, *records))
