from __future__ import annotations

import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from feeding import SAMPLES, memory_writes, prompts, reader

from extractord.core.transcripts import goose
from extractord.core.transcripts.opencode_rows import ROWS
from extractord.core.transcripts.source import Rows
from extractord.edges.tables import Tables
from extractord.errors import TranscriptError

SIMPLE = Rows(
    touched="SELECT name, at FROM note WHERE at >= :since ORDER BY at",
    records="SELECT name, at, body FROM note WHERE name = :session",
)

WRITER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
connection.execute("PRAGMA journal_mode = WAL")
connection.execute("PRAGMA wal_autocheckpoint = 0")
connection.execute("INSERT INTO note VALUES ('later', 9, 'from the writer')")
connection.commit()
print("ready", flush=True)
for line in sys.stdin:
    connection.execute("INSERT INTO note VALUES ('more', 10, ?)", (line.strip(),))
    connection.commit()
    print("ready", flush=True)
"""


SCHEMA = """
    CREATE TABLE session (id TEXT, parent_id TEXT, directory TEXT, version TEXT, revert TEXT,
        time_updated INTEGER, time_archived INTEGER);
    CREATE TABLE message (id TEXT, session_id TEXT, time_updated INTEGER, data TEXT);
    CREATE TABLE part (id TEXT, message_id TEXT, time_updated INTEGER, data TEXT);
    INSERT INTO session VALUES ('ses_1', NULL, '/d', '1.18', NULL, 10, NULL);
    INSERT INTO session VALUES ('ses_2', 'ses_1', '/d', '1.18', NULL, 5, NULL);
    INSERT INTO session VALUES ('ses_3', NULL, '/d', '1.18', NULL, 99, 99);
    INSERT INTO message VALUES ('msg_2', 'ses_1', 30, '{"role":"assistant"}');
    INSERT INTO message VALUES ('msg_1', 'ses_1', 7, '{"role":"user"}');
    INSERT INTO message VALUES ('msg_3', 'ses_3', 7, '{"role":"user"}');
    INSERT INTO part VALUES ('prt_2', 'msg_1', 12, '{torn');
    INSERT INTO part VALUES ('prt_1', 'msg_1', 8, '{"a":1}');
"""


def made(path: Path, mode: str = "DELETE") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA journal_mode = {mode}")
        connection.execute("CREATE TABLE note (name TEXT, at INTEGER, body)")
        rows = [("first", 1, "one"), ("second", 2, None), ("odd", 3, b"\xff\x00bytes")]
        connection.executemany("INSERT INTO note VALUES (?, ?, ?)", rows)
        connection.execute("INSERT INTO note VALUES ('text', 4, CAST(x'61ff62' AS TEXT))")
        connection.commit()
    return path


def state(folder: Path) -> dict[str, tuple[object, ...]]:
    """Everything that could be created or changed, times of reading aside.

    As root, SQLite gives the files beside a database to its owner each time: the inode's time says so.
    """
    found: dict[str, tuple[object, ...]] = {}
    for path in [folder, *sorted(folder.rglob("*"))]:
        stat = path.stat()
        contents = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        kept = (stat.st_ino, stat.st_mode, stat.st_uid, stat.st_nlink, stat.st_size, stat.st_mtime_ns)
        found[path.name] = (*kept, stat.st_ctime_ns if os.geteuid() else 0, contents)
    return found


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[tuple[Path, subprocess.Popen[str]]]:
    path = made(tmp_path / "theirs" / "a.db")
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", WRITER, str(path)], text=True, **pipes) as process:  # type: ignore[call-overload]
        assert process.stdout.readline() == "ready\n"
        yield path, process
        process.kill()


def tables(path: Path, rows: Rows = SIMPLE) -> Tables:
    return Tables(str(path), rows, str(path.parents[1] / "ours"))


def test_rows_come_in_order_as_json_with_bad_text_mended(tmp_path: Path) -> None:
    asked = tables(made(tmp_path / "theirs" / "a.db"))
    assert asked.touched(0) == (("first", 1), ("second", 2), ("odd", 3), ("text", 4))
    assert asked.touched(3) == (("odd", 3), ("text", 4))
    assert [json.loads(record) for record in asked.records("second")] == [
        {"name": "second", "at": 2, "body": None}
    ]
    assert json.loads(asked.records("text")[0])["body"] == "a\ufffdb"
    assert json.loads(asked.records("odd")[0])["body"] == "/wBieXRlcw=="
    assert asked.records("nobody") == ()


@pytest.mark.parametrize("mode", ["DELETE", "WAL"])
def test_a_database_at_rest_is_left_as_it_is(tmp_path: Path, mode: str) -> None:
    path = made(tmp_path / "theirs" / "a.db", mode)
    before = state(path.parent)
    assert set(before) == {"theirs", "a.db"}
    assert len(tables(path).touched(0)) == 4
    assert state(path.parent) == before
    assert not (tmp_path / "ours").exists()


def test_a_database_in_a_folder_that_cannot_be_written_is_read(tmp_path: Path) -> None:
    path = made(tmp_path / "theirs" / "a.db", "WAL")
    path.chmod(0o400)
    path.parent.chmod(0o500)
    assert len(tables(path).touched(0)) == 4
    path.parent.chmod(0o700)


def test_a_live_writers_rows_are_seen_and_nothing_of_its_is_touched(
    writer: tuple[Path, subprocess.Popen[str]],
) -> None:
    path, process = writer
    before = state(path.parent)
    assert set(before) == {"theirs", "a.db", "a.db-wal", "a.db-shm"}
    asked = tables(path)
    assert asked.touched(9) == (("later", 9),)
    assert state(path.parent) == before
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("hello\n")
    process.stdin.flush()
    assert process.stdout.readline() == "ready\n"
    before = state(path.parent)
    assert asked.touched(9) == (("later", 9), ("more", 10))
    assert state(path.parent) == before


def test_what_a_killed_writer_left_is_read_with_and_without_its_shared_memory(
    writer: tuple[Path, subprocess.Popen[str]],
) -> None:
    path, process = writer
    process.kill()
    process.wait()
    before = state(path.parent)
    assert tables(path).touched(9) == (("later", 9),)
    assert state(path.parent) == before
    path.with_name("a.db-shm").unlink()
    before = state(path.parent)
    assert tables(path).touched(9) == (("later", 9),)
    assert state(path.parent) == before
    assert list((path.parents[1] / "ours").iterdir()) == []


def test_the_journal_of_a_writer_that_died_is_rolled_back_in_a_copy(tmp_path: Path) -> None:
    path = made(tmp_path / "work" / "a.db")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA cache_size = 1")
        connection.execute("PRAGMA cache_spill = ON")
        connection.execute("UPDATE note SET at = at + 100")
        connection.executemany("INSERT INTO note VALUES ('big', 200, ?)", [("x" * 4000,)] * 50)
        shutil.copytree(path.parent, tmp_path / "theirs")
    left = tmp_path / "theirs" / "a.db"
    before = state(left.parent)
    assert "a.db-journal" in before
    assert tables(left).touched(0) == (("first", 1), ("second", 2), ("odd", 3), ("text", 4))
    assert state(left.parent) == before


def test_an_empty_journal_is_none(tmp_path: Path) -> None:
    path = made(tmp_path / "theirs" / "a.db")
    path.with_name("a.db-journal").touch()
    assert len(tables(path).touched(0)) == 4
    assert not (tmp_path / "ours").exists()


def test_a_link_is_read_with_what_stands_beside_its_target(
    writer: tuple[Path, subprocess.Popen[str]],
) -> None:
    path, _ = writer
    link = path.parents[1] / "elsewhere" / "link.db"
    link.parent.mkdir()
    link.symlink_to(path)
    assert tables(link).touched(9) == (("later", 9),)


def test_an_odd_name_is_no_question_to_sqlite(tmp_path: Path) -> None:
    assert len(tables(made(tmp_path / "theirs" / "a ?mode=rwc#%41.db")).touched(0)) == 4


@pytest.mark.parametrize(
    ("contents", "sentence"),
    [
        (b"not a database at all, but long enough to be looked at" * 9, "is not a SQLite database"),
        (b"", "does not have this agent's tables: no such table: note"),
    ],
)
def test_what_is_no_database_is_said(tmp_path: Path, contents: bytes, sentence: str) -> None:
    path = tmp_path / "theirs" / "a.db"
    path.parent.mkdir()
    path.write_bytes(contents)
    with pytest.raises(TranscriptError, match=f"^{path} {sentence}$"):
        tables(path).touched(0)
    assert set(state(path.parent)) == {"theirs", "a.db"}


def test_a_truncated_database_is_said_to_be_damaged(tmp_path: Path) -> None:
    path = made(tmp_path / "theirs" / "a.db")
    with closing(sqlite3.connect(path)) as connection:
        connection.executemany("INSERT INTO note VALUES ('big', 200, ?)", [("x" * 4000,)] * 50)
        connection.commit()
    os.truncate(path, path.stat().st_size // 2)
    with pytest.raises(TranscriptError, match="is damaged or cut short"):
        tables(path).records("big")


def test_a_missing_database_is_gone_and_a_folder_is_none(tmp_path: Path) -> None:
    (tmp_path / "theirs" / "folder.db").mkdir(parents=True)
    with pytest.raises(TranscriptError, match=r"a\.db is gone$"):
        tables(tmp_path / "theirs" / "a.db").touched(0)
    with pytest.raises(TranscriptError, match=r"folder\.db is not a file$"):
        tables(tmp_path / "theirs" / "folder.db").touched(0)


def test_a_database_of_another_shape_is_said(tmp_path: Path) -> None:
    with pytest.raises(TranscriptError, match="does not have this agent's tables: no such table: session"):
        tables(made(tmp_path / "theirs" / "a.db"), ROWS).touched(0)


def test_an_index_over_what_stands_in_json_hides_nothing(tmp_path: Path) -> None:
    path = made(tmp_path / "theirs" / "a.db")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(
            "CREATE INDEX by_role ON note (json_extract(body, '$.role')) WHERE json_valid(body)"
        )
        connection.commit()
    assert len(tables(path).touched(0)) == 4


def test_links_in_a_circle_are_said(tmp_path: Path) -> None:
    circle = tmp_path / "circle.db"
    circle.symlink_to(circle)
    with pytest.raises(
        TranscriptError, match=r"circle\.db cannot be read: Too many levels of symbolic links$"
    ):
        Tables(str(circle), SIMPLE, str(tmp_path / "ours")).touched(0)


def test_a_fault_of_the_question_is_said(tmp_path: Path) -> None:
    wrong = Rows(touched="SELECT nonsense(", records="SELECT 1")
    with pytest.raises(TranscriptError, match=r"a\.db cannot be read: incomplete input$"):
        tables(made(tmp_path / "theirs" / "a.db"), wrong).touched(0)


def test_a_fault_beside_a_live_writer_is_said(writer: tuple[Path, subprocess.Popen[str]]) -> None:
    path, _ = writer
    with pytest.raises(TranscriptError, match="does not have this agent's tables: no such table: session"):
        tables(path, ROWS).touched(0)


def test_opencodes_questions_give_sessions_and_messages_with_parts_in_order(tmp_path: Path) -> None:
    path = tmp_path / "theirs" / "opencode.db"
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(SCHEMA)
    asked = tables(path, ROWS)
    assert asked.touched(0) == (("ses_2", 5), ("ses_1", 30))
    assert asked.touched(11) == (("ses_1", 30),)
    assert asked.records("ses_3") == ()
    first, *messages = [json.loads(record) for record in asked.records("ses_1")]
    assert (first["kind"], first["id"], first["directory"]) == ("session", "ses_1", "/d")
    assert sorted(json.loads(first["data"])) == ["msg_1", "msg_2"]
    assert [
        (each["kind"], each["id"], each["time_updated"], json.loads(each["parts"])) for each in messages
    ] == [
        ("message", "msg_1", 12, [{"id": "prt_1", "data": '{"a":1}'}, {"id": "prt_2", "data": "{torn"}]),
        ("message", "msg_2", 30, []),
    ]


@pytest.mark.skipif(not SAMPLES.exists(), reason="the shared samples are not beside the checkout")
def test_gooses_sample_has_the_prompts_that_were_typed(tmp_path: Path) -> None:
    path = tmp_path / "theirs" / "sessions.db"
    path.parent.mkdir()
    shutil.copyfile(SAMPLES / "goose/derived/sessions.db", path)
    asked = tables(path, goose.ROWS)
    to = reader(goose.SOURCE)
    seen = [
        each for session, _ in asked.touched(0) for row in asked.records(session) for each in to.feed(row)
    ]
    assert prompts(seen) == ["run the tests", "old prompt hidden from the agent after compaction"]
    assert memory_writes(seen) == [("/home/dev/memory/t.md", True)]
    newest_update = max(at for _, at in asked.touched(0))
    assert len(asked.touched(newest_update)) == 3
    assert asked.touched(newest_update + 1) == ()
