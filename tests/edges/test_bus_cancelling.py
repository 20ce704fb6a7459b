from __future__ import annotations

import asyncio

import pytest

from extractord.edges.bus.cancelling import Cancellations


async def test_a_cancellation_that_came_with_the_answer_is_heeded() -> None:
    answer = asyncio.get_running_loop().create_future()
    gone_on: list[str] = []

    async def asking() -> None:
        cancellations = Cancellations()
        await asyncio.wait_for(answer, 60)
        cancellations.heed()
        gone_on.append("as if nobody had said a word")

    task = asyncio.create_task(asking())
    await asyncio.sleep(0)
    answer.set_result(None)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert gone_on == []


async def test_who_is_not_cancelled_or_was_before_goes_on() -> None:
    async def cleaning_up() -> str:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancellations = Cancellations()
            await asyncio.wait_for(asyncio.sleep(0), 60)
            cancellations.heed()
        return "cleaned up"

    task = asyncio.create_task(cleaning_up())
    await asyncio.sleep(0)
    task.cancel()
    assert await task == "cleaned up"
