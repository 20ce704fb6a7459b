"""What people and other programs wrote into a root: judged before it is indexed or shown."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from extractord.core.survey import kind_of
from extractord.policy.requests import VIRTUAL_ROOTS, Facts, Law, PathFacts, RunFacts, Write
from extractord.policy.verdict import Allow, Verdict

LAW = Law(roots=VIRTUAL_ROOTS)
"""What changes to memories are judged by: virtual paths and the usual limits."""

_NOT_ASKED = ("front-matter", "size")
"""Rules that are not for people: they need not write front matter, nor keep it short."""


def virtual_path(root: str, path: str) -> str:
    """Given a root and a path below it, return the path as the sub-agent sees it."""
    return f"/memory/{kind_of(root)}/{path}"


def objection(root: str, path: str, text: str, run: RunFacts | None = None) -> str:
    """Given a foreign file, return why the law would not have let it be written; else nothing.

    With `run` it is asked as if a run had written it, on evidence of that trust.
    """
    verdict = verdict_on(root, path, text, run)
    return "" if isinstance(verdict, Allow) else f"{verdict.rule}: {verdict.reason}"


def verdict_on(root: str, path: str, text: str, run: RunFacts | None = None) -> Verdict:
    """Given what somebody else wrote, return what the law says to it, `run` as of `objection`."""
    from extractord.policy import RULES, judge  # noqa: PLC0415 - 0.1 s that nobody pays for what is known

    virtual = virtual_path(root, path)
    rules = tuple(rule for rule in RULES if rule.name not in _NOT_ASKED)
    return judge(Write(virtual, text), Facts(paths={virtual: PathFacts()}, run=run), LAW, rules)


def unobjectionable(index: str, ours: Collection[str]) -> tuple[str, int]:
    """Given an index and our own lines in it, return it without foreign ones that the law objects to.

    With it comes how many lines that were. Where the rest, taken together, is still against the
    law, every foreign line goes.
    """
    lines = index.splitlines(keepends=True)
    foreign = [at for at, text in enumerate(lines) if text.strip() and text.rstrip("\r\n") not in ours]
    if not foreign or _is_lawful(lines[at] for at in foreign):
        return index, 0
    kept = [at for at in foreign if _is_lawful([lines[at]])]
    if not _is_lawful(lines[at] for at in kept):
        kept = []
    dropped = set(foreign) - set(kept)
    return "".join(text for at, text in enumerate(lines) if at not in dropped), len(dropped)


def _is_lawful(lines: Iterable[str]) -> bool:
    return not objection("user", "index.md", "".join(lines))
