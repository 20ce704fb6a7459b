"""`search`: the memories that have these words, the best first, with the lines around them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from extractord.cli.choosing import Scope, within
from extractord.cli.json_lines import print_json
from extractord.cli.looking import looked_at
from extractord.cli.memories import as_json
from extractord.cli.options import Json
from extractord.config import load_settings
from extractord.core.printable import printable
from extractord.errors import UsageError
from extractord.recall import Findings, Found
from extractord.recall import search as searched
from extractord.storeroom import to_stderr

_LIMIT = 10


def search(
    words: str,
    /,
    *more: str,
    project: Path | None = None,
    scope: Scope = "here",
    limit: int = _LIMIT,
    json: Json = False,
) -> None:
    """Find memories by words in any script; case and accents do not matter.

    Those with most of the words come first, then those with most matches, then the newest. What is
    held for review, withheld or forgotten is never found.

    Parameters
    ----------
    words
        What to look for.
    more
        More words; a memory with all of them comes first.
    project
        A directory of the project; by default the current one.
    scope
        here: the person's memories and the project's; user or project: one of them; all: every project.
    limit
        Show so many memories at most.
    json
        One object a memory, then one with `summary`.
    """
    if limit < 1:
        raise UsageError("--limit is at least 1")
    settings = load_settings()
    with looked_at(settings) as (roots, there, _):
        names = within(settings, there, project, scope)
        findings = searched(roots, names, " ".join((words, *more)), limit=limit, warn=to_stderr)
    if json:
        for row in _rows(findings):
            print_json(row)
    else:
        for line in _lines(findings, scope):
            print(line)


def _rows(findings: Findings) -> Iterator[dict[str, object]]:
    for one in findings.found:
        yield {
            **as_json((one.root, one.row)),
            "terms": one.terms,
            "matches": one.matches,
            "passages": one.passages,
            "more_lines": one.more,
        }
    yield {
        "summary": True,
        "terms": findings.terms,
        "searched": findings.searched,
        "shown": len(findings.found),
        "left_out": findings.left_out,
    }


def _lines(findings: Findings, scope: Scope) -> Iterator[str]:
    if not findings.found:
        yield f"no memory has any of: {', '.join(map(printable, findings.terms))}"
        elsewhere = "" if scope == "all" else "; --scope all looks in every project"
        yield f"searched: {findings.searched:,}{elsewhere}"
    for one in findings.found:
        yield from _told(one, len(findings.terms))
    if findings.left_out:
        yield f"{findings.left_out} more have a word of it: --limit {findings.left_out + len(findings.found)}"


def _told(one: Found, wanted: int) -> Iterator[str]:
    row = one.row
    trust = row.trust.word if row.trust is not None else ""
    foreign = ", foreign" if row.foreign else ""
    matches = "1 match" if one.matches == 1 else f"{one.matches} matches"
    yield printable(f"{one.root}/{row.path}  ({trust}{foreign}; {one.terms} of {wanted} words, {matches})")
    yield printable(f"  {row.description or row.title}")
    for passage in one.passages:
        for at, line in enumerate(passage.lines):
            yield f"  {'>' if at in passage.matched else ' '} {printable(line)}".rstrip()
        yield "    …" if passage is not one.passages[-1] else ""
    if one.more:
        yield f"    … {one.more} more lines match: `extractord memories show {printable(row.path)}`"
