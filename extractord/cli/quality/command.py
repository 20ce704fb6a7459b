"""`bench`: cases through the whole of extractord with a model or two, and how good what comes of it is."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import msgspec
from cyclopts import Parameter
from rich.console import Console
from rich.table import Table

from extractord import __version__
from extractord.cli.json_lines import print_json
from extractord.cli.quality.casefiles import load
from extractord.cli.quality.costing import Cost
from extractord.cli.quality.page import as_page
from extractord.cli.quality.playing import Wanted, costs, played
from extractord.cli.quality.report import Report, as_markdown, reported
from extractord.cli.quality.results import Kept, Result, summed
from extractord.cli.quality.tables import COST, QUALITY, by_model, costs_table, groups, rows
from extractord.config import load_settings
from extractord.core.cases import Case
from extractord.errors import EXIT_FAILED, UsageError
from extractord.storeroom import now

_WIDE = 180
_NOTHING = frozenset({"0", "-"})
_LINES, _JSON, _MARKDOWN, _PAGE = "results.jsonl", "report.json", "report.md", "report.html"


def bench(
    *cases: Path,
    model: Annotated[tuple[str, ...] | None, Parameter(consume_multiple=False, negative=())] = None,
    kind: Annotated[tuple[str, ...] | None, Parameter(consume_multiple=False, negative=())] = None,
    out: Path | None = None,
    concurrency: int = 4,
    record: Path | None = None,
    replay: Path | None = None,
    transcripts: Annotated[tuple[Path, ...] | None, Parameter(consume_multiple=True, negative=())] = None,
    json: Annotated[bool, Parameter(negative=())] = False,
) -> int:
    """Measure how good what is kept is: cases through everything, in temporary places of their own.

    Every case is run as the daemon runs a session, by the same gate, brief, sub-agent, policy and store,
    and marked: kept, false, duplicate, secret, poison, resurrection, updates, deletions. What is held for
    review counts as neither kept nor poison. docs/bench.md says how a case is written.

    Parameters
    ----------
    cases
        Files or folders of cases, YAML or JSON; none: those that come with extractord.
    model
        Which model: heuristic, any name that litellm knows, scripted-perfect or scripted-hostile. Give it
        twice, or two with a comma, to see them side by side; none: the one that is configured.
    kind
        Only cases of these kinds.
    out
        Leave results.jsonl, report.json, report.md and report.html in this folder. What stands there
        is not run again: a run that was stopped goes on.
    concurrency
        So many cases at once.
    record
        Keep each reply of the models below this folder.
    replay
        Take the replies from such a folder instead of asking: nothing is spent, and it is the same each time.
    transcripts
        Not cases, but transcripts of your own or folders of them: what reading each would cost.
    json
        One object a line, a case each; the last ones sum up, a model each.
    """
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    wanted = _wanted(cases, model, kind, out, concurrency, record, replay)
    if transcripts:
        return asyncio.run(_costs(wanted, transcripts, json=json))

    def told(result: Result) -> None:
        if json:
            print_json(result, flush=True)

    results = asyncio.run(played(wanted, told, quiet=json))
    for name, mine in by_model(results).items():
        if json:
            row = {"summary": True, "model": name, **msgspec.structs.asdict(summed(mine))}
            print_json(row)
    if not json:
        _show(results)
    if out is not None:
        _write(reported(results, now(), __version__), out)
        print(f"extractord: the report is {out / _PAGE}", file=sys.stderr)
    return EXIT_FAILED if any(row.error for row in results) else 0


async def _costs(wanted: Wanted, places: Sequence[Path], *, json: bool) -> int:
    found: list[Cost] = []
    async for each in costs(wanted, [place.expanduser().absolute() for place in places]):
        found.append(each)
        if json:
            print_json(each, flush=True)
    if not json:
        console = _console()
        _print(console, "cost of transcripts", _turned(costs_table(found)))
    for problem in (problem for each in found for problem in each.problems):
        print(f"extractord: {problem}", file=sys.stderr)
    return EXIT_FAILED if any(each.problems for each in found) else 0


def _wanted(
    places: Sequence[Path],
    model: Sequence[str] | None,
    kind: Sequence[str] | None,
    out: Path | None,
    concurrency: int,
    record: Path | None,
    replay: Path | None,
) -> Wanted:
    """What the options come to. Raise UsageError or ConfigError where they come to nothing."""
    if concurrency < 1:
        raise UsageError(f"--concurrency {concurrency}: one case at least has to be run at once")
    if record is not None and replay is not None:
        raise UsageError(
            "--record keeps replies that are asked for, --replay asks for none: give one of them"
        )
    if replay is not None and not replay.is_dir():
        raise UsageError(f"--replay {replay}: there is no such folder; make it with --record {replay}")
    settings = load_settings()
    found = [placed.case for placed in load(places)]
    for folder in filter(None, (out, record)):
        folder.mkdir(parents=True, exist_ok=True)
    return Wanted(
        cases=_of_kinds(found, _split(kind)),
        models=_split(model) or [settings.model.name],
        concurrency=concurrency,
        settings=settings,
        kept=Kept(out / _LINES) if out is not None else None,
        record=record.resolve() if record else None,
        replay=replay.resolve() if replay else None,
        writable=[folder.resolve() for folder in (out, record) if folder is not None],
    )


def _split(given: Sequence[str] | None) -> list[str]:
    return list(
        dict.fromkeys(name.strip() for each in given or () for name in each.split(",") if name.strip())
    )


def _of_kinds(cases: Sequence[Case], wanted: Sequence[str]) -> list[Case]:
    known = sorted({case.kind for case in cases})
    unknown = [kind for kind in wanted if kind not in known]
    if unknown:
        raise UsageError(f"--kind {', '.join(unknown)}: no case has it; there are: {', '.join(known)}")
    return [case for case in cases if not wanted or case.kind in wanted]


def _write(report: Report, folder: Path) -> None:
    (folder / _JSON).write_bytes(msgspec.json.format(msgspec.json.encode(report)) + b"\n")
    (folder / _MARKDOWN).write_text(as_markdown(report), "utf-8")
    (folder / _PAGE).write_text(as_page(report), "utf-8")


def _console() -> Console:
    console = Console()
    if not console.is_terminal:
        console.width = _WIDE
    return console


def _show(results: Sequence[Result]) -> None:
    console = _console()
    models = by_model(results)
    for name, mine in models.items():
        _print(console, f"{name}, by kind", _telling(rows("kind", groups(mine), QUALITY)))
    totals = {name: summed(mine) for name, mine in models.items()}
    _print(console, "quality", _turned(rows("model", totals, QUALITY)))
    _print(console, "cost", _turned(rows("model", totals, COST)))
    for row in results:
        if row.error:
            console.print(f"{row.case} with {row.model} was not measured: {row.error}", markup=False)


def _turned(table: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """A line a measure, a column a model: there are more measures than fit beside one another."""
    return list(zip(*table, strict=True))


def _telling(table: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """The table without the columns in which nothing was counted."""
    columns = zip(*table, strict=True)
    return list(zip(*(column for column in columns if not _NOTHING.issuperset(column[1:])), strict=True))


def _print(console: Console, title: str, table: Sequence[Sequence[str]]) -> None:
    head, *others = table
    shown = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False)
    for number, name in enumerate(head):
        shown.add_column(name, justify="right" if number else "left")
    for line in others:
        shown.add_row(*line)
    console.print(shown)
