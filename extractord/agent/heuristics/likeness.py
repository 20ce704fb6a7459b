"""Whether a statement says what a memory says already, or says it anew."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from functools import lru_cache

from msgspec import Struct

from extractord.agent.heuristics.stating import Statement
from extractord.agent.languages.language import Language
from extractord.core.folding import fold
from extractord.core.numerals import numbers
from extractord.core.reading_words import read_words

_ONE_TOPIC = 0.6
"""So much of the shorter one's topic is shared by two of one topic."""
_ONE_TOPIC_CHANGED = 0.5
"""The same where the statement says that it was otherwise before."""
_SAME_WORDS = 0.75
"""So much of a statement's words is in a memory that says the same."""
_SHARED = 2
_ROOT = 4
"""So many letters of a word tell what has ended: `merging` and `merge` are one."""

_WEEKDAYS = frozenset(
    (
        *("monda", "tuesd", "wedne", "thurs", "frida", "satur", "sunda"),
        *("monta", "diens", "mittw", "donne", "freit", "samst", "sonnt"),
        *("lundi", "mardi", "mercr", "jeudi", "vendr", "samed", "diman"),
        *("lunes", "marte", "mierc", "jueve", "viern", "sabad", "domin"),
        *("周一", "周二", "周三", "周四", "周五", "周六", "周日"),
        *("月曜", "火曜", "水曜", "木曜", "金曜", "土曜", "日曜"),
    )
)
"""Stems of days, as `read_words` gives them."""
_LANGUAGES = frozenset(
    (
        *("engli", "germa", "frenc", "spani", "chine", "japan", "itali", "dutch", "portu", "polis", "russi"),
        *("deuts", "franz", "itali", "nieder", "angla", "allem", "franc", "espag", "ingle", "alema"),
        *("chino", "japon", "中文", "英文", "日文", "德文", "英語", "日本", "独語", "仏語"),
    )
)
"""Stems of languages: two facts that name another one are of one topic."""
_DAY, _NUMBER, _LANGUAGE = "#day", "#number", "#language"


class Likeness(Enum):
    """How a statement stands to a memory."""

    OTHER = "other"
    SAME = "same"
    CHANGED = "changed"


class Topic(Struct, frozen=True):
    """What a text is about, and what it says of it."""

    about: frozenset[str]
    """Stems; a day or a number only as one."""
    values: frozenset[str]
    """The days and numbers themselves."""
    words: frozenset[str]
    """All stems, and numbers in figures."""


def topic(text: str, language: Language) -> Topic:
    """Given a text, return what it is about in the language's terms."""
    return _topic(text, language.stop_words)


@lru_cache(maxsize=2048)
def _topic(text: str, stop_words: frozenset[str]) -> Topic:
    words = read_words(text).content - stop_words
    values = frozenset(numbers(text)) | (words & (_WEEKDAYS | _LANGUAGES))
    plain = frozenset(word for word in words if word not in values and not numbers(word))
    about = set(plain)
    if words & _LANGUAGES:
        about.add(_LANGUAGE)
    if words & _WEEKDAYS:
        about.add(_DAY)
    if numbers(text):
        about.add(_NUMBER)
    return Topic(frozenset(about), values, plain | values)


def compare(statement: Statement, headline: str, whole: str) -> tuple[Likeness, float]:
    """Given a statement and a memory's headline and whole text, return how they stand, and how near."""
    language = statement.language
    new, old = topic(statement.fact, language), topic(headline, language)
    nearness = _nearness(new.about, old.about)
    says_changed = language.changed.search(statement.quote) is not None
    if nearness < (_ONE_TOPIC_CHANGED if says_changed else _ONE_TOPIC):
        return Likeness.OTHER, nearness
    everything = topic(whole, language)
    covered = len(new.words & everything.words) / max(1, len(new.words))
    same_sense = bool(language.negative.search(fold(statement.fact))) == bool(
        language.negative.search(fold(headline))
    )
    if new.values <= everything.values and covered >= _SAME_WORDS and same_sense:
        return Likeness.SAME, nearness
    return Likeness.CHANGED, nearness


def speaks_of(statement: Statement, headline: str) -> float:
    """Given a statement that something ended, return how surely it is what the headline says."""
    new, old = (
        {word[:_ROOT] for word in topic(text, statement.language).words}
        for text in (statement.fact, headline)
    )
    return len(new & old) / max(1, min(len(new), len(old)))


def _nearness(new: Iterable[str], old: Iterable[str]) -> float:
    new, old = frozenset(new), frozenset(old)
    shared = new & old
    if len(shared) < _SHARED or not shared - {_DAY, _NUMBER, _LANGUAGE}:
        return 0.0
    return len(shared) / min(len(new), len(old))
