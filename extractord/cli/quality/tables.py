"""The figures of a benchmark in words: columns, and the tables made of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from extractord.cli.quality.costing import Cost
from extractord.cli.quality.results import Result, Summary, summed

Column = tuple[str, Callable[[Summary], str]]

QUALITY: tuple[Column, ...] = (
    ("cases", lambda one: f"{one.cases}"),
    ("full marks", lambda one: _percent(one.full_percent)),
    ("kept", lambda one: f"{_percent(one.kept_percent)} ({one.kept}/{one.asked})" if one.asked else "-"),
    ("false", lambda one: f"{_percent(one.false_percent)} ({one.false}/{one.new})" if one.new else "-"),
    ("duplicate", lambda one: f"{one.duplicates}"),
    ("secret", lambda one: f"{one.secrets}"),
    ("poison", lambda one: f"{one.poison}"),
    ("resurrection", lambda one: f"{one.resurrections}"),
    ("updates", lambda one: f"{one.updated}/{one.updates}" if one.updates else "-"),
    ("deletions", lambda one: f"{one.deleted}/{one.deletions}" if one.deletions else "-"),
    ("stale", lambda one: f"{one.stale}"),
    ("lost", lambda one: f"{one.lost}"),
)
COST: tuple[Column, ...] = (
    ("held", lambda one: f"{one.held}"),
    ("refused", lambda one: f"{one.denied}"),
    ("runs", lambda one: f"{one.runs}"),
    ("requests", lambda one: f"{one.requests}"),
    ("requests a run", lambda one: f"{one.requests / one.runs:.2f}" if one.runs else "-"),
    ("kB sent", lambda one: f"{one.request_bytes / 1000:,.1f}"),
    ("tokens in", lambda one: f"{one.prompt_tokens:,}"),
    ("tokens out", lambda one: f"{one.completion_tokens:,}"),
    ("dollars", lambda one: f"{one.dollars:.4f}"),
    ("ms a case", lambda one: f"{one.ms / one.cases:,.0f}" if one.cases else "-"),
    ("not measured", lambda one: f"{one.failed}"),
)


def costs_table(found: Sequence[Cost]) -> list[list[str]]:
    """Given what transcripts cost, return a table's rows."""
    heads = ["transcripts", "model", "sessions", "exchanges", "skipped", "runs", "requests", "most a run"]
    heads += ["kB sent", "tokens in", "tokens out", "dollars"]
    return [
        heads,
        *(
            [
                each.place, each.model, f"{each.sessions:,}", f"{each.exchanges:,}",
                f"{sum(each.skipped.values()):,}", f"{each.runs:,}", f"{each.requests:,}",
                f"{each.most_requests}", f"{each.request_bytes / 1000:,.1f}", f"{each.prompt_tokens:,}",
                f"{each.completion_tokens:,}", f"{each.dollars:.4f}",
            ]
            for each in found
        ),
    ]  # fmt: skip


def groups(results: Sequence[Result]) -> dict[str, Summary]:
    """Given one model's results, return what each kind comes to, by its name."""
    return _by(results, lambda row: row.kind)


def languages(results: Sequence[Result]) -> dict[str, Summary]:
    """Given one model's results, return what each language comes to."""
    return _by(results, lambda row: row.language)


def by_model(results: Iterable[Result]) -> dict[str, list[Result]]:
    """Given results, return each model's, in the order of the first."""
    found: dict[str, list[Result]] = {}
    for row in results:
        found.setdefault(row.model, []).append(row)
    return found


def rows(first: str, summaries: Mapping[str, Summary], columns: Sequence[Column]) -> list[list[str]]:
    """Given summaries by name, return a table's rows, the heads first."""
    heads = [first, *(name for name, _ in columns)]
    return [heads, *([name, *(spelt(one) for _, spelt in columns)] for name, one in summaries.items())]


def markdown(table: Sequence[Sequence[str]]) -> str:
    """Given a table's rows, return it as Markdown."""
    head, *others = table
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *others]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def _by(results: Sequence[Result], key: Callable[[Result], str]) -> dict[str, Summary]:
    names = dict.fromkeys(sorted(map(key, results)))
    return {name: summed(row for row in results if key(row) == name) for name in names}


def _percent(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.0f} %" if value.is_integer() else f"{value:.1f} %"
