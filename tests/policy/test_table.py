"""The README's table says what the rules are."""

from __future__ import annotations

from pathlib import Path

from extractord.policy import RULES
from extractord.policy.table import rules_table

README = Path(__file__).parents[2] / "policy" / "README.md"


def test_the_table_in_the_readme_is_current() -> None:
    _, between, _ = README.read_text().replace("<!-- /rules -->", "<!-- rules -->").split("<!-- rules -->")
    assert between.strip() == rules_table().strip()


def test_every_rule_has_a_row_of_five_cells() -> None:
    head, line, *rows = rules_table().splitlines()
    assert [row.split(" | ")[0].removeprefix("| ") for row in rows] == [rule.name for rule in RULES]
    assert {row.replace("\\|", "").count("|") for row in (head, line, *rows)} == {6}
    assert all(char.isprintable() for row in rows for char in row)
