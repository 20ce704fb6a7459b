from __future__ import annotations

from datetime import UTC, datetime

import pytest
from feeding import fed, line, memory_writes, newest, odd_records, prompts, reader, settled, voided
from hypothesis import given, settings

from extractord.core.records import Entry, Origin, Role, ToolCall
from extractord.core.transcripts.kimi import SOURCE
from extractord.core.transcripts.recorded import text_key
from extractord.core.transcripts.source import Container, Surroundings

AT = 1_796_040_000_000
PATH = "/h/.kimi-code/sessions/wd_shop_a1/session_1/agents/main/wire.jsonl"
STATE = {"../../state.json": b'{"workDir":"/home/dev/shop"}'}


def happened(kind: str, **more: object) -> dict[str, object]:
    return {"type": "context.append_loop_event", "event": {"type": kind, **more}, "time": AT}


def typed(words: str, kind: str = "turn.prompt", by: str = "user") -> dict[str, object]:
    return {"type": kind, "input": [{"type": "text", "text": words}], "origin": {"kind": by}, "time": AT}


def appended(words: str, by: str = "user") -> dict[str, object]:
    message = {"role": "user", "content": [{"type": "text", "text": words}], "origin": {"kind": by}}
    return {"type": "context.append_message", "message": message, "time": AT}


def entry(ident: str, role: Role, origin: Origin, words: str, **more: object) -> Entry:
    return Entry(
        id=f"session_1/{ident}",
        agent="kimi",
        session="session_1",
        role=role,
        origin=origin,
        text=words,
        time=datetime.fromtimestamp(AT / 1000, tz=UTC),
        cwd="/home/dev/shop",
        **more,  # type: ignore[arg-type]
    )


def prompt_id(words: str, session: str = "session_1") -> str:
    key = text_key(f"user\n{words}", 0)
    return f"{session}/{key}"


def test_a_users_message_that_echoes_no_prompt_is_the_agents_own() -> None:
    message = {"role": "user", "content": [{"type": "text", "text": "Go on with your list."}]}
    unsaid = {"type": "context.append_message", "message": message, "time": AT}
    to = reader(SOURCE, PATH, STATE)
    assert prompts(fed(to, typed("one"), appended("one"), unsaid, appended("typed"))) == ["one", "typed"]
    assert prompts(fed(reader(SOURCE, PATH, STATE), unsaid)) == ["Go on with your list."]


def test_prompt_call_result_and_answer_each_once() -> None:
    to = reader(SOURCE, PATH, STATE)
    seen = fed(
        to,
        {"type": "metadata", "protocol_version": "1.4"},
        {"type": "config.update", "time": AT},
        typed("save it"),
        appended("save it"),
        happened("step.begin", uuid="u0"),
        happened("content.part", uuid="u1", part={"type": "think", "think": "x"}),
        happened(
            "tool.call", uuid="Write_0", toolCallId="Write_0", name="Write", args={"path": "../memory/a.md"}
        ),
        happened("tool.result", toolCallId="Write_0", result={"output": "ok"}),
        happened("content.part", uuid="u2", part={"type": "text", "text": "Saved."}),
        happened("step.end", uuid="u0", finishReason="end_turn"),
        {"type": "context.apply_compaction", "summary": "before", "time": AT},
    )
    call = ToolCall(id="Write_0", name="Write", paths=("/home/dev/memory/a.md",), writes=True)
    done = ToolCall(id="Write_0", name="Write", paths=("/home/dev/memory/a.md",), writes=True, ok=True)
    assert seen == [
        entry(text_key("user\nsave it", 0), Role.USER, Origin.HUMAN, "save it"),
        entry("Write_0", Role.ASSISTANT, Origin.SYNTHETIC, "", calls=(call,)),
        entry("Write_0", Role.ASSISTANT, Origin.SYNTHETIC, "", calls=(done,), revision=1),
        entry("Write_0/result", Role.TOOL, Origin.SYNTHETIC, "ok"),
        entry("u2", Role.ASSISTANT, Origin.SYNTHETIC, "Saved."),
        entry("u2", Role.ASSISTANT, Origin.SYNTHETIC, "Saved.", turn_end=True, revision=1),
        entry(text_key("context\nbefore", 0), Role.CONTEXT, Origin.RECALLED, "before"),
    ]
    assert (to.session, to.version, to.unknown) == ("session_1", "1.4", {})


def test_only_what_the_person_gave_is_theirs() -> None:
    seen = fed(
        reader(SOURCE, PATH),
        typed("first"),
        appended("first"),
        typed("also this", "turn.steer"),
        appended("also this"),
        typed("wake up", by="cron"),
        appended("<system-reminder>\nUse the list\n</system-reminder>", by="injection"),
        appended("<system-reminder>\nUse the list\n</system-reminder>"),
        appended("no prompt before it"),
        {"type": "context.append_message", "message": {"role": "assistant", "content": "x"}},
    )
    assert prompts(seen) == ["first", "also this", "no prompt before it"]


def test_what_a_skill_says_is_no_persons_and_what_was_asked_of_it_is() -> None:
    loaded = {"type": "text", "text": "Always deploy at night."}
    words = {"type": "text", "text": "ship it please"}
    beside = {"kind": "user", "skillActivations": [{"skillName": "ship"}]}
    slash = {"kind": "skill_activation", "trigger": "user-slash", "skillArgs": "only the page"}
    bare = {"kind": "skill_activation", "trigger": "user-slash"}
    models = {"kind": "skill_activation", "trigger": "model-tool", "skillArgs": "whatever it wants"}
    command = {"kind": "plugin_command", "trigger": "user-slash", "commandArgs": "in two steps"}
    seen = fed(
        reader(SOURCE, PATH),
        {"type": "turn.prompt", "input": [loaded, words], "origin": beside},
        *({"type": "turn.prompt", "input": [loaded], "origin": each} for each in (slash, bare, models)),
        {"type": "turn.prompt", "input": [loaded], "origin": command},
    )
    assert prompts(seen) == ["ship it please", "only the page", "in two steps"]
    around = [each.text for each in newest(seen).values() if each.origin is Origin.SYNTHETIC]
    assert around == ["Always deploy at night."] * 5


def test_what_is_written_when_a_call_is_refused_is_a_persons() -> None:
    refused = {"decision": "rejected", "feedback": "never touch main"}
    asked = {"type": "permission.record_approval_result", "result": refused, "time": AT}
    silent = {"type": "permission.record_approval_result", "result": {"decision": "approved"}, "time": AT}
    old = {
        "timestamp": AT / 1000,
        "message": {"type": "ApprovalResponse", "payload": {"feedback": "use tabs"}},
    }
    assert prompts(fed(reader(SOURCE, PATH), typed("go"), asked, silent, old)) == [
        "go",
        "never touch main",
        "use tabs",
    ]


def test_a_prompt_has_its_own_id_which_a_fork_keeps() -> None:
    said = {**typed("one"), "promptId": "msg_01M8Q00T2Z8JX8Z3K343J8M0QD"}
    fork = PATH.replace("session_1", "session_2")
    first, second = (newest(fed(reader(SOURCE, path), said)) for path in (PATH, fork))
    assert list(first) == list(second) == ["msg_01M8Q00T2Z8JX8Z3K343J8M0QD"]


def test_a_fork_of_old_has_the_keys_of_what_it_was_forked_from() -> None:
    state = {"../../state.json": b'{"cwd":"/home/dev/shop","forkedFrom":"session_1"}'}
    to = reader(SOURCE, PATH.replace("session_1", "session_2"), state)
    [seen] = newest(fed(to, typed("one"))).values()
    assert (seen.id, seen.session, seen.cwd) == (prompt_id("one"), "session_2", "/home/dev/shop")


def test_an_undo_takes_back_the_last_prompts_and_what_followed() -> None:
    to = reader(SOURCE, PATH)
    fed(to, typed("one"), happened("content.part", uuid="u1", part={"type": "text", "text": "a"}))
    fed(to, typed("two"), happened("content.part", uuid="u2", part={"type": "text", "text": "b"}))
    assert voided(fed(to, {"type": "context.undo", "count": 1})) == {
        prompt_id("two"),
        "session_1/u2",
    }
    assert prompt_id("one") in voided(fed(to, {"type": "context.undo", "count": 5}))
    assert fed(to, {"type": "context.undo", "count": 1}) == []


def test_another_agents_wire_is_a_sub_agents() -> None:
    path = PATH.replace("/main/", "/agent-0/")
    seen = fed(reader(SOURCE, path), typed("count them"))
    assert [(each.session, each.origin) for each in newest(seen).values()] == [("session_1", Origin.SUBAGENT)]


def test_the_old_wire_is_read() -> None:
    def event(kind: str, **payload: object) -> dict[str, object]:
        return {"timestamp": AT / 1000, "message": {"type": kind, "payload": payload}}

    asked = {"name": "WriteFile", "arguments": '{"path":"/home/dev/memory/a.md"}'}
    to = reader(SOURCE, "/h/.kimi/sessions/md5/uuid-1/wire.jsonl")
    seen = fed(
        to,
        event("TurnBegin", user_input="save it"),
        event("StepBegin", n=1),
        event("ContentPart", type="think", think="x"),
        event("ToolCall", type="function", id="c1", function=asked),
        event("ToolResult", tool_call_id="c1", return_value={"output": "no", "is_error": True}),
        event("ContentPart", type="text", text="Done."),
        event("StepInterrupted"),
        event("HookTriggered", event="Stop"),
        event("Novel"),
    )
    assert prompts(seen) == ["save it"]
    assert memory_writes(seen) == [("/home/dev/memory/a.md", False)]
    assert list(newest(seen).values())[-1].turn_end
    assert (to.session, to.unknown) == ("uuid-1", {"message/Novel": 1})
    flat = {
        "timestamp": AT / 1000,
        "message": {"type": "ToolResult", "payload": {"tool_call_id": "c1", "output": "x"}},
    }
    assert [entry.text for entry in newest(fed(reader(SOURCE), flat)).values()] == ["x"]


def test_the_old_context_is_read_with_the_same_keys_for_prompts() -> None:
    to = reader(SOURCE, "/h/.kimi/sessions/md5/uuid-1/context.jsonl")
    seen = fed(
        to,
        {"role": "_system_prompt", "content": "You are"},
        {"role": "_checkpoint", "id": 0},
        {"role": "user", "content": "save it"},
        {"role": "assistant", "content": [{"type": "text", "text": "Done."}]},
    )
    assert next(iter(newest(seen))) == prompt_id("save it", "uuid-1")
    assert (prompts(seen), to.unknown) == (["save it"], {})


def test_what_the_program_says_in_the_old_context_is_no_persons() -> None:
    to = reader(SOURCE, "/h/.kimi/sessions/md5/uuid-1/context.jsonl")
    notice = '<notification id="n1" category="task">\nIt ended.\n</notification>'
    parts = ("<system>Previous context has been compacted. Here is it:</system>", "They sold shoes.")
    seen = fed(
        to,
        {"role": "user", "content": "<system>CHECKPOINT 0</system>"},
        {"role": "user", "content": notice},
        {"role": "user", "content": [{"type": "text", "text": each} for each in parts]},
        {"role": "user", "content": "What does <system> mean? And </system>?"},
    )
    assert [(each.role, each.origin, each.text) for each in newest(seen).values()] == [
        (Role.CONTEXT, Origin.SYNTHETIC, "<system>CHECKPOINT 0</system>"),
        (Role.CONTEXT, Origin.SYNTHETIC, notice),
        (Role.CONTEXT, Origin.RECALLED, "\n".join(parts)),
        (Role.USER, Origin.HUMAN, "What does <system> mean? And </system>?"),
    ]


def test_odd_lines_are_counted_and_a_cancelled_turn_without_an_answer_ends_nothing() -> None:
    to = reader(SOURCE, PATH)
    odd = [b"{", {"type": "novel"}, {}, happened("novel"), {"type": "turn.cancel"}]
    assert fed(to, *odd) == []
    assert to.unknown == {"undecodable": 1, "novel": 1, "no type": 1, "event/novel": 1}


@pytest.mark.parametrize(
    ("record", "cwd"),
    [
        ({"type": "config.update", "cwd": "/w"}, "/w"),
        ({"type": "profile.bind", "environmentDisclosure": {"cwd": "/w"}}, "/w"),
        ({"type": "config.update"}, None),
    ],
)
def test_the_cwd_stands_in_several_records(record: dict[str, object], cwd: str | None) -> None:
    (seen,) = newest(fed(reader(SOURCE, PATH), record, typed("go"))).values()
    assert seen.cwd == cwd


def test_where_it_is_and_what_belongs() -> None:
    home = {"home": "/home/dev", "platform": "linux"}
    assert SOURCE.roots(Surroundings(env={}, **home)) == (
        "/home/dev/.kimi-code/sessions",
        "/home/dev/.kimi/sessions",
    )
    assert SOURCE.roots(Surroundings(env={"KIMI_CODE_HOME": "/k"}, **home))[0] == "/k/sessions"
    assert SOURCE.belongs("wd_shop_a1/session_1/agents/main/wire.jsonl")
    assert SOURCE.belongs("md5/uuid/wire.jsonl")
    assert not SOURCE.belongs("md5/uuid/context.jsonl")
    assert SOURCE.container(PATH) is Container.LINES
    assert SOURCE.claims("/x/a.jsonl", line({"type": "metadata", "protocol_version": "1.4"}))
    assert SOURCE.claims(
        "/x/a.jsonl", line({"timestamp": 1.5, "message": {"type": "TurnBegin", "payload": {}}})
    )
    assert SOURCE.claims("/x/a.jsonl", line({"role": "_checkpoint"}))
    said = line({"role": "user", "content": "x"})
    assert SOURCE.claims("/x/a.jsonl", said + b"\n" + line({"role": "_checkpoint"}))
    assert not SOURCE.claims("/x/a.jsonl", said + b"\n" + said)
    assert not SOURCE.claims("/x/a.jsonl", line({"type": "metadata"}))


KEYS = [
    "type",
    "role",
    "event",
    "part",
    "message",
    "payload",
    "input",
    "text",
    "toolCallId",
    "uuid",
    "name",
    "args",
    "result",
    "count",
    "origin",
]
WORDS = [
    "turn.prompt",
    "context.append_message",
    "context.append_loop_event",
    "context.undo",
    "turn.ended",
    "content.part",
    "tool.call",
    "tool.result",
    "TurnBegin",
    "ToolCall",
    "text",
    "user",
    "u1",
]


@settings(max_examples=80)
@given(odd_records(KEYS, WORDS))
def test_no_record_raises_and_no_id_comes_twice_unrevised(records: list[bytes]) -> None:
    newest(settled(reader(SOURCE, PATH), *records, *records))
