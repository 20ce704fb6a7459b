"""The README's table of rules, made from the rules."""

from __future__ import annotations

from extractord.policy.judging import RULES
from extractord.policy.rules import Case

CASES_SHOWN = 5
"""Of each kind of a rule's cases."""


def rules_table() -> str:
    """Return a Markdown table with a row a rule: name, threat, verdict, and some of its cases."""
    rows = ["| rule | against | verdict | such as | still allowed |", "| --- | --- | --- | --- | --- |"]
    for rule in RULES:
        cells = (
            rule.name,
            rule.threat,
            rule.gives.__name__.lower(),
            _shown(rule.denies + rule.holds),
            _shown(rule.allows),
        )
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"


def _shown(cases: tuple[Case, ...]) -> str:
    """Given cases, return the first of them for a cell, and how many more there are."""
    cells = [_escaped(case.shown) for case in cases[:CASES_SHOWN]]
    more = len(cases) - CASES_SHOWN
    return "; ".join([*cells, f"{more} more"] if more > 0 else cells)


def _escaped(text: str) -> str:
    """Given a case in words, return it so that a table shows each character of it."""
    cut = text if len(text) <= 60 else f"{text[:40]}…{text[-12:]}"  # noqa: PLR2004 - what fits a cell
    seen = "".join(char if char.isprintable() else f"<U+{ord(char):04X}>" for char in cut)
    return seen.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*").replace("_", "\\_")
