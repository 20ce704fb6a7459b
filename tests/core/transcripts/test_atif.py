from __future__ import annotations

from datetime import UTC, datetime

from feeding import fed, line, memory_writes, newest, odd_records, prompts, reader, settled
from hypothesis import given, settings

from extractord.core.records import Entry, Origin, Role, ToolCall
from extractord.core.transcripts.atif import SOURCE
from extractord.core.transcripts.source import Container, Surroundings


def step(ident: int, source: str, message: object, **more: object) -> dict[str, object]:
    return {
        "step_id": ident,
        "timestamp": "2026-11-30T12:00:00Z",
        "source": source,
        "message": message,
        **more,
    }


def whole(*steps: object, **more: object) -> dict[str, object]:
    agent = {"name": "terminus", "version": "1", "extra": {"cwds": ["/home/dev/shop"]}}
    return {"schema_version": "ATIF-v1.6", "session_id": "s1", "agent": agent, "steps": list(steps), **more}


def entry(ident: str, role: Role, origin: Origin, words: str, **more: object) -> Entry:
    return Entry(
        id=f"s1/{ident}",
        agent="atif",
        session="s1",
        role=role,
        origin=origin,
        text=words,
        time=datetime(2026, 11, 30, 12, tzinfo=UTC),
        cwd="/home/dev/shop",
        **more,  # type: ignore[arg-type]
    )


def test_a_trajectory_has_prompts_calls_and_what_was_observed() -> None:
    to = reader(SOURCE)
    asked = {
        "tool_call_id": "c1",
        "function_name": "bash_command",
        "arguments": {"keystrokes": "echo x > ../memory/a.md\n"},
    }
    observed = {"results": [{"source_call_id": "c1", "content": [{"type": "text", "text": "fine"}]}]}
    document = whole(
        step(1, "system", "sys"),
        step(2, "user", [{"type": "text", "text": "do it"}]),
        step(3, "agent", "ok", tool_calls=[asked], observation=observed),
        step(4, "user", "do it", is_copied_context=True),
        step(5, "agent", "ok", is_copied_context=True),
        step(6, "novel", "x"),
    )
    call = ToolCall(id="c1", name="bash_command", paths=("/home/dev/memory/a.md",), writes=True)
    done = ToolCall(id="c1", name="bash_command", paths=("/home/dev/memory/a.md",), writes=True, ok=True)
    assert fed(to, document) == [
        entry("1", Role.CONTEXT, Origin.SYNTHETIC, "sys"),
        entry("2", Role.USER, Origin.HUMAN, "do it"),
        entry("3", Role.ASSISTANT, Origin.SYNTHETIC, "ok", calls=(call,)),
        entry("3", Role.ASSISTANT, Origin.SYNTHETIC, "ok", calls=(done,), revision=1),
        entry("c1/result", Role.TOOL, Origin.SYNTHETIC, "fine"),
        entry("4", Role.USER, Origin.COPIED, "do it"),
        entry("5", Role.CONTEXT, Origin.COPIED, "ok"),
    ]
    assert (to.version, to.unknown) == ("terminus 1 ATIF-v1.6", {"source/novel": 1})
    assert fed(to, document) == []


def test_a_sub_agents_trajectory_is_no_persons() -> None:
    inner = {"trajectory_id": "t2", "steps": [step(1, "user", "count them")]}
    to = reader(SOURCE)
    seen = fed(to, whole(step(1, "user", "do it"), subagent_trajectories=[inner]))
    assert prompts(seen) == ["do it"]
    assert newest(seen)["s1/t2/1"].origin is Origin.SUBAGENT
    assert prompts(fed(reader(SOURCE), whole(step(2, "user", "next")))) == ["next"]


def test_what_a_sidechain_or_a_summary_asks_is_no_persons() -> None:
    aside = step(2, "user", "look there", extra={"is_sidechain": True, "agent_id": "a1"})
    document = whole(step(1, "user", "do it", extra={"is_sidechain": False}), aside, step(3, "user", "go on"))
    assert prompts(fed(reader(SOURCE), document)) == ["do it", "go on"]
    inner = whole(step(1, "user", "What came to pass?"), session_id="s1-summarization-1-summary")
    assert prompts(fed(reader(SOURCE), inner)) == []
    deeper = {"trajectory_id": "t3", "steps": [step(1, "user", "count")]}
    nested = {"trajectory_id": "t2", "steps": [step(1, "user", "tell")], "subagent_trajectories": [deeper]}
    seen = newest(fed(reader(SOURCE), whole(step(1, "user", "do it"), subagent_trajectories=[nested])))
    assert [(each.id, each.origin) for each in seen.values()] == [
        ("s1/1", Origin.HUMAN),
        ("s1/t2/1", Origin.SUBAGENT),
        ("s1/t2/t3/1", Origin.SUBAGENT),
    ]


def test_a_continuation_is_of_the_same_session_under_keys_of_its_own() -> None:
    handed = "Here are the answers the other agent provided.\n\n1. yes"
    more = whole(step(1, "user", handed), step(2, "user", "and more"), session_id="s1-cont-1")
    seen = newest(fed(reader(SOURCE), more)).values()
    assert [(each.id, each.session, each.origin) for each in seen] == [
        ("s1/cont-1/1", "s1", Origin.SYNTHETIC),
        ("s1/cont-1/2", "s1", Origin.HUMAN),
    ]


def test_what_a_terminal_agent_puts_round_its_task_is_no_persons() -> None:
    around = (
        "You are an AI assistant tasked with solving command-line tasks in a shell.\n\nTask Description:\n"
    )
    asked = f"{around}mend it\n\nall of it\n\nCurrent terminal state:\n$ "
    assert prompts(fed(reader(SOURCE), whole(step(1, "user", asked)))) == ["mend it\n\nall of it"]


def test_one_screen_after_several_commands_is_of_them_all() -> None:
    calls = [
        {"tool_call_id": f"c{nth}", "function_name": "bash_command", "arguments": {"keystrokes": keys}}
        for nth, keys in enumerate(("ls\n", "echo x > /home/dev/memory/a.md\n"))
    ]
    screen = {"results": [{"content": "$ ls\n$ echo x"}]}
    seen = fed(reader(SOURCE), whole(step(1, "agent", "", tool_calls=calls, observation=screen)))
    assert memory_writes(seen) == [("/home/dev/memory/a.md", True)]
    failed = {"results": [{"content": "Error: no terminal"}]}
    seen = fed(reader(SOURCE), whole(step(1, "agent", "", tool_calls=calls, observation=failed)))
    assert memory_writes(seen) == [("/home/dev/memory/a.md", None)]


def test_what_is_no_trajectory_is_counted() -> None:
    to = reader(SOURCE)
    assert fed(to, {"session_id": "s1"}, b"{") == []
    assert to.unknown == {"no steps": 1, "undecodable": 1}


def test_it_is_read_only_where_a_person_says() -> None:
    assert SOURCE.roots(Surroundings({}, "/home/dev", "linux")) == ()
    assert SOURCE.belongs("a/trajectory.json")
    assert SOURCE.container("a.json") is Container.DOCUMENT
    assert SOURCE.claims("/x/a.json", line(whole()))
    assert not SOURCE.claims("/x/a.json", line({"text": '"schema_version": "ATIF-v1.6"'}))
    assert not SOURCE.claims("/x/a.jsonl", line(whole()))


KEYS = [
    "steps",
    "source",
    "message",
    "tool_calls",
    "tool_call_id",
    "observation",
    "results",
    "content",
    "step_id",
    "session_id",
]
WORDS = ["user", "agent", "system", "c1", "s1", "text"]


@settings(max_examples=60)
@given(odd_records(KEYS, WORDS))
def test_no_record_raises_and_no_id_comes_twice_unrevised(records: list[bytes]) -> None:
    newest(settled(reader(SOURCE), *records, *records))
