"""What a benchmark found, all of it, and as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import msgspec

from extractord.cli.quality.results import Result, Summary, summed
from extractord.cli.quality.tables import COST, QUALITY, by_model, groups, languages, markdown, rows


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that a benchmark found, as JSON."""

    at: datetime
    version: str
    models: dict[str, Summary]
    kinds: dict[str, dict[str, Summary]]
    languages: dict[str, dict[str, Summary]]
    results: tuple[Result, ...]


def reported(results: Sequence[Result], at: datetime, version: str) -> Report:
    """Given results, return the report of them."""
    models = by_model(results)
    return Report(
        at=at,
        version=version,
        models={name: summed(rows_of) for name, rows_of in models.items()},
        kinds={name: groups(rows_of) for name, rows_of in models.items()},
        languages={name: languages(rows_of) for name, rows_of in models.items()},
        results=tuple(results),
    )


def as_markdown(report: Report) -> str:
    """Given a report, return it as Markdown."""
    parts = [f"# Quality, {report.at:%Y-%m-%d}, extractord {report.version}"]
    parts += [markdown(rows("model", report.models, QUALITY)), markdown(rows("model", report.models, COST))]
    for name, kinds in report.kinds.items():
        parts += [f"## {name}, by kind", markdown(rows("kind", kinds, QUALITY))]
        parts += [f"## {name}, by language", markdown(rows("language", report.languages[name], QUALITY))]
        parts += [f"## {name}, what went wrong", _faults(report, name)]
    return "\n\n".join(parts) + "\n"


def _faults(report: Report, model: str) -> str:
    lines = [
        f"- `{row.case}` ({row.kind}): " + "; ".join([*row.marks.faults, *([row.error] if row.error else [])])
        for row in report.results
        if row.model == model and (row.error or row.marks.faults)
    ]
    return "\n".join(lines) or "Nothing."
