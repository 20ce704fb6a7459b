from __future__ import annotations

import pytest
from msgspec.structs import replace

from extractord.core.direct import under
from extractord.core.gate import GateSettings, Run, Skip, gate
from extractord.core.records import Entry, Exchange, Origin, Role, ToolCall

SETTINGS = GateSettings(
    home="/home/dev",
    memory_roots=("~/memory", "/mnt/disk/memory"),
    excluded=("/home/dev/secret",),
    own_marker="extractord-brief-7f3a",
)
PROMPT = Entry(
    id="1", agent="pi", session="s", role=Role.USER, origin=Origin.HUMAN, text="we deploy on Tuesdays"
)
CALL = ToolCall(id="c", name="write", paths=("/home/dev/memory/user/a.md",), writes=True, ok=True)


def exchange(*calls: ToolCall, prompt: Entry = PROMPT, cwd: str | None = "/home/dev/shop") -> Exchange:
    reply = Entry(id="2", agent="pi", session="s", role=Role.ASSISTANT, origin=Origin.SYNTHETIC, calls=calls)
    return Exchange(agent="pi", session="s", key=prompt.id, entries=(prompt, reply), ended=True, cwd=cwd)


def asked(found: Exchange, *seen: str) -> str:
    match gate(found, SETTINGS, frozenset(seen)):
        case Run():
            return "run"
        case Skip(reason):
            return reason


def test_an_exchange_with_prose_runs() -> None:
    assert asked(exchange()) == "run"
    assert asked(exchange(prompt=replace(PROMPT, origin=Origin.HEADLESS))) == "run"


@pytest.mark.parametrize(
    ("cwd", "answer"),
    [
        ("/home/dev/secret", "excluded"),
        ("/home/dev/secret/deep", "excluded"),
        ("/home/dev/x/../secret", "excluded"),
        ("/home/dev/secretary", "run"),
        (None, "run"),
    ],
)
def test_a_directory_can_be_excluded(cwd: str | None, answer: str) -> None:
    assert asked(exchange(cwd=cwd)) == answer


def test_our_own_runs_are_known_by_the_marker_of_a_brief() -> None:
    ours = replace(PROMPT, text="Memories of this project extractord-brief-7f3a follow")
    assert asked(exchange(prompt=ours)) == "own_run"
    no_marker = GateSettings(home="/home/dev", memory_roots=())
    assert gate(exchange(prompt=ours), no_marker, frozenset()) == Run()


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("/home/dev/memory/user/a.md", "direct_write"),
        ("~/memory/a.md", "direct_write"),
        ("/mnt/disk/memory/projects/shop-0/a.md", "direct_write"),
        ("/home/dev/shop/../memory/a.md", "direct_write"),
        ("/home/dev/memory", "direct_write"),
        ("/home/dev/memory-of-mine/a.md", "run"),
        ("/home/dev/memory/../shop/a.md", "run"),
        ("memory/a.md", "run"),
        ("~other/memory/a.md", "run"),
    ],
)
def test_a_write_below_a_memory_root_is_direct(path: str, answer: str) -> None:
    assert asked(exchange(replace(CALL, paths=("/elsewhere", path)))) == answer


def test_only_what_succeeded_counts_as_written() -> None:
    other = ToolCall(id="d", name="ls", ok=True)
    assert {
        "refused": asked(exchange(replace(CALL, ok=False))),
        "read": asked(exchange(replace(CALL, writes=False))),
        "unknown where results are recorded": asked(exchange(replace(CALL, ok=None), other)),
        "unknown where none are": asked(exchange(replace(CALL, ok=None))),
    } == {
        "refused": "run",
        "read": "run",
        "unknown where results are recorded": "run",
        "unknown where none are": "direct_write",
    }


def test_a_copied_write_is_not_of_this_exchange() -> None:
    found = exchange(CALL)
    copied = replace(found.entries[1], origin=Origin.COPIED)
    assert asked(replace(found, entries=(PROMPT, copied))) == "run"


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("ok thanks", "no_prose"),
        ("ok thanks then", "run"),
        ("以后用英文", "no_prose"),
        ("以后都用英文", "run"),
        ("fix\n```\nmany words of code here\n```", "no_prose"),
        ("/model with some words", "no_prose"),
    ],
)
def test_three_words_of_prose_are_enough_and_needed(text: str, answer: str) -> None:
    assert asked(exchange(prompt=replace(PROMPT, text=text))) == answer


def test_words_of_the_agent_or_of_memory_are_no_prose() -> None:
    for origin in (Origin.SYNTHETIC, Origin.RECALLED, Origin.COPIED, Origin.SUBAGENT):
        assert asked(exchange(prompt=replace(PROMPT, origin=origin))) == "no_prose"


def test_what_another_session_had_first_is_seen_already() -> None:
    assert asked(exchange(), "1") == "already_seen"
    assert asked(exchange(), "2") == "run"
    more = replace(PROMPT, id="3")
    assert asked(replace(exchange(), entries=(PROMPT, more)), "1") == "run"
    assert asked(replace(exchange(), entries=(PROMPT, more)), "1", "3") == "already_seen"


def test_the_first_reason_counts() -> None:
    short = replace(PROMPT, text="ok")
    ours = replace(PROMPT, text="extractord-brief-7f3a")
    assert asked(exchange(CALL, prompt=ours, cwd="/home/dev/secret"), "1") == "excluded"
    assert asked(exchange(CALL, prompt=ours), "1") == "own_run"
    assert asked(exchange(CALL, prompt=short), "1") == "direct_write"
    assert asked(exchange(prompt=short), "1") == "no_prose"


def test_roots_are_compared_by_components() -> None:
    assert under("/a/b/c", ["/a/b/"], "/h")
    assert under("/anything", ["/"], "/h")
    assert not under("/a/bc", ["/a/b"], "/h")
    assert not under("/a/b", [], "/h")
    assert not under("/a/b", ["a/b"], "/h")
    assert under("//a/b", ["/a"], "/h")
