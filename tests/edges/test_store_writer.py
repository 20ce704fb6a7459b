"""The thread that works on memories: what is asked of it, in which order, and who waits for it."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest
from person import Person
from storing import USER, fact

from extractord.edges.store import Store, Writer
from extractord.edges.store.lock import locked
from extractord.errors import ConflictError, StoreError
from extractord.storeroom import another_store, storeroom


@pytest.fixture
def person(tmp_path: Path) -> Person:
    return Person(tmp_path / "me")


@pytest.fixture
async def writer(person: Person) -> AsyncIterator[Writer]:
    with storeroom(person.settings, print) as room:
        opened = Writer(partial(another_store, person.settings, room.state))
        yield opened
        await opened.close()


async def test_work_is_done_in_one_thread_that_is_not_the_loops(writer: Writer) -> None:
    threads = {await writer.do(lambda _: threading.get_ident()) for _ in range(3)}
    assert len(threads) == 1
    assert threads != {threading.get_ident()}


async def test_what_work_raises_is_raised_where_it_was_asked_for_and_the_next_is_done(
    writer: Writer, person: Person
) -> None:
    await writer.do(Store.names)
    with locked(person.memory), pytest.raises(ConflictError, match="busy"):
        await writer.do(Store.notice, ["user"])
    assert await writer.do(Store.notice, ["user"]) == ()


async def test_a_look_goes_before_what_waits_and_the_rest_is_done_in_turn(writer: Writer) -> None:
    done: list[str] = []
    gate = threading.Event()
    asked = [
        writer.do(lambda _: gate.wait() and None),
        writer.do(lambda _: done.append("first")),
        writer.do(lambda _: done.append("second")),
        writer.look(lambda _: done.append("look")),
    ]
    tasks = [asyncio.create_task(each) for each in asked]
    await asyncio.sleep(0.05)
    gate.set()
    await asyncio.gather(*tasks)
    assert done == ["look", "first", "second"]


async def test_who_is_cancelled_waits_for_the_end_of_its_work_all_the_same(writer: Writer) -> None:
    done: list[str] = []

    def work(_: Store) -> None:
        time.sleep(0.2)
        done.append("whole")

    task = asyncio.create_task(writer.do(work))
    for _ in range(3):
        await asyncio.sleep(0.02)
        task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert done == ["whole"]


async def test_no_lock_that_another_process_holds_stops_the_loop(writer: Writer, person: Person) -> None:
    person.run([(USER, "likes.md", fact("likes", "I like short answers", "user"))], "I like short answers")
    await writer.do(Store.names)
    with locked(person.memory):
        asked = asyncio.create_task(writer.do(Store.notice, ["user"]))
        for _ in range(10):  # a loop that stood still could not let go of the lock in time
            await asyncio.sleep(0.01)
        assert not asked.done()
    assert await asked == ()


async def test_a_writer_that_nobody_asked_has_no_thread_to_end(person: Person) -> None:
    with storeroom(person.settings, print) as room:
        before = threading.active_count()
        await Writer(partial(another_store, person.settings, room.state)).close()
        assert threading.active_count() == before


async def test_what_is_asked_of_a_closed_writer_is_refused_at_once(person: Person) -> None:
    with storeroom(person.settings, print) as room:
        closed = Writer(partial(another_store, person.settings, room.state))
        assert await closed.do(Store.names) == ()
        await closed.close()
        await closed.close()
        with pytest.raises(StoreError, match="is ending"):
            await closed.do(Store.names)
