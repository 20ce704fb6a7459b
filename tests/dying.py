"""`python dying.py HOME TRANSCRIPT WHEN`: one run in a process that is killed as soon as it is at WHEN.

`committed`: the commit stands, and nobody has closed the run's row. `begun`: nothing is committed yet.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from person import Person

from extractord.core.records import Snapshot, Window
from extractord.core.transcripts import SOURCES
from extractord.house import House, now, opened


async def main(home: Path, transcript: str, when: str) -> None:
    async with opened(Person(home).settings) as house:
        window = await _window(house, transcript)
        asked = 0

        def clock() -> datetime:
            """The run's clock: the writer's thread asks it when the commit has come back."""
            nonlocal asked
            asked += 1
            is_committed = threading.current_thread().name == "writer"
            if is_committed if when == "committed" else asked > 1:
                os.kill(os.getpid(), signal.SIGKILL)
            return now()

        extraction = replace(house.extraction, clock=clock)
        await extraction.run(Snapshot(window=window))


async def _window(house: House, transcript: str) -> Window:
    source = next(source for source in SOURCES if source.agent == "claude-code")
    async for come in house.room.reading.at_rest(source, [transcript], now()):
        if isinstance(come, Window):
            return come
    raise AssertionError(transcript)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3]))
