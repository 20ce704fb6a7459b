from __future__ import annotations

import json

import pytest

from extractord.core.direct import may_spell, telling
from extractord.core.exchanges import Session
from extractord.core.gate import GateSettings, Run, Skip, gate
from extractord.core.records import Deferred, Entry, Exchange, Kept
from extractord.core.touches import touches
from extractord.core.transcripts import claude_code
from extractord.core.transcripts.source import Opened

MEMORY = "/home/dev/.local/share/extractord/memory"
SETTINGS = GateSettings(home="/home/dev", memory_roots=(MEMORY,))
SHOP = "/home/dev/shop"


def exchange(name: str, asked: dict[str, str], *, cwd: str = SHOP, is_error: bool = False) -> Exchange:
    """A prompt, one call, its result and the end of the turn, as the daemon reads them."""
    call = {"type": "tool_use", "id": "t1", "name": name, "input": asked}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "done", "is_error": is_error}
    messages = [
        ("user", {"role": "user", "content": "we deploy on tuesdays only"}),
        ("assistant", {"role": "assistant", "content": [call], "stop_reason": "tool_use"}),
        ("user", {"role": "user", "content": [result]}),
        (
            "assistant",
            {"role": "assistant", "content": [{"type": "text", "text": "ok"}], "stop_reason": "end_turn"},
        ),
    ]
    lines = [
        {
            "type": kind,
            "uuid": f"u{at}",
            "parentUuid": f"u{at - 1}",
            "sessionId": "s",
            "cwd": cwd,
            "message": message,
        }
        for at, (kind, message) in enumerate(messages, 1)
    ]
    later = claude_code.SOURCE.later
    reader = later.reader(Opened("/t/s.jsonl")) if later else None
    assert later is not None
    assert reader is not None
    session = Session("claude-code", "s", (), later.thaw)
    for each in reader.skim((b"".join(json.dumps(line).encode() + b"\n" for line in lines), 0)):
        if isinstance(each, Deferred):
            assert session.defer(each)
        else:
            session.apply(each)
    (found,) = session.exchanges()
    assert len(found.entries) == 1
    assert found.ended
    return found


WRITES = [
    ("Write", {"file_path": f"{MEMORY}/user/a.md"}, SHOP),
    ("Write", {"file_path": "~/.local/share/extractord/memory/user/a.md"}, SHOP),
    ("Write", {"file_path": "../.local/share/extractord/memory/user/a.md"}, SHOP),
    ("Write", {"file_path": "user/a.md"}, MEMORY),
    ("Bash", {"command": f"cd {MEMORY} && echo x > user/a.md"}, SHOP),
    ("Bash", {"command": "echo x > ~/.local/share/ext\"ract\"\\o'rd'/memory/user/a.md"}, SHOP),
    ("Bash", {"command": "A=extract; echo x > $HOME/.local/share/${A}ord/memory/user/a.md"}, SHOP),
]


@pytest.mark.parametrize(("name", "asked", "cwd"), WRITES)
def test_a_deferred_write_below_the_root_is_seen_however_it_is_spelt(
    name: str, asked: dict[str, str], cwd: str
) -> None:
    found = exchange(name, asked, cwd=cwd)
    assert touches(found, SETTINGS.memory_roots, SETTINGS.home).written == ("user/a.md",)
    assert gate(found, SETTINGS, frozenset()) == Skip("direct_write")


@pytest.mark.parametrize(("name", "asked", "cwd"), WRITES)
def test_a_write_that_failed_still_passes(name: str, asked: dict[str, str], cwd: str) -> None:
    assert gate(exchange(name, asked, cwd=cwd, is_error=True), SETTINGS, frozenset()) == Run()


def test_what_cannot_spell_the_root_is_not_read() -> None:
    def never(_kept: tuple[Kept, ...]) -> tuple[Entry, ...]:
        raise AssertionError

    found = exchange("Bash", {"command": "echo memory > /home/dev/shop/user/a.md"})
    unread = Exchange(
        agent=found.agent,
        session=found.session,
        key=found.key,
        entries=found.entries,
        ended=True,
        cwd=found.cwd,
        kept=found.kept,
        thaw=never,
    )
    assert gate(unread, SETTINGS, frozenset()) == Run()


@pytest.mark.parametrize(
    ("root", "name"),
    [
        (MEMORY, b"extractord"),
        ("/home/dev/m", b"m"),
        ("/srv/memories", b"memories"),
        ("/home/dev/Gedächtnis", b""),
        ("/home/dev", b""),
        ("/home/other", b""),
    ],
)
def test_a_root_is_told_by_a_name_that_no_home_hides(root: str, name: bytes) -> None:
    assert telling((root,), "/home/dev") == (name,)
    assert may_spell((name,), rb'{"command": "echo x > a/b"}', None) is (name in (b"m", b""))


def test_an_escape_by_number_may_spell_anything_and_a_line_feed_does_not() -> None:
    assert may_spell((b"extractord",), rb'{"path": "/\u0065xtractord/a"}', None)
    assert not may_spell((b"extractord",), rb'{"path": "a\nb"}', None)
    assert may_spell((b"extractord",), rb'{"path": "a"}', "/srv/extractord")
    assert not may_spell((b"extractord",), rb'{"path": "a"}', "/srv/shop")
