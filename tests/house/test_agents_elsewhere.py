"""Agents whose transcripts lie in no place of their own: where a person says, and as files that are named."""

from __future__ import annotations

import json
import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from warm import typed

SAID = "We deploy only on Tuesdays, since the warehouse counts stock on Mondays."


def chat(path: Path, **more: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = ({"role": "user", "content": SAID, **more}, {"role": "assistant", "content": "Understood."})
    path.write_text("".join(json.dumps(each) + "\n" for each in lines))


def aider(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        f"\n# aider chat started at 2026-11-30 12:00:00\n\n> Aider v0.86.1  \n\n#### {SAID}  \n\nFine.\n"
    )


def crush(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with sqlite3.connect(path) as connection:
        connection.executescript("""
            CREATE TABLE sessions (id TEXT PRIMARY KEY, parent_session_id TEXT, updated_at INTEGER);
            CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT, role TEXT, parts TEXT,
                created_at INTEGER, updated_at INTEGER, is_summary_message INTEGER);
            INSERT INTO sessions VALUES ('s1', NULL, 1796040000);
        """)
        parts = json.dumps([{"type": "text", "data": {"text": SAID}}])
        connection.execute(
            "INSERT INTO messages VALUES ('m1', 's1', 'user', ?, 1796040000, 1796040000, 0)", [parts]
        )
    connection.close()


def planned(home: Path, *arguments: object, settings: str = "") -> list[dict[str, Any]]:
    """What a dry run would read, by agent."""
    config = home / "config.toml"
    config.write_text(settings)
    own = {"HOME": home, "EXTRACTORD_DATA_DIR": home / "data", "EXTRACTORD_STATE_DIR": home / "state"}
    own["EXTRACTORD_CONFIG"] = config
    environ = {**os.environ, **{name: str(value) for name, value in own.items()}}
    ran = typed(["extract", "--dry-run", "--json", *arguments], environ)
    assert ran.returncode == 0, ran.stderr
    rows = [json.loads(line) for line in ran.stdout.splitlines()]
    return [row for row in rows if row.get("would_run")]


@pytest.mark.parametrize(
    ("agent", "name", "write"),
    [
        ("aider", ".aider.chat.history.md", aider),
        ("crush", ".crush/crush.db", crush),
        ("openai-chat", "exports/chat.jsonl", chat),
    ],
)
def test_a_folder_that_is_named_is_read(tmp_path: Path, agent: str, name: str, write: Any) -> None:
    write(tmp_path / "src/shop" / name)
    (read,) = planned(tmp_path, tmp_path / "src")
    assert (read["agent"], len(read["exchanges"])) == (agent, 1)
    (read,) = planned(tmp_path, settings=f'[agents.{agent}]\npaths = ["{tmp_path}/src"]\n')
    assert read["agent"] == agent
    assert planned(tmp_path) == []


def test_what_nobody_claims_is_read_where_the_settings_say_whose_it_is(tmp_path: Path) -> None:
    chat(tmp_path / "exports/chat.jsonl", timestamp="2026-11-30T12:00:00Z")
    (read,) = planned(tmp_path, settings=f'[agents.openai-chat]\npaths = ["{tmp_path}/exports"]\n')
    assert read["agent"] == "openai-chat"
