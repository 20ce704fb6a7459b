"""What a text says, part by part: sentences, lines, list items and what marks part within them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from extractord.core.reading_words import read_words

_BREAK = re.compile(
    r"""[.!?\u2026,;:]["'*_)\]\u2019\u201d]{0,4}(?=\s|$)   # a stop where space follows it
      | [\u3001\u3002\uff01\uff0c\uff0e\uff1a\uff1b\uff1f\uff61\uff64|()\u2013\u2014]
      | \s-+\s""",
    re.VERBOSE,
)
_SENTENCE_END = re.compile(r"[.!?\u2026\u3002\uff01\uff0e\uff1f\uff61\n]")
_WHOLE = re.compile("[.!?\u2026][\"'*_)\\]\u2019\u201d]{0,4}(?=\\s|$)|[\u3002\uff01\uff1f]")
_LEAST_WORDS = 2


def sentences(text: str) -> tuple[tuple[str, ...], ...]:
    """Given a text, return the stems of each part of it, in order; stop words are left out.

    Parts end where a line does, at stops, and at commas, colons and dashes within a sentence. Those
    of a single content word (labels, items of a row) go two by two; one left over goes with the
    part after it on its line, else with the one before, and that part comes by itself too. A whole
    sentence of one content word comes by itself as well.
    """
    whole = (_stems(part) for line in text.splitlines() for part in _WHOLE.split(line))
    alone = (stems for stems in whole if len(stems) == 1)
    parts = tuple(part for line in text.splitlines() for part in _parts(line))
    return (*parts, *dict.fromkeys(one for one in alone if one not in parts))


def orders(text: str) -> str:
    """Given a text, return its stems in order with a space around each, sentences apart."""
    return "\0".join(f" {' '.join(_stems(part))} " for part in _SENTENCE_END.split(text))


def _parts(line: str) -> Iterator[tuple[str, ...]]:
    pieces = [stems for piece in _BREAK.split(line) if (stems := _stems(piece))]
    single: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    for at, piece in enumerate(pieces):
        if len(piece) >= _LEAST_WORDS:
            yield piece
            continue
        single += piece
        if len(single) >= _LEAST_WORDS:
            yield single
            single = ()
        else:
            after = next(iter([*pieces[at + 1 : at + 2], *pieces[at - 1 : at]]), ())
    if single:
        yield single + after


def _stems(text: str) -> tuple[str, ...]:
    return tuple(stem for stem in read_words(text).stems if stem is not None)
