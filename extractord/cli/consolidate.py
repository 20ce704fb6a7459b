"""`consolidate`: one run over the memories themselves, under the same law, held for a person's review."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from extractord.cli.json_lines import print_json
from extractord.cli.looking import looked_at, project_of
from extractord.cli.options import Json
from extractord.cli.runs import as_json
from extractord.config import Settings, load_settings
from extractord.consolidating import Mode, consolidated, to_look_at
from extractord.core.ports import RunRow
from extractord.core.printable import printable
from extractord.core.records import Project
from extractord.errors import EXIT_FAILED
from extractord.house import opened
from extractord.storeroom import now

_NOTHING = "nothing to consolidate: no memories seem to repeat, contradict or outlive themselves"
_FAILED = ("failed", "conflict", "aborted", "deferred", "parked")


def consolidate(
    *,
    project: Path | None = None,
    apply: Annotated[bool, Parameter(negative=())] = False,
    dry_run: Annotated[bool, Parameter(negative=())] = False,
    json: Json = False,
) -> int:
    """Merge what repeats, settle what contradicts, drop what has run out, in one run.

    What it would change waits in `review`. Where nothing seems to need it, or the same memories were
    looked at before, no request is made.

    Parameters
    ----------
    project
        A directory of the project; by default the current one. The person's memories belong to it too.
    apply
        Commit what the law allows a run to change; only the rest waits.
    dry_run
        Say which memories would be looked at, and make no request.
    json
        One object: the run, or what would be looked at.
    """
    settings = load_settings()
    found = project_of(settings, project)
    with looked_at(settings) as (roots, there, _):
        memories = to_look_at(roots, there, found, now())
    if dry_run or not memories:
        paths = [one.virtual for one in memories]
        if json:
            print_json({"would_look_at": paths})
        else:
            print("\n".join([f"would look at {printable(path)}" for path in paths] or [_NOTHING]))
        return 0
    row = asyncio.run(_run(settings, found, "auto" if apply else "ask"))
    if json:
        print_json(as_json(row) if row else {"would_look_at": []})
    else:
        print(_said(row))
    return EXIT_FAILED if row is not None and row.outcome in _FAILED else 0


async def _run(settings: Settings, project: Project, mode: Mode) -> RunRow | None:
    async with opened(settings) as house:
        memories = await house.writer.look(
            lambda store: to_look_at(store.roots, store.names(), project, house.clock())
        )
        return await consolidated(house.extraction, memories, project, mode) if memories else None


def _said(row: RunRow | None) -> str:
    if row is None:
        return "nothing to consolidate: the same memories were looked at before, and are as they were"
    lines = [f"{row.outcome}" + (f" ({row.reason})" if row.reason else "")]
    lines += [f"  changed {path}" for path in row.written]
    lines += [f"  removed {path}" for path in row.removed]
    lines += [f"  held    {path}" for path in row.held]
    if row.held:
        lines.append("`extractord review` shows what is held, and why")
    return "\n".join(map(printable, lines))
