"""What a person or an agent looks for in memories: terms, ranks, and the lines around a match."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from extractord.core.folding import UNSPACED, fold
from extractord.core.memory import Malformed, parse
from extractord.core.stopwords import STOP_WORDS, is_stop_pair

AROUND = 3
"""Lines of context on either side of a match."""
PASSAGES = 5
"""A memory shows so many stretches of lines at most."""
LINE_CHARS = 300
"""A longer line is cut around its match, and the cuts are marked."""
_SHORT = 4
"""A word with fewer letters is found at the beginning of words only."""
_STEM = 5
"""A word that occurs nowhere is found by so many first letters, as words are compared elsewhere."""

_STRETCH = re.compile(rf"[{UNSPACED}]+|[^\s{UNSPACED}]+")
_UNSPACED = re.compile(rf"[{UNSPACED}]")
_AROUND_WORDS = "\"'`.,;:!?()[]{}<>\u00ab\u00bb\u2018\u2019\u201c\u201d\u3001\u3002\u300c\u300d"


class Text(Struct, frozen=True, gc=False):
    """A memory as it is searched."""

    root: str
    path: str
    mtime_ns: int
    folded: str
    sure: bool
    """It may be shown; else it has to be asked about first."""


class Ranked(Struct, frozen=True):
    """A memory that has at least one of the terms."""

    root: str
    path: str
    terms: int
    """How many of the terms it has."""
    matches: int
    sure: bool
    """As of its text."""


class Passage(Struct, frozen=True):
    """Lines of a memory that stand together; those at `matched` have a term."""

    lines: tuple[str, ...]
    matched: tuple[int, ...]


def searchable(path: str, text: str) -> str:
    """Given a memory's path and text, return what can be searched of it, folded: no front matter's keys.

    That is the empty string where the memory is malformed.
    """
    memory = parse(text)
    if isinstance(memory, Malformed):
        return ""
    return fold(f"{path}\n{memory.name}\n{memory.description}\n{memory.body}")


def terms(words: str) -> tuple[str, ...]:
    """Given what is looked for, return its distinct terms, folded, in their order.

    A term is a word without the punctuation around it, or a pair of characters in scripts that put
    no space between words. Stop words are left out where anything else is left.
    """
    found = dict.fromkeys(_units(words))
    content = tuple(term for term in found if not _says_nothing(term))
    return content or tuple(found)


def ranked(texts: Sequence[Text], wanted: Sequence[str]) -> tuple[Ranked, ...]:
    """Given memories and terms, return those that have any: most terms first, then most matches.

    The newer comes first among equals.
    """
    looked_for = [(pattern.term, pattern.word) for pattern in (_pattern(term, texts) for term in wanted)]
    found = []
    for text in texts:  # ten thousand of them: nothing is called for a term that is not there
        folded, had, matches = text.folded, 0, 0
        for term, word in looked_for:
            if term in folded:
                count = folded.count(term) if word is None else len(word.findall(folded))
                had += count > 0
                matches += count
        if had:
            found.append((-had, -matches, -text.mtime_ns, text.root, text.path, text.sure))
    return tuple(
        Ranked(root, path, -few, -matches, sure) for few, matches, _, root, path, sure in sorted(found)
    )


def passages(body: str, wanted: Sequence[str]) -> tuple[tuple[Passage, ...], int]:
    """Given a memory's body and terms, return the lines around matches, and how many matching lines not."""
    lines = body.strip("\n").split("\n")
    folded = fold("\n".join(lines))
    patterns = [_pattern(term, [Text("", "", 0, folded, sure=True)]) for term in wanted]
    matched = [at for at, line in enumerate(lines) if _first(fold(line), patterns) is not None]
    shown = list(_stretches(matched, len(lines)))[:PASSAGES]
    made = tuple(
        Passage(
            tuple(_cut(line, patterns) for line in lines[stretch.start : stretch.stop]),
            tuple(at - stretch.start for at in matched if at in stretch),
        )
        for stretch in shown
    )
    return made, len(matched) - sum(len(passage.matched) for passage in made)


class _Pattern(Struct, frozen=True):
    """A term as it is looked for."""

    term: str
    word: re.Pattern[str] | None
    """Where it counts at the beginning of a word only."""

    def find(self, folded: str) -> int:
        if self.word is None or self.term not in folded:
            return folded.find(self.term)
        found = self.word.search(folded)
        return found.start() if found else -1


def _pattern(term: str, texts: Iterable[Text]) -> _Pattern:
    if _UNSPACED.match(term):
        return _Pattern(term, None)
    if len(term) < _SHORT:
        return _Pattern(term, re.compile(rf"(?<![^\W_]){re.escape(term)}"))
    if len(term) > _STEM and term.isalpha() and not any(term in text.folded for text in texts):
        return _Pattern(term[:_STEM], re.compile(rf"(?<![^\W_]){re.escape(term[:_STEM])}"))
    return _Pattern(term, None)


def _units(words: str) -> Iterator[str]:
    for stretch in _STRETCH.findall(fold(words)):
        if not _UNSPACED.match(stretch):
            word = stretch.strip(_AROUND_WORDS)
            if word:
                yield word
        elif len(stretch) == 1:
            yield stretch
        else:
            yield from map("".join, itertools.pairwise(stretch))


def _says_nothing(term: str) -> bool:
    return is_stop_pair(term) if _UNSPACED.match(term) else term in STOP_WORDS


def _first(folded: str, patterns: Iterable[_Pattern]) -> int | None:
    return min((at for pattern in patterns if (at := pattern.find(folded)) >= 0), default=None)


def _stretches(matched: Sequence[int], length: int) -> Iterator[range]:
    """The lines around each match, those that touch as one."""
    begun: range | None = None
    for at in matched:
        around = range(max(0, at - AROUND), min(length, at + AROUND + 1))
        if begun is not None and around.start <= begun.stop:
            begun = range(begun.start, around.stop)
            continue
        if begun is not None:
            yield begun
        begun = around
    if begun is not None:
        yield begun


def _cut(line: str, patterns: Iterable[_Pattern]) -> str:
    """A line as it is shown: at most so long, around the first match."""
    if len(line) <= LINE_CHARS:
        return line
    at = _first(fold(line), patterns) or 0
    start = max(0, min(at - LINE_CHARS // 2, len(line) - LINE_CHARS))
    end = start + LINE_CHARS
    return ("…" if start else "") + line[start:end] + ("…" if end < len(line) else "")
