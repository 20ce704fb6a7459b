"""Numbers in figures or in words of six languages, brought to one spelling."""

from __future__ import annotations

import re
from collections.abc import Iterator

from extractord.core.folding import fold

_ENGLISH = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen eighteen nineteen | twenty thirty forty fifty sixty seventy eighty ninety
"""
_GERMAN = """
null ein zwei drei vier funf sechs sieben acht neun zehn elf zwolf dreizehn vierzehn funfzehn sechzehn
siebzehn achtzehn neunzehn | zwanzig dreissig vierzig funfzig sechzig siebzig achtzig neunzig
"""
_FRENCH = """
zero un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize
dix~sept dix~huit dix~neuf | vingt trente quarante cinquante soixante
"""
_SPANISH = """
cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciseis
diecisiete dieciocho diecinueve veinte veintiuno veintidos veintitres veinticuatro veinticinco veintiseis
veintisiete veintiocho veintinueve | treinta cuarenta cincuenta sesenta setenta ochenta noventa
"""
_EN, _EN_TENS, _DE, _DE_TENS, _FR, _FR_TENS, _ES, _ES_TENS = (
    part.split() for language in (_ENGLISH, _GERMAN, _FRENCH, _SPANISH) for part in language.split("|")
)
_HUNDREDS = {"hundred": 100, "hundert": 100, "cent": 100, "cents": 100, "cien": 100, "ciento": 100}
_THOUSANDS = {"thousand": 1000, "tausend": 1000, "mille": 1000, "mil": 1000}
_DOZENS = {"dozen": 12, "dutzend": 12, "douzaine": 12, "docena": 12}

_OTHERWISE = frozenset({"once", "cent", "cents", "neuf", "mil", "null", "ein", "un", "uno", "one", "acht"})
"""Words that mean other things more often: they give a number, but need none."""

_HAN_DIGITS = {
    character: value
    for value, characters in enumerate(("零〇", "一", "二两兩", "三", "四", "五", "六", "七", "八", "九"))
    for character in characters
}
_HAN_POWERS = {"十": 10, "百": 100, "千": 1000, "万": 10_000, "萬": 10_000}
_HAN_NUMBER = re.compile("[零〇一二两兩三四五六七八九十百千万萬]{1,16}")
_FIGURE = re.compile(r"(?<![^\W\d])(?<![\d.,'\u2019])\d+(?:[.,'\u2019]\d+)*")
_WORD = re.compile(r"[^\W\d_]+")
_THOUSANDS_MARKED = re.compile(r"\d{1,3}(?:([.,'\u2019])\d{3})(?:\1\d{3})*")
_LONGEST = 4


def _spelt() -> Iterator[tuple[str, int]]:
    for words, tens, join in ((_EN, _EN_TENS, "{ten} {one}"), (_DE, _DE_TENS, "{one}und{ten}")):
        yield from ((word, value) for value, word in enumerate(words))
        for place, ten in enumerate(tens, 2):
            yield ten, place * 10
            for value in range(1, 10):
                yield join.format(ten=ten, one=words[value]), place * 10 + value
    yield from ((word.replace("~", " "), value) for value, word in enumerate(_FR))
    for place, ten in enumerate(_FR_TENS, 2):
        yield ten, place * 10
        for value in range(1, 20 if place == 6 else 10):  # noqa: PLR2004 - soixante-dix and on
            joined = f"{ten} et {_FR[value]}" if value in {1, 11} else f"{ten} {_FR[value]}"
            yield joined.replace("~", " "), place * 10 + value
    yield "quatre vingts", 80
    for value in range(1, 20):
        yield f"quatre vingt {_FR[value]}".replace("~", " "), 80 + value
    yield from ((word, value) for value, word in enumerate(_ES))
    for place, ten in enumerate(_ES_TENS, 3):
        yield ten, place * 10
        for value in range(1, 10):
            yield f"{ten} y {_ES[value]}", place * 10 + value
    yield from ({**_HUNDREDS, **_THOUSANDS, **_DOZENS}).items()


_SPELT = dict(_spelt())
_FIRST_WORDS = frozenset(phrase.split()[0] for phrase in _SPELT)


def readings(figure: str) -> frozenset[str]:
    """Given a number in figures, return every value that it can be read as, each in one spelling.

    A mark before three digits may part thousands or decimals (`1.200`); all else keeps its
    digits, so that the version 1.10 is not 1.1.
    """
    plain = figure.replace(",", ".").replace("'", "").replace("\u2019", "")
    found = {plain.lstrip("0") or "0"} if plain.isdigit() else {plain}
    if _THOUSANDS_MARKED.fullmatch(figure):
        found.add(re.sub(r"[.,'\u2019]", "", figure))
    return frozenset(found)


def numbers(text: str) -> frozenset[str]:
    """Given a text, return the values of all numbers in it, in figures or words."""
    found: set[str] = set()
    for figure in _FIGURE.findall(text):
        found |= readings(figure)
    found.update(str(value) for _, value in spelt_numbers(text, every=True))
    return frozenset(found)


def spelt_numbers(text: str, *, every: bool = False) -> Iterator[tuple[str, int]]:
    """Given a text, yield each number that is written in words, as written and as value.

    Left out, unless `every`, are one and words that mean other things more often.
    """
    words = _WORD.findall(fold(text))
    at = 0
    while at < len(words):
        taken = 1
        if words[at] in _FIRST_WORDS:
            phrase, value, taken = _phrase(words, at)
            if every or (phrase not in _OTHERWISE and value != 1):
                yield phrase, value
        at += taken
    for match in _HAN_NUMBER.finditer(text):
        value = _han(match.group())
        if every or value > 1:
            yield match.group(), value


def _phrase(words: list[str], at: int) -> tuple[str, int, int]:
    """The longest number that begins at a number's first word, with a hundred or thousand after it."""
    phrases = {length: " ".join(words[at : at + length]) for length in range(1, _LONGEST + 1)}
    length = max(length for length, phrase in phrases.items() if phrase in _SPELT)
    phrase, value = phrases[length], _SPELT[phrases[length]]
    following = words[at + length] if at + length < len(words) else ""
    times = _HUNDREDS.get(following) or _THOUSANDS.get(following)
    if times and value < times:
        return f"{phrase} {following}", value * times, length + 1
    return phrase, value, length


def _han(numeral: str) -> int:
    if not any(character in _HAN_POWERS for character in numeral):
        return int("".join(str(_HAN_DIGITS[character]) for character in numeral))
    total = section = digit = 0
    for character in numeral:
        power = _HAN_POWERS.get(character)
        if power is None:
            digit = _HAN_DIGITS[character]
        elif power == 10_000:  # noqa: PLR2004 - 万 closes a section
            total, section, digit = total + ((section + digit) or 1) * power, 0, 0
        else:
            section, digit = section + (digit or 1) * power, 0
    return total + section + digit
