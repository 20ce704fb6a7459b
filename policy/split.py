"""Tokens that were taken apart: spelt out, cut by a space, a tag or a list, or in look-alike letters."""

from __future__ import annotations

import re
from collections.abc import Iterator

from extractord.policy.characters import as_latin
from extractord.policy.credentials import SHAPES
from extractord.policy.drawn import looks_drawn
from extractord.policy.folded import replace

_GAP = re.compile(
    r"[ \t\r]*\n[ \t>]*(?:(?:[-*+\u2022]|\d{1,2}[.)])[ \t]+)?|[ \t\r\u00a0\u2002-\u200a\u202f\u3000]+"
    r"|<!--[^>\n]{0,200}-->|</?[A-Za-z][^<>\n]{0,100}>"
)
"""What may stand inside a token: white space, the beginning of a list's item, a tag, a comment."""
_SPELT = re.compile(r"(?<![!-~])[!-~](?P<gap>[-., |/\u00b7\u2010-\u2015_:])[!-~](?:(?P=gap)[!-~]){14,1024}")
"""Sixteen characters or more, one and the same sign between each two."""
_SHAPES = tuple(shape for shape in SHAPES if shape.loose is not None)


def find_split(text: str) -> Iterator[tuple[str, int, int]]:
    """Given a text without invisible characters, yield rule, start and end of each token in pieces.

    Only tokens that are known by how they begin, and look drawn. The end is that of the line.
    """
    latin = as_latin(text)
    squeezed = _GAP.sub("", latin)
    found = list(_tokens(squeezed)) if squeezed != text else []
    if found:
        way_back = replace(latin, _GAP, lambda _gap: "")
        for rule, start, end in found:
            first = way_back.origin(start)
            if first == 0 or not (latin[first - 1].isalnum() or latin[first - 1] == "_"):
                yield rule, first, _end_of_line(text, way_back.origin(end - 1))
    for run in _SPELT.finditer(latin):
        for rule, _start, _end in _tokens(run[0][::2]):
            yield rule, *run.span()


def _tokens(text: str) -> Iterator[tuple[str, int, int]]:
    """Given a text without gaps, yield the tokens in it, whatever stands before and after them."""
    for shape in _SHAPES:
        for word in shape.words:
            at = text.find(word)
            while at >= 0:
                match = shape.loose.match(text, at) if shape.loose else None
                if match is not None and looks_drawn(match[0][len(word) :]):
                    yield shape.rule, *match.span()
                    at = match.end() - 1
                at = text.find(word, at + 1)


def _end_of_line(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end
