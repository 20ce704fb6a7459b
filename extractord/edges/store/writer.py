"""The one thread that works on memories, so that no disk and no lock ever holds up the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractContextManager, ExitStack, suppress
from itertools import count
from queue import PriorityQueue
from threading import Thread
from typing import Any, Concatenate, ParamSpec, TypeVar

from extractord.edges.store.store import Store
from extractord.errors import StoreError

P = ParamSpec("P")
T = TypeVar("T")

_FIRST, _IN_TURN, _LAST = range(3)


class Writer:
    """Does what is asked of it in turn, over a store that it opens itself, with a connection of its own.

    The thread starts with the first request: give up rights before that, they bind it too.
    """

    def __init__(self, store: Callable[[], AbstractContextManager[Store]]) -> None:
        """`store` opens one for the thread that calls it."""
        self._open = store
        self._store: Store | None = None
        self._stack = ExitStack()
        self._number = count()
        self._waiting = PriorityQueue[tuple[int, int, Future[Any], Callable[[], object]]]()
        self._thread = Thread(target=self._work, name="writer", daemon=True)
        self._is_closed = False

    async def do(self, work: Callable[Concatenate[Store, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Return what the work comes to, given the store; raise what it raises, StoreError once closed.

        Work that was asked for is waited for, even by who is cancelled meanwhile: nobody may take a
        commit for undone that is still under way.
        """
        return await self._whole(_IN_TURN, lambda: work(self._opened(), *args, **kwargs))

    async def look(self, work: Callable[Concatenate[Store, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The same, before what was asked of `do` and is not begun: a run that starts late ends late."""
        return await self._whole(_FIRST, lambda: work(self._opened(), *args, **kwargs))

    async def close(self) -> None:
        """Do what is still asked, close the store and let the thread go; nothing is done from then on."""
        was_closed, self._is_closed = self._is_closed, True
        if self._thread.ident is not None and not was_closed:
            await self._whole(_LAST, self._stack.close)
            self._thread.join()

    def _opened(self) -> Store:
        if self._store is None:
            self._store = self._stack.enter_context(self._open())
        return self._store

    async def _whole(self, rank: int, work: Callable[[], T]) -> T:
        if self._is_closed and rank != _LAST:
            raise StoreError("no memory is written any more: this process is ending")
        asked = Future[T]()
        self._waiting.put((rank, next(self._number), asked, work))
        if self._thread.ident is None:
            self._thread.start()
        done = asyncio.wrap_future(asked)
        try:
            return await asyncio.shield(done)
        except asyncio.CancelledError:
            while not done.done():
                with suppress(asyncio.CancelledError):
                    await asyncio.wait([done])
            done.exception()  # seen; who asked is past caring
            raise

    def _work(self) -> None:
        rank = _FIRST
        while rank != _LAST:
            rank, _, asked, work = self._waiting.get()
            try:
                result = work()
            except BaseException as error:  # noqa: BLE001 - it is for who asked
                asked.set_exception(error)
            else:
                asked.set_result(result)
