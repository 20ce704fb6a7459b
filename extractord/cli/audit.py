"""`audit show` and `verify`: what was asked, what was answered, and whether the rows still say so."""

from __future__ import annotations

from typing import Annotated

from cyclopts import App, Parameter

from extractord.cli.json_lines import json_line, print_json
from extractord.cli.options import Json, Limit
from extractord.config import load_settings
from extractord.core.memory import utc
from extractord.core.ports import AuditRow
from extractord.core.printable import printable
from extractord.edges.ledger import Ledger

app = App(name="audit", help="What was asked and answered, in rows that are only ever added.")


@app.command(name="show")
def show(
    subject: Annotated[str | None, Parameter(help="Only this run's rows, or `person` for people's.")] = None,
    *,
    limit: Limit = 50,
    json: Json = False,
) -> None:
    """Show the newest rows: requests and their verdicts, commits, reviews, undos."""
    with Ledger.open(load_settings().state_dir, readonly=True) as ledger:
        rows = ledger.audit.recent(limit) if subject is None else ledger.audit.about(subject)[::-1][:limit]
    for row in rows:
        print(json_line(row) if json else printable(_line(row)))
    if not rows and not json:
        print(
            f"no row is about {printable(subject)!r}: `extractord audit show` has every row"
            if subject
            else "no row yet: what runs ask for and what you decide is noted here"
        )


@app.command(name="verify")
def verify(*, json: Json = False) -> None:
    """Follow the chain from its first row; say where it was changed or cut."""
    with Ledger.open(load_settings().state_dir, readonly=True) as ledger:
        rows, head = ledger.audit.verify(), ledger.audit.head()
    if json:
        print_json({"rows": rows, "head": head})
    else:
        print(f"{rows:,} rows, unbroken; the head is {head}")


def _line(row: AuditRow) -> str:
    detail = ", ".join(
        f"{name}={_shown(value)}" for name, value in row.detail.items() if value not in ("", [])
    )
    return f"{row.id:>6}  {utc(row.at)}  {row.kind:<10} {row.subject}  {detail}"


def _shown(value: object) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)
