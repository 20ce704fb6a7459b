"""Texts made comparable: case, accents and invisible characters folded away, scripts told apart."""

from __future__ import annotations

import re
from unicodedata import normalize

from extractord.policy.characters import IGNORABLE_RANGES, character_class

UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua9e0-\ua9ff\uaa60-\uaa7f\uf900-\ufaff\uff66-\uff9f\U00020000-\U000323af"
)
"""For a character class: scripts that put no space between words."""

_IGNORABLES = re.compile(f"[{character_class(IGNORABLE_RANGES)}]+")
_ACCENTS = re.compile("[\u0300-\u036f]+")
_UNSPACED_LETTER = re.compile(f"[{UNSPACED}]")


def fold(text: str) -> str:
    """Given a text, return it without case, compatibility forms, accents and ignorables."""
    if text.isascii():
        return text.lower()
    decomposed = normalize("NFKD", _IGNORABLES.sub("", text)).casefold()
    return normalize("NFC", _ACCENTS.sub("", decomposed))


def fold_space(text: str) -> str:
    """Given a text, return it with every stretch of white space as one space, none at the ends."""
    return " ".join(text.split())


def is_unspaced(character: str) -> bool:
    """True for a character of a script that puts no space between words."""
    return _UNSPACED_LETTER.match(character) is not None
