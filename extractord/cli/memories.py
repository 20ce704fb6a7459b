"""`memories list` and `show`: what is kept, and how far it can be believed."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import msgspec
from cyclopts import App, Parameter

from extractord.cli.looking import looked_at, project_of
from extractord.config import Settings, load_settings
from extractord.core.changeset import decode
from extractord.core.memory import utc
from extractord.core.survey import Surveyed, kinds_of, root_of
from extractord.edges.store.roots import Roots
from extractord.errors import UsageError

app = App(name="memories", help="What is kept about the person and their projects.")

Json = Annotated[bool, Parameter(name="--json", negative=())]
Row = tuple[str, Surveyed]


@app.command(name="list")
def list_(*, project: Path | None = None, json: Json = False) -> None:
    """List memories, those that are withheld or cannot be read included.

    Parameters
    ----------
    project
        Only the person's memories and those of the project that this directory belongs to.
    json
        One object a line.
    """
    settings = load_settings()
    with looked_at(settings) as (roots, there):
        rows = rows_of(roots, _chosen(settings, there, project))
    if json:
        for row in rows:
            print(msgspec.json.encode(as_json(row)).decode())
    else:
        _table(rows)


@app.command(name="show")
def show(memory: str, *, project: Path | None = None, json: Json = False) -> None:
    """Print one memory as it stands on disk.

    Parameters
    ----------
    memory
        Its name, its path below its root, or root and path.
    project
        Only look among the person's memories and those of this directory's project.
    json
        One object, the text included.
    """
    settings = load_settings()
    with looked_at(settings) as (roots, there):
        root, row = one_of(rows_of(roots, _chosen(settings, there, project)), memory)
        raw = roots.raw(root, row.path) or b""
    if json:
        print(msgspec.json.encode({**as_json((root, row)), "text": decode(row.path, raw)}).decode())
    else:
        sys.stdout.write(decode(row.path, raw))


def rows_of(roots: Roots, names: tuple[str, ...]) -> list[Row]:
    """Given roots, return every memory in them with its root's name."""
    return [(root, row) for root in names for row in roots.survey(root)]


def one_of(rows: list[Row], wanted: str) -> Row:
    """Given memories, return the one that is meant. Raise UsageError where it is none or several."""
    found = [row for row in rows if wanted in (f"{row[0]}/{row[1].path}", row[1].path, row[1].name)]
    exact = [row for row in found if wanted == f"{row[0]}/{row[1].path}"]
    match exact or found:
        case [row]:
            return row
        case []:
            raise UsageError(f"no memory is called {wanted!r}: `extractord memories list` names them")
        case several:
            places = ", ".join(f"{root}/{row.path}" for root, row in several)
            raise UsageError(f"{wanted!r} may be any of: {places}")


def as_json(row: Row) -> dict[str, object]:
    """Given a memory, return it as scripts get it."""
    root, one = row
    return {
        "root": root,
        "path": one.path,
        "name": one.name,
        "description": one.description,
        "type": one.type,
        "trust": one.trust.word if one.trust is not None else None,
        "foreign": one.foreign,
        "pinned": one.pinned,
        "bytes": one.size,
        "written_at": utc(datetime.fromtimestamp(one.mtime_ns / 1e9, UTC)),
        "withheld": one.withheld,
        "fault": one.fault,
    }


def _chosen(settings: Settings, there: tuple[str, ...], project: Path | None) -> tuple[str, ...]:
    if project is None:
        return there
    found = project_of(settings, project)
    wanted = [root_of(kind, found) for kind in kinds_of(found)]
    return tuple(root for root in there if root in wanted)


def _table(rows: list[Row]) -> None:
    from rich.console import Console  # noqa: PLC0415 - only a person needs a table
    from rich.markup import escape  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    if not rows:
        print("nothing is kept yet")
        return
    table = Table("memory", "type", "trust", "says", box=None, pad_edge=False)
    for root, row in rows:
        says = f"cannot be read: {row.fault}" if row.fault else row.description or row.title
        if row.withheld:
            says = f"withheld ({row.withheld}): {says}"
        trust = row.trust.word if row.trust is not None else ""
        trust += ", foreign" if row.foreign else ""
        cells = (f"{root}/{row.path}", row.type, trust + (", pinned" if row.pinned else ""), says)
        table.add_row(*(escape(_printable(cell)) for cell in cells))
    Console().print(table)


def _printable(text: str) -> str:
    """The text without what a terminal would obey."""
    return "".join(char if char.isprintable() else "�" for char in text)
