"""What others wrote is shown at a terminal without what a terminal obeys."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from claude_transcript import Session
from person import Person
from storing import fact

ORDER = "\x1b]0;mine\x07\x1b[2J\x9b31m\u202e"
OBEYED = frozenset("\x1b\x07\x9b\u202e")


@pytest.fixture
def person(tmp_path: Path) -> Person:
    return Person(tmp_path)


def test_a_session_that_names_itself_with_orders_gives_none(person: Person) -> None:
    session = Session(person.home, "s", person.shop)
    session.name = f"s{ORDER}"
    session.asks("Remember: we deploy only on Tuesdays, since stock is counted on Mondays.")
    session.says("Noted.")
    for arguments in (["extract", "--dry-run"], ["extract"], ["runs", "list"], ["status"]):
        code, screen = person.sits(*arguments)
        assert (code, OBEYED.intersection(screen)) == (0, frozenset()), arguments


def test_a_memory_with_orders_gives_none_and_is_whole_in_a_pipe(person: Person) -> None:
    text = fact("orders", "Stock is counted on Mondays", "user", f"Mondays.\n\n\tNever {ORDER} on Tuesdays.")
    person.writes("user", "orders.md", text)
    code, screen = person.sits("memories", "show", "orders")
    assert (code, OBEYED.intersection(screen)) == (0, frozenset())
    assert "Mondays.\n\n\tNever \ufffd]0;mine" in screen
    assert person.types("memories", "show", "orders").stdout == text


def test_a_setting_with_orders_is_told_without_them(person: Person) -> None:
    (person.home / "config.toml").write_text('"mode\\u001b[2J" = 1\n')
    code, screen = person.sits("status")
    assert (code, screen) == (78, "extractord: unknown setting `mode\ufffd[2J`: did you mean `mode`?\n")


def test_json_gives_a_terminal_no_orders_and_a_program_every_byte(person: Person) -> None:
    text = fact("orders", "Stock is counted on Mondays", "user", f"Mondays \x7f\U000e0041 é 日 {ORDER}")
    person.writes("user", "orders.md", text)
    line = person.types("memories", "show", "orders", "--json").stdout
    assert (line.rstrip("\n").isprintable(), "é 日" in line) == (True, True)
    assert json.loads(line)["text"] == text
