"""What comes back of the memories: searched, read and listed, whoever asks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from extractord.core.memory import Malformed, parse
from extractord.core.search import Passage, Ranked, Text, passages, ranked, terms
from extractord.core.survey import Surveyed
from extractord.edges.store.roots import Roots
from extractord.errors import StoreError, UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A memory that has what was looked for."""

    root: str
    row: Surveyed
    terms: int
    """How many of the terms it has."""
    matches: int
    passages: tuple[Passage, ...]
    more: int
    """So many lines with a match are not among the passages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What a search comes to, the best first."""

    terms: tuple[str, ...]
    found: tuple[Found, ...]
    left_out: int
    """So many memories have a term too and are not shown."""
    searched: int


def search(
    roots: Roots, names: Sequence[str], words: str, *, limit: int, warn: Callable[[str], None]
) -> Findings:
    """Given roots by their names and what is looked for, return the memories that have it.

    What is held, withheld, forgotten or at fault is never found. `warn` is told of a root that
    cannot be used. Raise UsageError where there is nothing to look for.
    """
    wanted = terms(words)
    if not wanted:
        raise UsageError("there is no word to look for: `extractord search WORDS`")
    texts = list(_texts(roots, names, warn))
    ranks = ranked(texts, wanted)
    found: list[Found] = []
    left_out = 0
    for rank in ranks:
        if rank.sure and len(found) >= limit:
            left_out += 1
            continue
        looked = roots.look(rank.root, rank.path)
        if looked is None or looked[0].fault or looked[0].withheld:
            continue
        if len(found) >= limit:
            left_out += 1
        else:
            found.append(_found(rank, *looked, wanted))
    return Findings(terms=wanted, found=tuple(found), left_out=left_out, searched=len(texts))


def _found(rank: Ranked, row: Surveyed, text: str, wanted: Sequence[str]) -> Found:
    memory = parse(text)
    shown, more = ((), 0) if isinstance(memory, Malformed) else passages(memory.body, wanted)
    return Found(root=rank.root, row=row, terms=rank.terms, matches=rank.matches, passages=shown, more=more)


def _texts(roots: Roots, names: Sequence[str], warn: Callable[[str], None]) -> Iterator[Text]:
    for root in names:
        try:
            yield from list(roots.found(root))
        except StoreError as error:
            warn(str(error))
