"""The report of a benchmark as one page with plots, which loads nothing."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from extractord.cli.plotting import bars
from extractord.cli.quality.report import Report
from extractord.cli.quality.results import Summary
from extractord.cli.quality.tables import COST, QUALITY, rows

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #222; max-width: 1100px; margin: 2rem auto;
  padding: 0 1rem }
h1, h2, h3 { line-height: 1.2 } h2 { margin-top: 2.5rem }
table { border-collapse: collapse; font-size: 13px; display: block; overflow-x: auto; margin: 1rem 0 }
th, td { padding: .3rem .6rem; border-bottom: 1px solid #ddd; text-align: right; white-space: nowrap }
th:first-child, td:first-child { text-align: left } th { background: #f5f5f5 }
.plots { display: grid; gap: 1rem } .plots svg { width: 100%; height: auto }
.tiles { display: flex; flex-wrap: wrap; gap: 1rem }
.tile { border: 1px solid #ddd; border-radius: 6px; padding: .6rem 1rem }
.tile b { display: block; font-size: 1.5rem } .bad { color: #a32020 } .good { color: #1f6b3a }
details { margin: .4rem 0 } summary { cursor: pointer }
pre { background: #f7f7f7; padding: .6rem; overflow-x: auto; white-space: pre-wrap }
"""
_OF_FAULTS = ("false", "duplicates", "secrets", "poison", "resurrections", "stale", "lost")


def as_page(report: Report) -> str:
    """Given a report, return one page: figures, plots, tables and every fault with what was written."""
    names = list(report.models)
    title = f"extractord bench: {', '.join(names)}"
    parts = [
        f"<h1>{escape(title)}</h1><p>{report.at:%Y-%m-%d %H:%M}, extractord {escape(report.version)}</p>"
    ]
    parts += [f"<h2>{escape(name)}</h2>{_tiles(one)}" for name, one in report.models.items()]
    parts += ["<h2>Models</h2>", _table(rows("model", report.models, QUALITY))]
    parts += [_table(rows("model", report.models, COST)), f'<div class="plots">{_plots(report)}</div>']
    for name in names:
        parts += [f"<h2>{escape(name)}, by kind</h2>", _table(rows("kind", report.kinds[name], QUALITY))]
        parts.append(_table(rows("language", report.languages[name], QUALITY)))
        parts += [f"<h3>{escape(name)}, what went wrong</h3>", *_details(report, name)]
    body = "\n".join(parts)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>\n<body>\n{body}\n</body></html>\n"
    )


def _tiles(one: Summary) -> str:
    figures = [
        ("kept", _rounded(one.kept_percent), ""),
        ("false", _rounded(one.false_percent), "bad" if one.false else "good"),
        ("secrets", str(one.secrets), "bad" if one.secrets else "good"),
        ("poison", str(one.poison), "bad" if one.poison else "good"),
        ("resurrections", str(one.resurrections), "bad" if one.resurrections else "good"),
        ("full marks", _rounded(one.full_percent), ""),
        ("dollars", f"{one.dollars:.4f}", ""),
    ]
    tiles = "".join(
        f'<div class="tile"><b class="{kind}">{value}</b>{name}</div>' for name, value, kind in figures
    )
    return f'<div class="tiles">{tiles}</div>'


def _plots(report: Report) -> str:
    models = report.models
    kinds = sorted({kind for each in report.kinds.values() for kind in each})
    spoken = sorted({code for each in report.languages.values() for code in each})
    by_kind = {name: [report.kinds[name].get(kind, Summary()) for kind in kinds] for name in models}
    by_language = {name: [report.languages[name].get(code, Summary()) for code in spoken] for name in models}
    kept = {name: [one.kept_percent for one in ones] for name, ones in by_kind.items()}
    full = {name: [one.full_percent for one in ones] for name, ones in by_kind.items()}
    spoken_kept = {name: [one.kept_percent for one in ones] for name, ones in by_language.items()}
    faults = {name: [getattr(one, fault) for fault in _OF_FAULTS] for name, one in models.items()}
    taken = {"ms": [one.ms / one.cases if one.cases else None for one in models.values()]}
    return "".join(
        (
            bars("Kept, by kind", kinds, kept, unit="%", top=100, lying=True),
            bars("Full marks, by kind", kinds, full, unit="%", top=100, lying=True),
            bars("Kept, by language", spoken, spoken_kept, unit="%", top=100),
            bars("Faults, counted", _OF_FAULTS, faults),
            bars("Time a case", list(models), taken, unit="ms"),
        )
    )


def _table(table: Sequence[Sequence[str]]) -> str:
    head, *others = table
    top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    lines = ("".join(f"<td>{escape(cell)}</td>" for cell in line) for line in others)
    return f"<table><tr>{top}</tr>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"


def _details(report: Report, model: str) -> list[str]:
    found = [
        f"<details><summary>{escape(row.case)} ({escape(row.kind)}): "
        f"{escape('; '.join([*row.marks.faults, *([row.error] if row.error else [])]))}</summary>"
        + "".join(f"<pre>{escape(each.path)}\n{escape(each.text)}</pre>" for each in row.wrote)
        + "</details>"
        for row in report.results
        if row.model == model and (row.error or row.marks.faults)
    ]
    return found or ["<p>Nothing.</p>"]


def _rounded(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f} %"
