"""What transcripts of one's own would cost: each through everything, and every request counted."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path

from msgspec import Struct

from extractord.batch import drained, plan
from extractord.cli.quality.staging import Stage
from extractord.cli.quality.voices import Counted, Voice
from extractord.core.cases import Case

_NO_CASE = Case(id="transcripts", kind="transcripts")


class Cost(Struct, frozen=True, kw_only=True):
    """What the transcripts of one place cost with one model."""

    model: str
    place: str
    sessions: int
    exchanges: int
    skipped: dict[str, int]
    """Exchanges that cost nothing, by the gate's reason."""
    runs: int
    outcomes: dict[str, int]
    requests: int
    most_requests: int
    """Of a run."""
    request_bytes: int
    prompt_tokens: int
    completion_tokens: int
    dollars: float
    ms: float
    problems: tuple[str, ...] = ()


async def cost(stage: Stage, place: Path, voice: Voice, name: str) -> Cost:
    """Given a stage, a file or folder of transcripts and a model, run them and return what that cost."""
    began, host = time.perf_counter(), Counted(voice.host(_NO_CASE))
    async with stage.rooms(stage.folder / name, voice, host, stage.house.clock) as (house, _):
        planned = await plan(house.room, [place], agent=None, since=None, project=None)
        rows = [row async for row in drained(house, planned.windows, None)]
    exchanges = sum(len(window.exchanges) for window in planned.windows)
    return Cost(
        model=voice.name,
        place=str(place),
        sessions=len(planned.windows),
        exchanges=exchanges + planned.skipped.total(),
        skipped=dict(sorted(planned.skipped.items())),
        runs=len(rows),
        outcomes=dict(sorted(Counter(str(row.outcome) for row in rows).items())),
        requests=host.requests,
        most_requests=max((row.requests for row in rows), default=0),
        request_bytes=host.bytes,
        prompt_tokens=sum(row.prompt_tokens for row in rows),
        completion_tokens=sum(row.completion_tokens for row in rows),
        dollars=sum(row.dollars for row in rows),
        ms=(time.perf_counter() - began) * 1000,
        problems=tuple(map(str, planned.problems)),
    )
