"""The statements of several agents, asked of small databases as these agents make them."""

from __future__ import annotations

import sqlite3
from hashlib import sha256
from pathlib import Path

import pytest

from extractord.core.records import Entry, Origin
from extractord.core.transcripts import crush, cursor, goose, hermes, openclaw, zcode
from extractord.core.transcripts.source import Opened, Source
from extractord.edges.tables import Tables

ZCODE = """
CREATE TABLE session (id TEXT PRIMARY KEY, directory TEXT, time_created INTEGER, time_updated INTEGER);
CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created TEXT, data TEXT);
CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created TEXT, data TEXT);
INSERT INTO session VALUES ('s1', '/w', 1796040000, 1796040001), ('s2', '/w', 1796040000000, 1796040002000);
INSERT INTO message VALUES ('m2', 's1', '1796040000', '{"role":"user"}'),
    ('m1', 's1', 'x', '{"role":"assistant"}');
INSERT INTO part VALUES ('p2', 'm2', 's1', '', '{"type":"text","text":"one"}'),
    ('p1', 'm2', 's1', '', '{"type":"text","text":"two"}'),
    ('p3', 'm1', 's1', '', '{"type":"text","text":"ok"}');
"""
ZCODE_IN_TEXT = """
CREATE TABLE session (id TEXT PRIMARY KEY, directory TEXT, parent_id TEXT, time_created TEXT,
    time_updated TEXT);
CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created TEXT, data TEXT);
CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, data TEXT);
INSERT INTO session VALUES ('s1', '/w', NULL, '2026-11-30T11:00:00Z', '2026-11-30T11:00:00Z'),
    ('s2', '/w', NULL, '1796040002', NULL);
INSERT INTO message VALUES ('m2', 's1', '2026-11-30T12:00:00.5Z', '{"role":"user"}'),
    ('m1', 's1', '2026-11-30T12:00:01Z', '{"role":"assistant"}');
INSERT INTO part VALUES ('p2', 'm2', 's1', '{"type":"text","text":"one"}'),
    ('p1', 'm2', 's1', '{"type":"text","text":"two"}'), ('p3', 'm1', 's1', '{"type":"text","text":"ok"}');
"""
CRUSH = """
CREATE TABLE sessions (id TEXT PRIMARY KEY, parent_session_id TEXT, updated_at INTEGER, created_at INTEGER);
CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT, role TEXT, parts TEXT, created_at INTEGER,
    updated_at INTEGER, is_summary_message INTEGER DEFAULT 0);
INSERT INTO sessions VALUES ('s1', NULL, 1796040000, 1796040000), ('s2', 's1', 1796040002, 1796040000);
INSERT INTO messages VALUES
    ('m2', 's1', 'assistant', '[{"type":"text","data":{"text":"ok"}}]', 1796040001, 1796040001, 0),
    ('m1', 's1', 'user', '[{"type":"text","data":{"text":"one\\ntwo"}}]', 1796040000, 1796040000, 0);
"""
CRUSH_OF_OLD = CRUSH.replace(", is_summary_message INTEGER DEFAULT 0", "").replace(", 0)", ")")
GOOSE = """
CREATE TABLE sessions (id TEXT PRIMARY KEY, working_dir TEXT, created_at TIMESTAMP,
    updated_at TIMESTAMP{more});
CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT, role TEXT, content_json TEXT,
    created_timestamp INTEGER, timestamp TIMESTAMP{of_messages});
INSERT INTO sessions (id, working_dir, created_at, updated_at) VALUES
    ('s1', '/w', '2026-11-30 12:00:00', '2026-11-30 12:00:01'),
    ('s2', '/w', '2026-11-30 12:00:00', '2026-11-30T12:00:02+00:00');
INSERT INTO messages (session_id, role, content_json, created_timestamp) VALUES
    ('s1', 'user', '[{{"type":"text","text":"one\ntwo"}}]', 1796040000),
    ('s1', 'assistant', '[{{"type":"text","text":"ok"}}]', 1796040001);
"""
OPENCLAW = """
CREATE TABLE session_windows (session_id TEXT PRIMARY KEY, session_key TEXT, spawned_by TEXT,
    updated_at INTEGER, transcript_updated_at INTEGER);
CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, event_json TEXT, PRIMARY KEY (session_id, seq));
INSERT INTO session_windows VALUES ('s1', 'agent:main:main', NULL, 1796040000000, 1796040001000),
    ('s2', 'agent:main:x', NULL, 1796040002000, NULL);
INSERT INTO transcript_events VALUES
    ('s1', 2, '{"type":"message","id":"m2","parentId":"m1","message":{"role":"assistant","content":"ok"}}'),
    ('s1', 1, '{"type":"message","id":"m1","message":{"role":"user","content":"one\\ntwo"}}'),
    ('s1', 0, '{"type":"session","id":"s1","cwd":"/w"}');
"""
GOOSE_NOW = {
    "more": ", session_type TEXT NOT NULL DEFAULT 'user', archived_at TIMESTAMP",
    "of_messages": ", metadata_json TEXT, message_id TEXT",
}
HERMES = """
CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT, parent_session_id TEXT,
    started_at REAL, ended_at REAL{more});
CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT, role TEXT, content TEXT,
    tool_call_id TEXT, tool_calls TEXT, tool_name TEXT, timestamp REAL{active});
INSERT INTO sessions (id, source, started_at) VALUES ('s1', 'cli', 1796040000.5), ('s2', 'cli', 1796040002.5);
INSERT INTO messages (session_id, role, content, timestamp) VALUES
    ('s1', 'user', 'one' || char(10) || 'two', 1796040000.5),
    ('s1', 'assistant', 'ok', 1796040001.25),
    ('s1', 'user', char(0) || 'json:[{{"type":"text","text":"x"}}]', 1796040001.5);
"""
NEW = {
    "more": ", cwd TEXT, git_branch TEXT, archived INTEGER DEFAULT 0",
    "active": ", active INTEGER DEFAULT 1",
}


NAMES = {"openclaw": "/h/.openclaw/agents/main/agent/openclaw-agent.sqlite"}
"""What tells by its name how it is read."""


def made(folder: Path, script: str) -> Path:
    path = folder / "agent.db"
    with sqlite3.connect(path) as connection:
        connection.executescript(script)
    connection.close()
    return path


def asked(source: Source, path: Path, session: str) -> list[Entry]:
    assert source.rows is not None
    reader = source.reader(Opened(NAMES.get(source.agent, str(path))))
    records = Tables(str(path), source.rows, str(path.parent / "copies")).records(session)
    return [seen for record in records for seen in reader.feed(record) if isinstance(seen, Entry)]


@pytest.mark.parametrize(
    ("source", "script", "newest"),
    [
        (zcode.SOURCE, ZCODE, (1_796_040_001_000, 1_796_040_002_000)),
        (zcode.SOURCE, ZCODE_IN_TEXT, (1_796_040_001_000, 1_796_040_002_000)),
        (crush.SOURCE, CRUSH, (1_796_040_001_000, 1_796_040_002_000)),
        (crush.SOURCE, CRUSH_OF_OLD, (1_796_040_001_000, 1_796_040_002_000)),
        (goose.SOURCE, GOOSE.format(**GOOSE_NOW), (1_796_040_001_000, 1_796_040_002_000)),
        (goose.SOURCE, GOOSE.format(more="", of_messages=""), (1_796_040_001_000, 1_796_040_002_000)),
        (openclaw.SOURCE, OPENCLAW, (1_796_040_001_000, 1_796_040_002_000)),
        (hermes.SOURCE, HERMES.format(**NEW), (1_796_040_001_500, 1_796_040_002_500)),
        (hermes.SOURCE, HERMES.format(more="", active=""), (1_796_040_001_500, 1_796_040_002_500)),
    ],
    ids=[
        "zcode",
        "zcode in text",
        "crush",
        "crush of old",
        "goose",
        "goose of old",
        "openclaw",
        "hermes",
        "hermes of old",
    ],
)
def test_sessions_are_touched_at_their_newest_row_and_hold_what_was_said(
    tmp_path: Path, source: Source, script: str, newest: tuple[int, int]
) -> None:
    path = made(tmp_path, script)
    assert source.rows is not None
    tables = Tables(str(path), source.rows, str(tmp_path / "copies"))
    assert tables.touched(0) == (("s1", newest[0]), ("s2", newest[1]))
    assert tables.touched(newest[1]) == (("s2", newest[1]),)
    entries = asked(source, path, "s1")
    assert [(entry.role.value, entry.text) for entry in entries][:2] == [
        ("user", "one\ntwo"),
        ("assistant", "ok"),
    ]
    assert asked(source, path, "s2") == []
    assert tables.records("s3") == ()


def test_zcode_says_what_kind_of_session_it_is_and_from_where_it_was_rewound(tmp_path: Path) -> None:
    path = tmp_path / "db.sqlite"
    with sqlite3.connect(path) as database:
        database.executescript(ZCODE_IN_TEXT)
        database.executescript(
            """
            ALTER TABLE session ADD COLUMN task_type TEXT;
            ALTER TABLE session ADD COLUMN revert TEXT;
            UPDATE session SET parent_id = 's0', task_type = 'fork', revert = '{"targetMessageID":"m1"}'
                WHERE id = 's1';
            """
        )
    database.close()
    found = [(entry.text, entry.origin, entry.active) for entry in asked(zcode.SOURCE, path, "s1")]
    assert found == [("one\ntwo", Origin.HUMAN, True), ("ok", Origin.SYNTHETIC, False)]


def test_what_hermes_undid_is_not_active_and_what_it_archived_is_not_read(tmp_path: Path) -> None:
    path = made(tmp_path, HERMES.format(**NEW))
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE messages SET active = 0 WHERE id = 3")
    connection.close()
    found = [(entry.text, entry.active) for entry in asked(hermes.SOURCE, path, "s1")]
    assert found == [("one\ntwo", True), ("ok", True), ("x", False)]
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE sessions SET archived = 1 WHERE id = 's1'")
    connection.close()
    assert asked(hermes.SOURCE, path, "s1") == []


def test_sessions_of_hermes_go_on_from_the_first_above_them_and_say_who_delegated_them(
    tmp_path: Path,
) -> None:
    more = {**NEW, "more": NEW["more"] + ", model_config TEXT"}
    path = made(tmp_path, HERMES.format(**more))
    with sqlite3.connect(path) as connection:
        connection.executescript("""
            INSERT INTO sessions (id, source, parent_session_id, started_at, model_config) VALUES
                ('s3', 'cli', 's1', 1, 'torn'), ('s4', 'cli', 's3', 1, '{"_delegate_from":"s3"}');
            INSERT INTO messages (session_id, role, content, timestamp) VALUES
                ('s3', 'user', 'go', 1), ('s4', 'user', 'go', 1);
        """)
    connection.close()
    first, second = (asked(hermes.SOURCE, path, each)[0] for each in ("s3", "s4"))
    assert (first.id[:3], second.id[:3]) == ("s1/", "s4/")
    assert (first.origin, second.origin) == (Origin.HUMAN, Origin.SUBAGENT)


def test_what_goose_archived_is_not_read(tmp_path: Path) -> None:
    path = made(tmp_path, GOOSE.format(**GOOSE_NOW))
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE sessions SET archived_at = '2026-11-30 13:00:00' WHERE id = 's1'")
    connection.close()
    assert goose.SOURCE.rows is not None
    tables = Tables(str(path), goose.SOURCE.rows, str(tmp_path / "copies"))
    assert [session for session, _ in tables.touched(0)] == ["s2"]
    assert asked(goose.SOURCE, path, "s1") == []


def test_cursors_store_has_its_folders_session_and_the_messages_of_its_newest_root(tmp_path: Path) -> None:
    folder = tmp_path / "0f0f" / "s1"
    folder.mkdir(parents=True)
    path = folder / "store.db"
    query, other = b'{"role":"user","content":"<user_query>x</user_query>"}', b'{"role":"user","content":"y"}'
    idents = [sha256(each).hexdigest() for each in (query, other)]
    root = b"\x0a\x20" + bytes.fromhex(idents[0]) + b"\x4a\x09file:///w"
    newest = sha256(root).hexdigest()
    meta = f'{{"agentId":"s1","latestRootBlobId":"{newest}"}}'.encode().hex()
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB)")
        connection.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)")
        connection.execute("INSERT INTO meta VALUES ('0', ?)", (meta,))
        older = b"\x0a\x20" + bytes.fromhex(idents[1])
        blobs = [(idents[0], query), (idents[1], other), ("00" * 32, older), (newest, root)]
        connection.executemany("INSERT INTO blobs VALUES (?, ?)", blobs)
    connection.close()
    assert cursor.SOURCE.rows is not None
    tables = Tables(str(path), cursor.SOURCE.rows, str(tmp_path / "copies"))
    assert (tables.touched(0), tables.touched(4), tables.touched(5)) == ((("s1", 4),), (("s1", 4),), ())
    entries = asked(cursor.SOURCE, path, "s1")
    assert [(each.session, each.text, each.cwd) for each in entries] == [("s1", "x", "/w")]


def test_a_store_of_cursors_without_messages_has_no_session(tmp_path: Path) -> None:
    path = made(
        tmp_path, "CREATE TABLE blobs (id TEXT, data BLOB); CREATE TABLE meta (key TEXT, value TEXT);"
    )
    assert cursor.SOURCE.rows is not None
    assert Tables(str(path), cursor.SOURCE.rows, str(tmp_path / "copies")).touched(0) == ()
