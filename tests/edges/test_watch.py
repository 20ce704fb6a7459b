from __future__ import annotations

import asyncio
import os
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import aclosing, asynccontextmanager, closing, contextmanager
from dataclasses import replace
from pathlib import Path

import jsonl_agent
import pytest

from extractord.core.transcripts.source import Container, Source
from extractord.edges.watch import Watch, scan

Next = Callable[[], "asyncio.Future[set[str]]"]


@asynccontextmanager
async def watched(
    roots: Iterable[tuple[Source, str]], *, polling: bool = False
) -> AsyncIterator[asyncio.Queue[set[str]]]:
    """What the watch yields, by file name, in a queue."""
    said: asyncio.Queue[set[str]] = asyncio.Queue()
    stop = asyncio.Event()
    warnings: list[str] = []

    async def pump() -> None:
        watch = Watch(roots, polling=polling, rescan_s=600, warn=warnings.append)
        async with aclosing(watch.touched(stop)) as touched:
            async for each in touched:
                said.put_nowait({Path(path).name for _, path in each})

    task = asyncio.create_task(pump())
    yield said
    stop.set()
    await asyncio.wait_for(task, 30)
    assert warnings == []


async def until(said: asyncio.Queue[set[str]], name: str, within_s: float = 30) -> None:
    async with asyncio.timeout(within_s):
        while name not in await said.get():
            pass


def root_of(path: Path) -> tuple[Source, str]:
    return jsonl_agent.source(str(path)), str(path)


async def test_everything_is_said_first_and_then_what_changes(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").touch()
    (tmp_path / "notes.txt").touch()
    async with watched([root_of(tmp_path)]) as said:
        assert await said.get() == {"a.jsonl"}
        await asyncio.sleep(0.3)
        (tmp_path / "notes.txt").write_text("not a transcript")
        os.link(tmp_path / "notes.txt", tmp_path / "b.jsonl")
        assert await said.get() == {"b.jsonl"}
        (tmp_path / "a.jsonl").unlink()
        assert await said.get() == {"a.jsonl"}


async def test_an_append_is_said_within_a_tenth_of_a_second(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.touch()
    async with watched([root_of(tmp_path)]) as said:
        await said.get()
        await asyncio.sleep(0.3)
        waits = []
        for _ in range(7):
            began = time.monotonic()
            with path.open("a") as file:
                file.write("x\n")
            await until(said, "a.jsonl")
            waits.append(time.monotonic() - began)
            await asyncio.sleep(0.1)
        assert min(waits) < 0.1  # others work on this machine too


async def test_folders_that_appear_are_watched_with_what_is_in_them(tmp_path: Path) -> None:
    root = tmp_path / "not" / "yet"
    async with watched([root_of(root)]) as said:
        await asyncio.sleep(0.1)
        root.mkdir(parents=True)
        (root / "a.jsonl").touch()
        await until(said, "a.jsonl")
        await asyncio.sleep(0.3)
        deep = root / "x" / "y"
        deep.mkdir(parents=True)
        (deep / "b.jsonl").touch()
        await until(said, "b.jsonl")
        await asyncio.sleep(0.1)
        (deep / "b.jsonl").write_text("x")
        await until(said, "b.jsonl")


async def test_a_folder_moved_in_is_said_with_what_is_in_it(tmp_path: Path) -> None:
    root, aside = tmp_path / "root", tmp_path / "aside"
    root.mkdir()
    aside.mkdir()
    (aside / "a.jsonl").touch()
    async with watched([root_of(root)]) as said:
        await asyncio.sleep(0.3)
        aside.rename(root / "moved")
        await until(said, "a.jsonl")


async def test_a_linked_root_is_watched_once_by_its_real_path(tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.mkdir()
    (tmp_path / "link").symlink_to(real)
    source = jsonl_agent.source("")
    stop = asyncio.Event()
    watch = Watch(
        [(source, str(tmp_path / "link")), (source, str(real))], polling=False, rescan_s=600, warn=print
    )
    (real / "a.jsonl").touch()
    async with aclosing(watch.touched(stop)) as touched:
        assert await anext(touched) == ((source, str(real / "a.jsonl")),)
    stop.set()


async def test_polling_sees_the_same(tmp_path: Path) -> None:
    async with watched([root_of(tmp_path)], polling=True) as said:
        await asyncio.sleep(0.1)
        (tmp_path / "a.jsonl").touch()
        await until(said, "a.jsonl")
        (tmp_path / "a.jsonl").unlink()
        await until(said, "a.jsonl")


async def test_what_stands_beside_a_database_is_said_as_the_database(tmp_path: Path) -> None:
    (tmp_path / "a.json").touch()
    async with watched([root_of(tmp_path)]) as said:
        await said.get()
        await asyncio.sleep(0.3)
        (tmp_path / "a.json-wal").touch()
        await until(said, "a.json")


async def test_a_root_that_vanishes_and_comes_back_is_watched_again(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    async with watched([root_of(root)]) as said:
        await asyncio.sleep(0.3)
        root.rmdir()
        await asyncio.sleep(1.2)
        root.mkdir()
        await asyncio.sleep(1.2)
        (root / "a.jsonl").touch()
        await until(said, "a.jsonl")


def deleted(root: Path) -> None:
    root.rmdir()
    root.mkdir()


def moved(root: Path) -> None:
    root.with_name("new").mkdir()
    root.rename(root.with_name("old"))
    root.with_name("new").rename(root)


def moved_with_its_parent(root: Path) -> None:
    root.parent.rename(root.parent.with_name("old"))
    root.mkdir(parents=True)


@pytest.mark.parametrize("replace_it", [deleted, moved, moved_with_its_parent])
async def test_a_folder_that_takes_a_roots_place_at_once_is_watched(
    tmp_path: Path, replace_it: Callable[[Path], None]
) -> None:
    root = tmp_path / "parent" / "root"
    root.mkdir(parents=True)
    async with watched([root_of(root)]) as said:
        (root / "a.jsonl").touch()
        await until(said, "a.jsonl")
        (root / "a.jsonl").unlink()
        await until(said, "a.jsonl")
        replace_it(root)
        (root / "b.jsonl").touch()
        await until(said, "b.jsonl")
        await asyncio.sleep(2.5)  # it is looked for, and the system reports
        (root / "c.jsonl").touch()
        await until(said, "c.jsonl")


def test_a_scan_gives_the_oldest_change_first(tmp_path: Path) -> None:
    for name in ("b.jsonl", "a.jsonl", "c.txt"):
        (tmp_path / name).touch()
        time.sleep(0.02)
    assert list(scan(*root_of(tmp_path))) == [str(tmp_path / "b.jsonl"), str(tmp_path / "a.jsonl")]


@pytest.mark.parametrize("where", ["", "missing"])
def test_a_scan_of_nothing_is_empty(tmp_path: Path, where: str) -> None:
    assert scan(*root_of(tmp_path / where)) == {}


def database_of(path: Path) -> tuple[Source, str]:
    source = replace(
        jsonl_agent.source(str(path)),
        belongs=lambda name: name == "a.db",
        container=lambda _path: Container.ROWS,
    )
    return source, str(path)


@contextmanager
def database(path: Path) -> Iterator[sqlite3.Connection]:
    """A database with a log beside it, as a program that is at work has it."""
    with closing(sqlite3.connect(path, isolation_level=None)) as base:
        base.execute("PRAGMA journal_mode = wal")
        base.execute("CREATE TABLE said (words)")
        yield base


async def test_a_database_is_said_for_what_was_written_and_not_for_who_owns_it(tmp_path: Path) -> None:
    """Where root reads a database, SQLite gives its files to their owner: no reading may cause the next."""
    with database(tmp_path / "a.db") as base:
        async with watched([database_of(tmp_path)]) as said:
            await until(said, "a.db")
            await asyncio.sleep(0.3)
            base.execute("INSERT INTO said VALUES ('one')")
            await until(said, "a.db")
            await asyncio.sleep(0.3)
            while not said.empty():
                said.get_nowait()
            for ending in ("", "-wal", "-shm"):
                os.chown(tmp_path / f"a.db{ending}", os.getuid(), os.getgid())
            await asyncio.sleep(0.5)
            assert said.empty()
            base.execute("INSERT INTO said VALUES ('two')")
            await until(said, "a.db")


async def test_a_database_that_is_polled_is_said_when_only_its_log_grows(tmp_path: Path) -> None:
    with database(tmp_path / "a.db") as base:
        async with watched([database_of(tmp_path)], polling=True) as said:
            await until(said, "a.db")
            await asyncio.sleep(2.5)
            assert said.empty()
            before = (tmp_path / "a.db").stat().st_mtime_ns
            base.execute("INSERT INTO said VALUES ('one')")
            assert (tmp_path / "a.db").stat().st_mtime_ns == before
            await until(said, "a.db")
