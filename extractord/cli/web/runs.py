"""The pages of runs: how each ended and why, what it changed, and taking that back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from aiohttp import web

from extractord.cli.lives import stages
from extractord.cli.runs import find, refusal, reopen
from extractord.cli.web.site import Asked, Does, Look, Shows, Site
from extractord.cli.web.wording import diff_rows
from extractord.core.records import Outcome
from extractord.edges.store import Keeping, stands
from extractord.edges.store.noticing import PERSON

_FIRST_ROWS, _MOST_ROWS = 50, 5000


@dataclass(frozen=True, slots=True)
class Made:
    """What a run did to one memory."""

    place: str
    removed: bool
    rows: Sequence[tuple[str, str]]
    stands: bool
    """It is still as the run left it."""


def runs(site: Site, asked: Asked, look: Look) -> web.Response:
    """The newest runs."""
    limit = asked.number("limit", _FIRST_ROWS, _MOST_ROWS)
    rows = tuple(map(look.ledger.standing.as_left, look.ledger.runs.recent(limit)))
    more = min(limit * 4, _MOST_ROWS) if len(rows) == limit and limit < _MOST_ROWS else 0
    return site.page("runs", "Runs", look, rows=rows, more=more, done=asked.word("done"))


def run(site: Site, asked: Asked, look: Look) -> web.Response:
    """One run: what came of it, what it cost, what was refused."""
    row = look.ledger.standing.as_left(find(look.ledger, asked.required("run")))
    return site.page(
        "run",
        f"Run {row.run}",
        look,
        row=row,
        is_parked=row.outcome == Outcome.PARKED,
        made=list(_made(look, row.run)),
        refused=[refusal(note) for note in look.ledger.audit.about(row.run) if note.kind == "refused"],
        done=asked.word("done"),
    )


def do_undo(site: Site, asked: Asked) -> web.Response:
    """Put back what a run changed, or show what changed since."""
    with site.room() as room:
        row = find(room.ledger, asked.required("run"))
        undone = Keeping(room.store, PERSON).undo(row.run)
    if not undone.conflicts:
        return site.go("run", run=row.run, done="undone")
    return site.page("conflicts", "Nothing was undone", status=409, row=row, conflicts=undone.conflicts)


def do_retry(site: Site, asked: Asked) -> web.Response:
    """Open the exchanges of a parked run again."""
    wanted = asked.required("run")
    opened = reopen(site.settings.state_dir, (wanted,))
    return site.go("run", run=wanted, done="reopened" if any(opened.values()) else "reopened-before")


def _made(look: Look, run: str) -> Iterator[Made]:
    for version in look.ledger.versions.made_by(run):
        place = f"{version.root}/{version.path}"
        stage = next(
            stage
            for stage in stages(look.ledger, version.root, version.path)
            if stage.version.id == version.id
        )
        there = version.root in look.names and look.roots.is_usable(version.root)
        raw = look.roots.raw(version.root, version.path) if there else None
        rows = list(diff_rows(stage.before, stage.text, place))
        yield Made(place, version.sha256 is None, rows, stands(version, raw))


SHOWS: dict[str, Shows] = {"runs": runs, "run": run}
DOES: dict[str, Does] = {"run/undo": do_undo, "run/retry": do_retry}
