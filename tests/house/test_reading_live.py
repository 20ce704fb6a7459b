from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import sys
from collections.abc import Iterable
from contextlib import aclosing, closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import jsonl_agent
import pytest
from doubles import MemoryRanges
from jsonl_agent import AGENT, exchange

from extractord.core.gate import GateSettings
from extractord.core.ports import Owner
from extractord.core.records import Project, Seen, Window
from extractord.core.transcripts.source import Container, Rows, Source
from extractord.edges.watch import Watch
from extractord.reading import Reading

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
OWNER = Owner(pid=1, started=1, boot="b")

WRITER = """
import random, sys, time
path, whole = sys.argv[1], sys.stdin.buffer.read()
pieces = random.Random(7)
while whole:
    size = pieces.randint(1, 90)
    with open(path, "ab") as file:
        file.write(whole[:size])
    whole = whole[size:]
    time.sleep(0.004)
"""


def reading_of(ranges: MemoryRanges, copy_dir: Path) -> Reading:
    return Reading(
        ranges,
        lambda _agent, _session, cwd: Project(slug="p", identity=cwd, directory=cwd),
        GateSettings(home="/home/dev", memory_roots=("/home/dev/memory",)),
        settle_s=20,
        copy_dir=str(copy_dir),
    )


async def test_a_transcript_appended_in_torn_pieces_by_another_process_gives_each_exchange_once(
    tmp_path: Path,
) -> None:
    ranges = MemoryRanges()
    reading, source = reading_of(ranges, tmp_path), jsonl_agent.source(str(tmp_path))
    await reading.begin(source, str(tmp_path))
    whole = b"".join(exchange(f"{n}", f"以后用英文 — we deploy on tuesdays {n}") for n in range(30))
    stop, got = asyncio.Event(), list[str]()
    watch = Watch([(source, str(tmp_path))], polling=False, rescan_s=600, warn=pytest.fail)
    arguments = ("-c", WRITER, str(tmp_path / "a.jsonl"))
    writer = await asyncio.create_subprocess_exec(sys.executable, *arguments, stdin=asyncio.subprocess.PIPE)
    assert writer.stdin is not None
    writer.stdin.write(whole)
    writer.stdin.close()
    async with asyncio.timeout(120), aclosing(watch.touched(stop)) as touched:
        async for paths in touched:
            for each, path in paths:
                for come in await reading.touched(each, path, NOW):
                    assert isinstance(come, Window)
                    keys = [one.key for one in come.exchanges]
                    if keys:
                        assert ranges.claim(AGENT, "s", keys, f"run {len(got)}", OWNER, NOW)
                        ranges.finish(f"run {len(got)}", "saved", NOW)
                        got += keys
            if len(got) >= 30:
                stop.set()
    await writer.wait()
    assert got == [f"{n}" for n in range(30)]


def rows_source(root: Path) -> Source:
    return replace(
        jsonl_agent.source(str(root)),
        belongs=lambda path: path == "a.db",
        container=lambda _path: Container.ROWS,
        family=lambda _name: None,
        rows=Rows(
            touched="""SELECT session, MAX(at) FROM entries
                       GROUP BY session HAVING MAX(at) >= :since ORDER BY 2""",
            records="""SELECT id, agent, session, role, origin, text, json(turn_end) AS turn_end
                       FROM entries WHERE session = :session ORDER BY at""",
        ),
        reader=RowReader,
    )


class RowReader(jsonl_agent.LineReader):
    def feed(self, record: bytes) -> Iterable[Seen]:
        row = json.loads(record)
        return super().feed(json.dumps({**row, "turn_end": row["turn_end"] == "1"}).encode())


def insert(path: Path, at: int, session: str, *keys: str) -> None:
    with closing(sqlite3.connect(path)) as base, base:
        base.execute(
            "CREATE TABLE IF NOT EXISTS entries(id, agent, session, role, origin, text, turn_end, at)"
        )
    for nth, key in enumerate(keys):
        for row in exchange(key, session=session).splitlines():
            insert_row(path, json.loads(row), at + nth)


def insert_row(path: Path, entry: dict[str, object], at: int) -> None:
    values = [entry[name] for name in ("id", "agent", "session", "role", "origin", "text")]
    ends = "1" if entry.get("turn_end") else "0"
    with closing(sqlite3.connect(path)) as base, base:
        base.execute("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (*values, ends, at))


async def test_a_database_gives_what_is_new_in_each_of_its_sessions(tmp_path: Path) -> None:
    path, ranges = tmp_path / "a.db", MemoryRanges()
    insert(path, 1, "one", "1")
    insert(path, 5, "two", "2")
    source, reading = rows_source(tmp_path), reading_of(ranges, tmp_path)
    assert await reading.begin(source, str(tmp_path)) == 1
    assert await reading.touched(source, str(path), NOW) == ()
    insert(path, 10, "one", "3", "4")
    for _ in range(2):
        (window,) = await reading.touched(source, str(path), NOW)
        assert isinstance(window, Window)
        assert (window.session, [each.key for each in window.exchanges]) == ("one", ["3", "4"])
        reading = reading_of(ranges, tmp_path)
    ranges.claim(AGENT, "one", ["3", "4"], "run", OWNER, NOW)
    ranges.finish("run", "saved", NOW)
    insert(path, 20, "new", "5")
    (window,) = await reading.touched(source, str(path), NOW)
    assert isinstance(window, Window)
    assert (window.session, [each.key for each in window.exchanges]) == ("new", ["5"])
    come = [each async for each in reading_of(MemoryRanges(), tmp_path).at_rest(source, [str(path)], NOW)]
    assert [
        (each.session, [one.key for one in each.exchanges]) for each in come if isinstance(each, Window)
    ] == [("two", ["2"]), ("one", ["1", "3", "4"]), ("new", ["5"])]


async def test_an_exchange_whose_rows_come_in_more_than_one_look_is_had_once_and_whole(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.db"
    insert(path, 1, "s", "old")
    source, reading = rows_source(tmp_path), reading_of(MemoryRanges(), tmp_path)
    assert await reading.begin(source, str(tmp_path)) == 1
    prompt, answer = (json.loads(row) for row in exchange("1", session="s").splitlines())
    insert_row(path, prompt, 10)
    assert await reading.touched(source, str(path), NOW) == ()
    assert await reading.touched(source, str(path), NOW) == ()
    insert_row(path, answer, 11)
    (window,) = await reading.touched(source, str(path), NOW)
    assert isinstance(window, Window)
    assert [(each.key, len(each.entries)) for each in window.exchanges] == [("1", 2)]


async def test_a_database_that_only_its_log_was_written_to_is_not_taken_for_one_that_rests(
    tmp_path: Path,
) -> None:
    path, now = tmp_path / "a.db", datetime.now(UTC)
    insert(path, 1, "s")
    with closing(sqlite3.connect(path)) as base:
        base.execute("PRAGMA journal_mode = wal")
        base.execute("SELECT * FROM entries").fetchall()  # only now it has the log open
        prompt, answer = (json.loads(row) for row in exchange("1", session="s").splitlines())
        insert_row(path, prompt, 10)
        os.utime(path, (0, 0))
        source, reading = rows_source(tmp_path), reading_of(MemoryRanges(), tmp_path)
        assert await reading.touched(source, str(path), now) == ()
        assert await reading.quiet(now) == ()
        insert_row(path, answer, 11)
        (window,) = await reading.touched(source, str(path), now)
        assert isinstance(window, Window)
        assert [(each.key, len(each.entries)) for each in window.exchanges] == [("1", 2)]
