"""Many cases with one model or several: at once, with a progress bar, going on where it stopped."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from extractord.cli.quality.costing import Cost, cost
from extractord.cli.quality.results import Kept, Result
from extractord.cli.quality.scripted import HOSTILE, PERFECT, Hostile, Perfect
from extractord.cli.quality.staging import Stage
from extractord.cli.quality.voices import Asked, Recording, Replaying, Silent, Voice
from extractord.config import Settings
from extractord.core.cases import Case
from extractord.core.embedded import NAME as EMBEDDED
from extractord.core.ports import Host
from extractord.edges.modelhost import ModelHost
from extractord.house import House, opened

_SWEEP = "import shutil, sys; sys.stdin.buffer.read(); shutil.rmtree(sys.argv[1], ignore_errors=True)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is to be played, and how."""

    cases: Sequence[Case]
    models: Sequence[str]
    concurrency: int
    settings: Settings
    kept: Kept | None = None
    record: Path | None = None
    replay: Path | None = None
    writable: Sequence[Path] = ()


async def played(wanted: Wanted, told: Callable[[Result], None], *, quiet: bool) -> list[Result]:
    """Given what is wanted, play it and return each result, by model and in the order of the cases.

    `told` is told of each as it comes, but for those that were kept before.
    """
    results: dict[tuple[str, str], Result] = {}
    waiting: list[tuple[str, Case]] = []
    for model in wanted.models:
        for case in wanted.cases:
            before = wanted.kept.of(model, case) if wanted.kept else None
            if before is None:
                waiting.append((model, case))
            else:
                results[model, case.id] = before
    if waiting:
        with _bar(len(wanted.cases) * len(wanted.models), len(results), quiet=quiet) as advance:
            async for result in _each(wanted, waiting):
                results[result.model, result.case] = result
                if wanted.kept:
                    wanted.kept.add(result)
                advance(result.case)
                told(result)
    ordered = [results[model, case.id] for model in wanted.models for case in wanted.cases]
    if wanted.kept:
        wanted.kept.level(ordered)
    return ordered


async def _each(wanted: Wanted, waiting: Sequence[tuple[str, Case]]) -> AsyncIterator[Result]:
    """Play each as soon as there is a place for it, and yield it as it ends."""
    async with staged(wanted.settings, wanted.writable) as stage:
        voices = {name: await _voice(name, wanted, stage) for name in wanted.models}
        places = asyncio.Semaphore(wanted.concurrency)

        async def one(number: int, model: str, case: Case) -> Result:
            async with places:
                result = await stage.play(case, voices[model], f"case-{number}")
            await asyncio.to_thread(shutil.rmtree, stage.folder / f"case-{number}", ignore_errors=True)
            return result

        tasks = [asyncio.create_task(one(number, *each)) for number, each in enumerate(waiting)]
        try:
            for ended in asyncio.as_completed(tasks):
                yield await ended
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            for voice in voices.values():
                await voice.stop()


async def costs(wanted: Wanted, places: Sequence[Path]) -> AsyncIterator[Cost]:
    """Given files or folders of transcripts, run each with each model, and yield what it cost."""
    async with staged(wanted.settings, wanted.writable) as stage:
        for model in wanted.models:
            voice = await _voice(model, wanted, stage)
            if voice.embedded:
                voice = Voice(voice.name, lambda _case: Asked())
            for number, place in enumerate(places):
                yield await cost(stage, place, voice, f"place-{number}")
            await voice.stop()


@asynccontextmanager
async def staged(settings: Settings, writable: Sequence[Path]) -> AsyncIterator[Stage]:
    """Given the settings, open the house whose processes the cases share, in a folder that goes after it."""
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(_temporary())
        own = replace(
            settings,
            mode="auto",
            data_dir=folder / "data",
            state_dir=folder / "state",
            memory=type(settings.memory)(),
            model=replace(settings.model, name=EMBEDDED),
            agents={},
        )
        house = await stack.enter_async_context(opened(own, writable=[folder, *writable]))
        yield Stage(house, folder, _ignored)


def _ignored(_warning: str) -> None:
    """What a case's store has to say is of that case, and shows in its marks."""


@contextmanager
def _temporary() -> Iterator[Path]:
    """A folder that is removed when this process ends, however: it may soon not do so itself."""
    folder = Path(tempfile.mkdtemp(prefix="extractord-bench-")).resolve()
    sweeper = subprocess.Popen(  # noqa: S603 - ourselves
        [sys.executable, "-I", "-c", _SWEEP, str(folder)], stdin=subprocess.PIPE, start_new_session=True
    )
    try:
        yield folder
    finally:
        sweeper.communicate()


async def _voice(name: str, wanted: Wanted, stage: Stage) -> Voice:
    """What answers for a model."""
    if wanted.replay is not None and name not in (EMBEDDED, PERFECT, HOSTILE):
        folder = wanted.replay
        return Voice(name, lambda case: Replaying(folder, name, case))
    match name:
        case str() if name == EMBEDDED:
            return Voice(name, lambda _case: Silent(), embedded=True)
        case str() if name == PERFECT:
            return Voice(name, _recorded(name, Perfect, wanted))
        case str() if name == HOSTILE:
            return Voice(name, _recorded(name, Hostile, wanted))
        case _:
            return _provided(name, wanted, stage.house)


def _provided(name: str, wanted: Wanted, house: House) -> Voice:
    settings = replace(wanted.settings, model=replace(wanted.settings.model, name=name))
    means = house.means
    command, environ = means.environs.host_command(settings), means.environs.host
    host = ModelHost(means.processes, command, environ, settings.model.idle_s)
    return Voice(name, _recorded(name, lambda _case: host, wanted), stop=host.stop)


def _recorded(name: str, host: Callable[[Case], Host], wanted: Wanted) -> Callable[[Case], Host]:
    folder = wanted.record
    if folder is None:
        return host
    return lambda case: Recording(host(case), folder, name, case)


@contextmanager
def _bar(total: int, done: int, *, quiet: bool) -> Iterator[Callable[[str], None]]:
    console = Console(stderr=True, quiet=quiet)
    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    )  # fmt: skip
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("cases", total=total, completed=done)
        yield lambda case: progress.update(task, advance=1, description=case[:32].ljust(32))
