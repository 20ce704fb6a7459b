"""`bench`: measured runs; `bench perf` holds the machine's own costs against their targets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import msgspec
from cyclopts import App, Parameter
from rich.console import Console
from rich.table import Table

from extractord.cli.json_lines import print_json
from extractord.cli.options import Json
from extractord.cli.perf.groups import GROUPS, measured
from extractord.cli.perf.rows import Failed, Row
from extractord.cli.quality.command import bench
from extractord.errors import EXIT_FAILED, UsageError

app = App(name="bench", help="Measure what extractord keeps, and what it costs.")
app.default(bench)

_LINES, _TABLE = "perf.jsonl", "perf.md"
_SMALL = 10


@app.command(name="perf")
def perf(
    *,
    only: Annotated[
        tuple[str, ...] | None, Parameter(consume_multiple=True, negative=(), help="Groups of rows, by name.")
    ] = None,
    out: Annotated[Path | None, Parameter(help="Also leave perf.jsonl and perf.md in this folder.")] = None,
    json: Json = False,
    quick: Annotated[
        bool, Parameter(negative=(), help="Small sizes and few rounds: rougher figures.")
    ] = False,
) -> int:
    """Measure every performance target, side by side with the naive way or against its limit.

    A target that is missed is said, and is no error. The model is a stand-in, nothing is spent,
    and everything takes place in temporary folders.
    """
    names = _chosen(only)
    found: list[Row | Failed] = []
    for each in _watched(names, quick=quick, json=json):
        found.append(each)
        if json:
            print_json(each, flush=True)
    if not json:
        _show(found)
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        (out / _LINES).write_bytes(b"".join(msgspec.json.encode(each) + b"\n" for each in found))
        (out / _TABLE).write_text(_markdown(found), encoding="utf-8")
    return EXIT_FAILED if any(isinstance(each, Failed) for each in found) else 0


def _chosen(only: Sequence[str] | None) -> list[str]:
    """The groups that are wanted, in the order in which they are measured; all without a wish."""
    wanted = {name for part in only or () for name in part.split(",") if name}
    unknown = sorted(wanted - set(GROUPS))
    if unknown:
        raise UsageError(
            f"bench perf: no rows are called {', '.join(unknown)}; there are {', '.join(GROUPS)}"
        )
    return [name for name in GROUPS if not wanted or name in wanted]


def _watched(names: Sequence[str], *, quick: bool, json: bool) -> Iterator[Row | Failed]:
    """Measure, and say on a terminal meanwhile what is being measured."""
    console = Console(stderr=True, quiet=json)
    for number, name in enumerate(names, 1):
        with console.status(f"{name} ({number} of {len(names)})"):
            found = measured(name, quick=quick)
        yield from found


def _show(found: Sequence[Row | Failed]) -> None:
    console = Console()
    table = Table("row", "what", "measured", "target", "", "compared with", box=None, pad_edge=False)
    for each in found:
        match each:
            case Row():
                met = "[green]met[/]" if each.met else "[red]missed[/]"
                table.add_row(each.row, each.name, _value(each), _target(each), met, each.against)
            case Failed():
                table.add_row(each.row, "[red]not measured[/]", "", "", "", each.error)
    console.print(table)
    for each in found:
        if isinstance(each, Row) and each.detail:
            console.print(
                f"{each.row}: {each.name}: {each.detail}", style="dim", markup=False, highlight=False
            )


def _markdown(found: Sequence[Row | Failed]) -> str:
    lines = ["| row | what | measured | target | | compared with | |", "|---|---|---|---|---|---|---|"]
    for each in found:
        match each:
            case Row():
                met = "met" if each.met else "missed"
                cells = [each.row, each.name, _value(each), _target(each), met, each.against, each.detail]
            case Failed():
                cells = [each.row, "not measured", "", "", "", each.error, ""]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def _value(row: Row) -> str:
    return f"{row.value:,.2f} {row.unit}" if row.value < _SMALL else f"{row.value:,.0f} {row.unit}"


def _target(row: Row) -> str:
    return f"{row.bound} {row.target:,g}"
