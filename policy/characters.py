"""What a character is: whether it can be seen, which script it is of, what it looks like."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

IGNORABLE_RANGES = (
    (0x00AD, 0x00AD),  # soft hyphen
    (0x034F, 0x034F),  # combining grapheme joiner
    (0x061C, 0x061C),  # Arabic letter mark
    (0x115F, 0x1160),  # Hangul fillers
    (0x17B4, 0x17B5),  # Khmer inherent vowels
    (0x180B, 0x180F),  # Mongolian selectors and vowel separator
    (0x200B, 0x200F),  # zero width, directional marks
    (0x202A, 0x202E),  # bidirectional embeddings and overrides
    (0x2060, 0x206F),  # joiners, invisible operators, isolates, deprecated
    (0x3164, 0x3164),  # Hangul filler
    (0xFE00, 0xFE0F),  # variation selectors
    (0xFEFF, 0xFEFF),  # byte order mark
    (0xFFA0, 0xFFA0),  # half-width Hangul filler
    (0xFFF0, 0xFFFB),  # reserved, interlinear annotation
    (0x1BCA0, 0x1BCA3),  # shorthand format controls
    (0x1D173, 0x1D17A),  # musical format controls
    (0xE0000, 0xE0FFF),  # tags, variation selectors supplement
)
"""Default_Ignorable_Code_Point of Unicode 16 and the annotation marks; Python has no property for it."""

DIACRITIC_RANGES = ((0x0300, 0x036F), (0x1AB0, 0x1AFF), (0x1DC0, 0x1DFF), (0x20D0, 0x20FF), (0xFE20, 0xFE2F))
"""Marks that belong to no script; a script's own vowel signs are not among them."""


def character_class(ranges: tuple[tuple[int, int], ...]) -> str:
    """Given code point ranges, return the inside of a regular expression's brackets."""
    return "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in ranges)


IGNORABLE = re.compile(f"[{character_class(IGNORABLE_RANGES)}]")
_UNSPELT = re.compile(f"[{character_class(IGNORABLE_RANGES + DIACRITIC_RANGES)}]")

_NOT_ASCII = re.compile(r"[^\x00-\x7f]")

_LETTERS = frozenset({"Ll", "Lu", "Lo", "Lt", "Lm", "Mn", "Mc", "Nd"})
_MARKS = frozenset({"Mn", "Mc", "Me"})

_LOOKALIKES = {  # as NFKD and case fold leave them
    "a": "\u0430\u0251\u03b1\u13aa\u1d00\ua4ee",
    "b": "\u0432\u044c\u03b2\u0185\u15af\u13f4\u13cf\u0299\ua4d0",
    "c": "\u0441\u1d04\u2ca5\u13df\ua4da",
    "d": "\u0501\u0257\u13e7\u13a0\u0111\u1d05\ua4d3",
    "e": "\u0435\u0454\u03b5\u04bd\u13ac\u1d07\ua4f0\u13cb",
    "f": "\u0192\u0493\u03dd\u1e9d\ua799\ua730\ua4dd",
    "g": "\u0261\u050d\u0581\u1d83\u01e5\u13c0\u0262\ua4d6\u13b6\u13f3\u13e9",
    "h": "\u04bb\u043d\u03b7\u0570\u0127\u13bb\u029c\ua4e7\u13c2",
    "i": "\u0456\u0131\u0269\u03b9\u04cf\u026a\u13a5\u2c93\ua4f2\u13c6",
    "j": "\u0458\u0237\u03f3\u0575\u13ab\u1d0a\ua4d9",
    "k": "\u043a\u03ba\u049b\u051f\u2c95\u13e6\u1d0b\ua4d7",
    "l": "\u01c0\u0142\u026b\u05df\u13de\u029f\ua4e1\u056c",
    "m": "\u043c\u03bc\u2c99\u13b7\u1d0d\ua4df",
    "n": "\u043f\u0578\u03bd\u014b\u2c9b\u0274\ua4e0\u13c1",
    "o": "\u043e\u03bf\u0585\u03c3\u00f8\u2c9f\uab3d\u1d0f\ua4f3\u13ce",
    "p": "\u0440\u03c1\u00fe\u2ca3\u13e2\u1d18\ua4d1\u0584",
    "q": "\u051b\u0563\u0566",
    "r": "\u0433\u027c\u1d26\u13b1\u13a1\u0280\ua4e3\u13d2",
    "s": "\u0455\ua731\u01bd\u13da\ua4e2\u13d5\u057f",
    "t": "\u0442\u03c4\u0167\u2ca7\u13a2\u1d1b\ua4d4",
    "u": "\u03c5\u057d\u0446\u028b\u1d1c\ua4f4\u13cc",
    "v": "\u0475\u1d20\u13d9\ua4e6",
    "w": "\u051d\u0461\u03c9\u0561\u13b3\ua4ea\u13d4",
    "x": "\u0445\u03c7\u2cad\ua4eb",
    "y": "\u0443\u04af\u03b3\u2ca9\u13a9\u028f\ua4ec\u13bd",
    "z": "\u1d22\u03b6\u01b6\u13c3\ua4dc",
}
_SEEN_AS = str.maketrans({mark: latin for latin, marks in _LOOKALIKES.items() for mark in marks})

_TWO_WORD_SCRIPTS = frozenset({"OLD", "NEW", "OL", "TAI", "LINEAR", "INSCRIPTIONAL", "MEROITIC", "PAU"})
_ANY_SCRIPT = frozenset({"COMBINING", "MODIFIER", "DIGIT", "VEDIC"})
_SAME_SCRIPT = {
    "EXTENDED": "ARABIC",
    "IDEOGRAPHIC": "CJK",
    "VERTICAL": "CJK",
    "HIRAGANA": "CJK",
    "KATAKANA": "CJK",
    "KATAKANA-HIRAGANA": "CJK",
    "HENTAIGANA": "CJK",
    "HANGUL": "CJK",
    "BOPOMOFO": "CJK",
}


@lru_cache(maxsize=4096)
def is_word_character(char: str) -> bool:
    """True for a letter, mark or decimal digit of any script that can be seen."""
    return unicodedata.category(char) in _LETTERS and IGNORABLE.match(char) is None


@lru_cache(maxsize=4096)
def is_mark(char: str) -> bool:
    """True for a character that stands on the one before it."""
    return unicodedata.category(char) in _MARKS


@lru_cache(maxsize=4096)
def script(char: str) -> str | None:
    """Given a letter, mark or digit, return its script, or None where it goes with any.

    Python has no script property: the script is the beginning of the character's name. Han,
    kana, Hangul and Bopomofo, which one word may mix, count as one.
    """
    first, _, rest = unicodedata.name(char, "UNNAMED").partition(" ")
    if first in _TWO_WORD_SCRIPTS:
        return f"{first} {rest.partition(' ')[0]}"
    stem = first.partition("-")[0] if first.startswith("ARABIC-") else first
    return None if stem in _ANY_SCRIPT else _SAME_SCRIPT.get(stem, stem)


def named(char: str) -> str:
    """Given a character, return `U+202E RIGHT-TO-LEFT OVERRIDE`: safe to print."""
    name = unicodedata.name(char, "")
    return f"U+{ord(char):04X} {name}".rstrip()


def shown(text: str) -> str:
    """Given any text, return at most 80 characters of it in quotes, safe to print and to encode."""
    cut = text if len(text) <= 80 else text[:79] + "…"  # noqa: PLR2004 - as the docstring says
    return "".join(
        char if char.isprintable() and not IGNORABLE.match(char) else f"<U+{ord(char):04X}>"
        for char in f"`{cut}`"
    )


def likeness(text: str) -> str:
    """Given a name, return what an eye or a file system may take for the same.

    NFKD, case fold, NFKD; ignorables and diacritics dropped, look-alikes mapped to ASCII. A
    script's own vowel signs stay: without them different words of Hindi or Thai are one.
    """
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return _UNSPELT.sub("", folded).translate(_SEEN_AS)


@lru_cache(maxsize=64)
def skeleton(text: str) -> str:
    """Given a name, return its likeness without any mark: what is compared with denied names."""
    like = likeness(text)
    if like.isascii() or not any(map(is_mark, set(like))):
        return like
    return "".join(char for char in like if not is_mark(char))


def as_latin(text: str) -> str:
    """Given a text, return it with look-alike letters in Latin ones, case kept; as long as it was."""
    return text if text.isascii() else _NOT_ASCII.sub(lambda match: _latin(match[0]), text)


@lru_cache(maxsize=4096)
def _latin(char: str) -> str:
    like = likeness(char)
    if len(like) != 1 or not like.isascii():
        return char
    return like.upper() if char.isupper() else like
