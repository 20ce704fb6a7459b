"""`runs list`, `show` and `retry`: what was extracted, how it ended, and trying again."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated

import msgspec
from cyclopts import App, Parameter

from extractord.cli.json_lines import print_json
from extractord.cli.listing import Item, print_items
from extractord.cli.options import Json, Limit
from extractord.config import load_settings
from extractord.core.ports import AuditRow, RequestRow, RunRow
from extractord.core.printable import printable
from extractord.core.records import Outcome
from extractord.edges.ledger import Ledger
from extractord.errors import UsageError

app = App(name="runs", help="List runs and how each ended; show one; retry those that were given up.")

Run = Annotated[str, Parameter(help="A run's id, or the beginning of one.")]


@app.command(name="list")
def print_list(*, limit: Limit = 20, json: Json = False) -> None:
    """List the newest runs."""
    with Ledger.open(load_settings().state_dir, readonly=True) as ledger:
        rows = tuple(map(ledger.standing.as_left, ledger.runs.recent(limit)))
    if json:
        for row in rows:
            print_json(as_json(row))
    elif rows:
        print_items(map(_item, rows))
    else:
        print("nothing was run yet: `extractord run` watches, `extractord extract` reads what is there")


@app.command(name="show")
def show(run: Run, /, *, json: Json = False) -> None:
    """Show one run: what it changed, what it cost, what was refused."""
    with Ledger.open(load_settings().state_dir, readonly=True) as ledger:
        row = ledger.standing.as_left(find(ledger, run))
        refused = [note for note in ledger.audit.about(row.run) if note.kind == "refused"]
        requests = ledger.runs.requests(row.run)
    spent = [{"at": one.at, **msgspec.structs.asdict(one.usage), "fault": one.fault} for one in requests]
    told = as_json(row) | {"spent": spent, "refused": [note.detail for note in refused]}
    if json:
        print_json(told)
        return
    for name, value in as_json(row).items():
        print(f"{name:<13}{printable(_shown(value))}")
    for one in requests:
        print(f"{'spent':<13}{printable(_request(one))}")
    for note in refused:
        print(f"{'refused':<13}{printable(refusal(note))}")


@app.command(name="retry")
def retry(*runs: Run, json: Json = False) -> None:
    """Open the exchanges of parked runs again, as if they had never been attempted."""
    if not runs:
        raise UsageError("name the parked runs to try again: `extractord status` lists them")
    opened = reopen(load_settings().state_dir, runs)
    for run, exchanges in opened.items():
        if json:
            print_json({"run": run, "opened": exchanges})
        elif exchanges:
            print(f"{run}: {exchanges} open again; the daemon or `extractord extract` takes them up")
        else:
            print(f"{run}: was opened before")


def reopen(state_dir: Path, runs: tuple[str, ...]) -> dict[str, int]:
    """Given parked runs, open what they closed and return how many exchanges, by run.

    Raise UsageError, and open nothing, where one is not known or not parked.
    """
    with Ledger.open(state_dir, readonly=True) as ledger:
        rows = [find(ledger, run) for run in runs]
    for row in rows:
        if row.outcome != Outcome.PARKED:
            raise UsageError(
                f"{row.run} is not parked, it ended as {row.outcome}: only parked runs are tried again"
            )
    with Ledger.open(state_dir) as ledger, ledger.transaction():
        return {row.run: ledger.ranges.reopen(row.run) for row in rows}


def find(ledger: Ledger, run: str) -> RunRow:
    """Given a run's id or the beginning of one, return its row. Raise UsageError where it is not one."""
    row = ledger.runs.one(run)
    if row is None:
        raise UsageError(
            f"no run, or more than one, begins with {printable(run)!r}: see `extractord runs list`"
        )
    return row


def as_json(row: RunRow) -> dict[str, object]:
    """Given a run's row, return what `--json` prints of it (§18), the longer story after it."""
    return {
        "run": row.run,
        "agent": row.agent,
        "session": row.session,
        "project": row.project,
        "outcome": row.outcome,
        "reason": row.reason,
        "written": row.written,
        "removed": row.removed,
        "held": row.held,
        "denied": row.denied,
        "requests": row.requests,
        "tokens": {"prompt": row.prompt_tokens, "completion": row.completion_tokens},
        "ms": row.ms,
        "dollars": row.dollars,
        "model": row.model,
        "started_at": row.started_at,
        "ended_at": row.ended_at,
        "confinement": row.confinement,
    }


def _shown(value: object) -> str:
    match value:
        case dict():
            return ", ".join(f"{count:,} {name}" for name, count in value.items())
        case tuple():
            return ", ".join(map(str, value)) or "-"
        case None | "":
            return "-"
        case datetime():
            return f"{value.astimezone():%Y-%m-%d %H:%M:%S}"
        case _:
            return str(value)


def _request(one: RequestRow) -> str:
    """A request as a line: when, tokens in and out, dollars, and what was wrong with it."""
    usage = one.usage
    cached = f" ({usage.cached_tokens:,} cached)" if usage.cached_tokens else ""
    tokens = f"{usage.prompt_tokens:,}{cached} + {usage.completion_tokens:,} tokens"
    failed = f", failed: {one.fault}" if one.fault else ""
    return f"{one.at.astimezone():%H:%M:%S}  {tokens}, {usage.dollars:.4f} dollars{failed}"


def refusal(note: AuditRow) -> str:
    """Given an audit row of a request that was not granted, return it as a line."""
    return "{verdict} {rule}: {tool} {path} (by {by})".format_map(note.detail)


def changed(row: RunRow) -> str:
    """Given a run, say what it changed, each behind a comma; empty where that is nothing."""
    return "".join(
        f", {len(paths)} {word}"
        for word, paths in (("written", row.written), ("removed", row.removed), ("held", row.held))
        if paths
    )


def _item(row: RunRow) -> Item:
    tokens = row.prompt_tokens + row.completion_tokens
    where = f"{row.agent} in {row.project}" + (f", {tokens:,} tokens" if tokens else "")
    about = f"{row.started_at.astimezone():%Y-%m-%d %H:%M}  {row.outcome}{changed(row)}"
    return Item(row.run, about, (where, row.reason) if row.reason else (where,))
