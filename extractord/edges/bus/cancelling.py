"""A cancellation that a library lost is heeded all the same."""

from __future__ import annotations

import asyncio


class Cancellations:
    """Those of the running task, from now on.

    aiomqtt waits by `asyncio.wait_for`. Before Python 3.12 that drops a cancellation which comes in the
    same instant as the answer, and who was told to end would go on for ever.
    """

    def __init__(self) -> None:
        self._task = asyncio.current_task()
        self._before = self._count()

    def heed(self) -> None:
        """Raise CancelledError if one came."""
        if self._count() > self._before:
            raise asyncio.CancelledError

    def _count(self) -> int:
        return self._task.cancelling() if self._task is not None else 0
