"""How many words a text has, in any script."""

from __future__ import annotations

import re

_HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_KANA = "\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f"
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\ua9e0-\ua9ff\uaa60-\uaa7f"
"""Thai, Lao, Burmese, Khmer: scripts that put no space between words."""
_HAN_PER_WORD = 2
_KANA_PER_WORD = 3
_LETTERS_PER_WORD = 4

_STRETCH = re.compile(
    rf"(?P<han>[{_HAN}]+)|(?P<kana>[{_KANA}]+)|(?P<unspaced>[{_UNSPACED}]+)|[^\s{_HAN}{_KANA}{_UNSPACED}]+"
)
_ASCII_WORD = re.compile(r"[^\sA-Za-z0-9]*[A-Za-z0-9]\S*")
_GLANCE = 40
"""Characters that mostly say already that there are words enough."""


def count_words(text: str) -> int:
    """Given a text in any script, return its number of words.

    A word is what stands between spaces and holds a letter or a digit; two Han characters; a
    run of kana, or three of a longer one; four letters of Thai, Lao, Khmer or Burmese.
    """
    han = letters = words = 0
    for stretch in _STRETCH.finditer(text):
        match stretch.lastgroup:
            case "han":
                han += stretch.end() - stretch.start()
            case "kana":
                words += max(1, (stretch.end() - stretch.start()) // _KANA_PER_WORD)
            case "unspaced":
                letters += sum(map(str.isalpha, stretch.group()))
            case _:
                words += any(map(str.isalnum, stretch.group()))
    return words + han // _HAN_PER_WORD + letters // _LETTERS_PER_WORD


def has_words(text: str, least: int) -> bool:
    """Given a text in any script, return True if it has at least so many words: mostly its start says so."""
    if text.isascii():
        return len(_ASCII_WORD.findall(text, 0, _GLANCE)) >= least or len(_ASCII_WORD.findall(text)) >= least
    return count_words(text[:_GLANCE]) >= least or (len(text) > _GLANCE and count_words(text) >= least)
