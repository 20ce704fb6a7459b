"""A person's own sentences in an entry: no paste, no code, nothing that is quoted at length."""

from __future__ import annotations

import re
from collections.abc import Iterator

from extractord.core.prose import pasted, prose
from extractord.core.quotes import MARK
from extractord.core.records import Entry, Origin, Role
from extractord.core.words import count_words

SENTENCE_CHARACTERS = 400
"""A longer sentence is not looked at: it says several things, or is no sentence."""

_END = re.compile(
    r"(?:(?<!\be\.g)(?<!\bi\.e)(?<!\betc)(?<!\bvs)(?<!\bz\.B)(?<!\bd\.h)(?<!\bp\.ej)(?<!\bbzw)(?<!\bca)(?<!\d)"
    r"[.!?]{1,16}+[\"')\u201d\u00bb]*(?=\s|$)|(?<=\d)\.(?=\s+[A-Z\u00c0-\u00de]|\s*$)(?!\s+(?:Jan|Feb|M\u00e4r|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez))|[\u3002\uff01\uff1f]+"
    r"|\n(?=\s*\n)|\n(?![a-z\u00e0-\u00ff])|\.(?=\n))"
)
ITEM = re.compile(r"(?:[-*+\u2022\u30fb]|\d{1,2}[.)])\s+")
"""What a list item begins with."""
_QUOTED = re.compile(
    r"\"[^\"]*\"|\u201c[^\u201d]*\u201d|\u201e[^\u201c\u201d]*[\u201c\u201d]|\u00ab[^\u00bb]*\u00bb"
    r"|\u300c[^\u300d]*\u300d|\u300e[^\u300f]*\u300f|(?<!\w)'[^']*'(?!\w)"
)
_QUOTED_WORDS = 4
_WHOLLY_QUOTED = re.compile(r"\"([^\"]*)\"|'([^']*)'")


def sentences(text: str) -> Iterator[str]:
    """Given an entry's text, yield its sentences, each a verbatim stretch with its end mark."""
    whole = _WHOLLY_QUOTED.fullmatch(text.strip())
    if whole:
        text = whole[1] or whole[2] or ""
    own = prose(
        Entry(id="", agent="", session="", role=Role.USER, origin=Origin.HUMAN, text=_without_pastes(text))
    )
    at = 0
    for end in _END.finditer(own):
        yield from _usable(own[at : end.end()])
        at = end.end()
    yield from _usable(own[at:])


def _without_pastes(text: str) -> str:
    kept, at = [], 0
    for start, end in pasted(text):
        kept.append(text[at:start])
        at = end
    return "\n\n".join([*kept, text[at:]])


def _usable(sentence: str) -> Iterator[str]:
    sentence = sentence.strip()
    item = ITEM.match(sentence)
    sentence = sentence[item.end() :] if item else sentence
    if not sentence or len(sentence) > SENTENCE_CHARACTERS:
        return
    if MARK.search(sentence) or any(
        count_words(quoted) >= _QUOTED_WORDS for quoted in _QUOTED.findall(sentence)
    ):
        return
    yield sentence
