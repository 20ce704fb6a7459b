"""A person's own sentences in an entry: no paste, no code, nothing that is quoted at length."""

from __future__ import annotations

import re
from collections.abc import Iterator

from extractord.core.attribution import foreign_spans
from extractord.core.copied import LEFT_OUT
from extractord.core.prose import is_link, prose
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
_QUOTED_TEXT = re.compile(
    r"(?:(?<!\S)\"(?:[^\"\n]|\n(?!\s*\n)){1,4000}\"|\u201c(?:[^\u201c\u201d\n]|\n(?!\s*\n)){1,4000}\u201d"
    r"|\u201e(?:[^\u201c\u201d\u201e\n]|\n(?!\s*\n)){1,4000}[\u201c\u201d]"
    r"|\u00ab(?:[^\u00ab\u00bb\n]|\n(?!\s*\n)){1,4000}\u00bb"
    r"|\u300c(?:[^\u300c\u300d\n]|\n(?!\s*\n)){1,4000}\u300d)"
)
_WHOLLY_QUOTED = re.compile(r"\"([^\"]*)\"|'([^']*)'")


def sentences(text: str) -> Iterator[str]:
    """Given an entry's text, yield its sentences, each a verbatim stretch with its end mark."""
    return filter(None, parts(text))


def parts(text: str) -> Iterator[str | None]:
    """The same, with None wherever a text of somebody else's stands between them."""
    whole = _WHOLLY_QUOTED.fullmatch(text.strip())
    text = _QUOTED_TEXT.sub(_unquoted, whole[1] or whole[2] or "" if whole else text)
    entry = Entry(id="", agent="", session="", role=Role.USER, origin=Origin.HUMAN, text=text)
    at = 0
    for start, end in (*foreign_spans(text, (), prose(entry)), (len(text), len(text))):
        own = "\n".join(line for line in text[at:start].split("\n") if not is_link(line))
        done = 0
        for stop in _END.finditer(own):
            yield from _usable(own[done : stop.end()])
            done = stop.end()
        yield from _usable(own[done:])
        if text[start:end].strip():
            yield None
        at = end


def _unquoted(quoted: re.Match[str]) -> str:
    """What is quoted, or a mark for it where it is a text of several sentences."""
    inner = quoted[0][1:-1].strip()
    is_text = count_words(inner) >= _QUOTED_WORDS and _END.search(inner.rstrip(".!? "))
    return f"\n{LEFT_OUT}\n" if is_text else quoted[0]


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
