from __future__ import annotations

import asyncio

from extractord.edges.bus import first_to_end


async def deaf_once(heard: list[str]) -> None:
    """Loses the first cancellation, as a wait does whose answer comes in the same instant."""
    try:
        await asyncio.sleep(60)
    except asyncio.CancelledError:
        heard.append("once")
    await asyncio.sleep(60)


async def ends() -> None:
    await asyncio.sleep(0.01)


async def test_a_part_that_lost_its_cancellation_ends_all_the_same() -> None:
    heard: list[str] = []
    async with asyncio.timeout(30):
        await first_to_end(ends(), deaf_once(heard))
    assert heard == ["once"]
