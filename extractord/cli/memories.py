"""`memories`: what is kept, how far it can be believed, and a person's say over it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from extractord.cli import keeping
from extractord.cli.choosing import Row, chosen, one_of, rows_of
from extractord.cli.json_lines import print_json
from extractord.cli.listing import Item, print_items
from extractord.cli.looking import looked_at
from extractord.cli.options import Json
from extractord.config import load_settings
from extractord.core.changeset import decode
from extractord.core.memory import utc
from extractord.core.printable import LINES, printable
from extractord.recall.unopened import Unopened, unopened

app = App(name="memories", help="What is kept about the person and their projects.")
app.command(keeping.history)
app.command(keeping.restore)
app.command(keeping.edit)
app.command(keeping.forget)
app.command(keeping.pin)

Unused = Annotated[bool, Parameter(negative=())]


@app.command(name="list")
def list_(*, project: Path | None = None, unused: Unused = False, json: Json = False) -> None:
    """List memories, those that are withheld or cannot be read included.

    Parameters
    ----------
    project
        Only the person's memories and those of the project that this directory belongs to.
    unused
        Only those that no agent ever opened, with since when and in how many sessions it could have.
    json
        One object a line.
    """
    settings = load_settings()
    with looked_at(settings) as (roots, there, ledger):
        rows = rows_of(roots, chosen(settings, there, project))
        never = unopened(ledger.uses, rows) if unused else ()
    if unused:
        _unused(never, json=json)
    elif json:
        for row in rows:
            print_json(as_json(row))
    else:
        _print(rows)


@app.command(name="show")
def show(memory: str, /, *, project: Path | None = None, json: Json = False) -> None:
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
    with looked_at(settings) as (roots, there, _):
        root, row = one_of(rows_of(roots, chosen(settings, there, project)), memory)
        raw = roots.raw(root, row.path) or b""
    if json:
        print_json({**as_json((root, row)), "text": decode(row.path, raw)})
    else:
        text = decode(row.path, raw)
        sys.stdout.write(printable(text, LINES) if sys.stdout.isatty() else text)


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


def _unused(never: Sequence[Unopened], *, json: bool) -> None:
    if json:
        for one in never:
            told = {**as_json((one.root, one.row)), "since": utc(one.since), "sessions": one.sessions}
            print_json(told)
        return
    if not never:
        print("none: each was opened by an agent, or no session could have opened it yet")
        return
    print_items(
        Item(
            f"{one.root}/{one.row.path}",
            f"in {one.sessions:,} sessions since {one.since:%Y-%m-%d}",
            (one.row.description or one.row.title,),
        )
        for one in never
    )
    print(
        "No agent opened these; their lines in the index were shown all the same. Where one is not worth "
        "its line: `extractord memories forget MEMORY`."
    )


def _print(rows: Sequence[Row]) -> None:
    if not rows:
        print("nothing is kept yet: `extractord run` watches, `extractord extract` reads what is there")
        return
    print_items(map(_item, rows))


def _item(memory: Row) -> Item:
    root, row = memory
    says = f"cannot be read: {row.fault}" if row.fault else row.description or row.title
    if row.withheld:
        says = f"withheld until you review it: {says}"
    trust = row.trust.word if row.trust is not None else ""
    foreign, pinned = "foreign" if row.foreign else "", "pinned" if row.pinned else ""
    return Item(f"{root}/{row.path}", ", ".join(filter(None, (row.type, trust, foreign, pinned))), (says,))
