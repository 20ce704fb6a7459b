"""What counts as naming something exactly, and what is only a word."""

from __future__ import annotations

import pytest

from extractord.core.identifiers import Kind, identifiers


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("See https://a.example/x?y=1.", [(Kind.ADDRESS, "https://a.example/x?y=1")]),
        ("host db.internal:5432 only", [(Kind.ADDRESS, "db.internal:5432")]),
        ("mail ops@example.org!", [(Kind.ADDRESS, "ops@example.org")]),
        ("run `make  check` now", [(Kind.COMMAND, "make check")]),
        ("```sh\nmake a\n\nmake b\n```\n", [(Kind.COMMAND, "make a"), (Kind.COMMAND, "make b")]),
        ("in src/app and settings.toml", [(Kind.WORD, "src/app"), (Kind.WORD, "settings.toml")]),
        ("use PostgreSQL and snake_case", [(Kind.WORD, "snake_case"), (Kind.WORD, "PostgreSQL")]),
        ("wait 30s or 2,000 ms", [(Kind.NUMBER, "30s"), (Kind.NUMBER, "2,000")]),
        ("three of them", [(Kind.NUMBER, "three")]),
        ("from 1 December 2026 on", [(Kind.DATE, "1 december 2026")]),
        ("like 1987-06-04_beach.png", [(Kind.WORD, "1987-06-04_beach.png")]),
        ("until 2026-12-04.", [(Kind.DATE, "2026-12-04")]),
        ("pass --force", [(Kind.WORD, "--force")]),
        ("火曜日にsrc/x.pyを", [(Kind.WORD, "src/x.py")]),
        ("_some_ of `pkg.example`", [(Kind.ADDRESS, "pkg.example")]),
        ("1. first\n2. second\n- third\n# Title", []),
        ("**Why:** e.g. and/or NEVER, i.e. once.", []),
        ("Deploys happen on Tuesdays only.", []),
    ],
)
def test_identifiers_are_told_from_words(text: str, found: list[tuple[Kind, str]]) -> None:
    assert [(each.kind, each.written) for each in identifiers(text)] == found
