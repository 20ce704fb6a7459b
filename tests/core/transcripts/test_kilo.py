from __future__ import annotations

import json

from feeding import fed, newest, reader

from extractord.core.records import Origin
from extractord.core.transcripts import opencode
from extractord.core.transcripts.kilo import SOURCE
from extractord.core.transcripts.source import Container, Surroundings

SQLITE = b"SQLite format 3\0"


def test_its_rows_are_opencodes_under_its_own_name() -> None:
    part = {"id": "p1", "time_updated": 1, "data": json.dumps({"type": "text", "text": "go"})}
    rows = [
        {"kind": "session", "id": "s1", "directory": "/home/dev/shop", "version": "7.7.7", "data": '["m1"]'},
        {
            "kind": "message",
            "id": "m1",
            "data": json.dumps({"role": "user", "time": {"created": 1}}),
            "parts": json.dumps([part]),
        },
    ]
    to = reader(SOURCE)
    assert [(each.agent, each.origin, each.text) for each in newest(fed(to, *rows)).values()] == [
        ("kilo", Origin.HUMAN, "go")
    ]
    assert to.version == "7.7.7"


def test_where_it_is_and_what_belongs() -> None:
    home = {"home": "/home/dev", "platform": "linux"}
    assert SOURCE.roots(Surroundings(env={}, **home)) == ("/home/dev/.local/share/kilo",)
    assert SOURCE.roots(Surroundings(env={"KILO_DB": "/k/mine.db"}, **home)) == (
        "/home/dev/.local/share/kilo",
        "/k",
    )
    assert SOURCE.belongs("kilo.db")
    assert not SOURCE.belongs("kilo.db-wal")
    assert SOURCE.container("kilo.db") is Container.ROWS
    assert SOURCE.container("storage/session/p/s.json") is Container.DOCUMENT


def test_it_is_told_from_opencode_by_its_name() -> None:
    assert SOURCE.claims("/h/.local/share/kilo/kilo.db", SQLITE)
    assert not opencode.SOURCE.claims("/h/.local/share/kilo/kilo.db", SQLITE)
    assert not SOURCE.claims("/h/.local/share/opencode/opencode.db", SQLITE)
    old = "/storage/session/p/ses_1.json"
    assert SOURCE.claims(f"/h/kilo{old}", b'{"projectID":"p"}')
    assert not SOURCE.claims(f"/h/opencode{old}", b'{"projectID":"p"}')
