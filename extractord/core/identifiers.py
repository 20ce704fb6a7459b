"""What a text names exactly: addresses, paths, versions, numbers, dates, commands, odd words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum

from extractord.core.dates import Day, written_dates
from extractord.core.folding import UNSPACED, fold, fold_space
from extractord.core.numerals import readings, spelt_numbers
from extractord.core.stopwords import STOP_WORDS


class Kind(StrEnum):
    """How an identifier is looked for."""

    ADDRESS = "address"
    """A URL, a host or an e-mail address."""
    COMMAND = "command"
    """Several words in backticks, or a line of a code block."""
    NUMBER = "number"
    DATE = "date"
    COMPOUND = "compound"
    """Plain words joined by hyphens."""
    WORD = "word"
    """A path, a version, a word with a digit, `_`, `/`, an inner dot or capital."""


@dataclass(frozen=True, slots=True)
class Identifier:
    """One identifier as a text writes it.

    `key` is what is searched for, folded. `values` are the readings of a number, `days` those of
    a date; either may stand for the key.
    """

    kind: Kind
    written: str
    key: str
    values: frozenset[str] = field(default_factory=frozenset)
    days: frozenset[Day] = field(default_factory=frozenset)


_FENCED = re.compile(
    r"^ {0,3}(`{3,}+|~{3,}+)[^\n]*\n(.*?)(?:^ {0,3}\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL
)
_TICKED = re.compile(r"(?<!`)(`++)([^`\n]{1,1000}?)\1(?!`)")
_BULLET = re.compile(r"^[ \t]*(?:\d{1,3}[.)]|[-*+]|#{1,6})[ \t]+", re.MULTILINE)
_PARTING = (
    r"\s\"'()\[\]{}<>,;|*\u00ab\u00bb\u2013\u2014\u2018\u2019\u201c-\u201e\u2026"
    r"\u3001\u3002\u300c-\u3011\uff01\uff08\uff09\uff0c\uff1b\uff1f"
)
"""For a character class: white space, brackets, quotes and stops, wide ones too."""
_TOKEN = re.compile(rf"(?:[^{UNSPACED}{_PARTING}]|(?<=\d)[,'\u2019](?=\d))+")
_URL = re.compile(r"[a-z][a-z0-9+.-]{1,20}://[^\s\"'<>`\uff09\u300d]+", re.IGNORECASE)
_EDGES = ".:!?=~^$€£#&%+"
_NUMBER = re.compile(r"v?\d+(?:[.,'\u2019]\d+)*")
_MEASURED = re.compile(
    r"(\d+(?:[.,'\u2019]\d+)*)(ns|us|µs|ms|s|sec|secs|m|min|mins|h|hr|hrs|d|w|y|k|b|kb|mb|gb|tb|kib|mib|gib|px|x|st|nd|rd|th)"
)
_HOST = re.compile(r"(?:[^\W_](?:[\w-]*[^\W_])?\.)+[^\W\d_]{2,}(?::\d+)?")
_ENDINGS = """
c cc cfg conf cpp cs css csv env go h hpp html ini ipynb java js json jsonl jsx kt lock log lua md mjs php
png proto py pyi rb rs rst scala sh sql svg swift tex tf toml ts tsv tsx txt vue xml yaml yml zig zip
"""
_FILE_ENDINGS = frozenset(_ENDINGS.split())
_ABBREVIATIONS = frozenset({"e.g", "i.e", "z.b", "d.h", "p.ex", "u.a", "a.m", "p.m", "etc"})
_OPTION = re.compile(r"--[a-z][\w-]+(?:=.*)?")
_INNER_CAPITAL = re.compile(r"\w+?[A-ZÀ-ÖØ-Þ]")
_INNER_HYPHEN = re.compile(r"(?<=\w)-(?=\w)")
_INNER_DOT = re.compile(r"\w\.\w")
_COMPOUND = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)+")
_SHORT_FLAG = re.compile(r"(?<![^\s`])-[A-Za-z]{0,8}[A-Z][A-Za-z]{0,8}(?!\w)")
_CAPITAL_MARK = "\ue000"
_IN_NAMES = frozenset("_/\\")


def searchable(text: str) -> str:
    """Given a text, return it as identifiers are searched in it: folded, but for capital flags."""
    marked = _SHORT_FLAG.sub(
        lambda flag: "".join(_CAPITAL_MARK + c if c.isupper() else c for c in flag.group()), text
    )
    return fold_space(fold(marked))


def identifiers(text: str) -> tuple[Identifier, ...]:
    """Given a fact's text, return what must occur in its evidence, each once, in order."""
    found: dict[tuple[Kind, str], Identifier] = {}
    for identifier in _all(text):
        found.setdefault((identifier.kind, identifier.key), identifier)
    return tuple(found.values())


def apart(identifier: Identifier) -> Identifier:
    """The same with spaces for inner hyphens: `node-20` may have been said as `node 20`."""
    return replace(identifier, key=_INNER_HYPHEN.sub(" ", identifier.key))


def together(identifier: Identifier) -> Identifier:
    """The same without inner hyphens: `re-run` may have been said as `rerun`."""
    return replace(identifier, key=_INNER_HYPHEN.sub("", identifier.key))


def _all(text: str) -> Iterator[Identifier]:
    code = [line for block in _FENCED.finditer(text) for line in block.group(2).splitlines()]
    text = _FENCED.sub("\n", text)
    code += [ticked.group(2) for ticked in _TICKED.finditer(text)]
    yield from (_command(line) for line in code if any(map(str.isalnum, line)))
    text = _BULLET.sub("", _TICKED.sub(" ", text))
    for url in _URL.findall(text):
        written = url.rstrip(_EDGES + ",;)*_")
        yield Identifier(Kind.ADDRESS, written, searchable(written))
    text = _URL.sub(" ", text)
    folded = fold(text)
    dates = [date for date in written_dates(folded) if not _is_in_a_name(folded, date.start, date.end)]
    yield from (_date(folded[date.start : date.end], date.days) for date in dates)
    edges = [0, *(edge for date in dates for edge in (date.start, date.end)), len(folded)]
    plain = " ".join(folded[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True))
    for phrase, value in spelt_numbers(plain):
        yield Identifier(Kind.NUMBER, phrase, phrase, values=frozenset({str(value)}))
    yield from filter(None, map(_token, _tokens(plain)))
    for token in _tokens(text):
        if _INNER_CAPITAL.match(token) and token.isalpha() and fold(token) not in STOP_WORDS:
            yield Identifier(Kind.WORD, token, searchable(token))


def _is_in_a_name(text: str, start: int, end: int) -> bool:
    """True if what stands there is part of a name, as in `2026-11-30_beach.tif` or `logs/2026-11-30`."""
    return text[end : end + 1] in _IN_NAMES or text[max(0, start - 1) : start] in _IN_NAMES


def _date(spelt: str, days: frozenset[Day]) -> Identifier:
    """A date; one as `3.11.` may also be a number that ends a sentence."""
    figure = spelt.rstrip(".")
    values = readings(figure) if _NUMBER.fullmatch(figure) else frozenset[str]()
    return Identifier(Kind.DATE, figure, figure, values=values, days=days)


def _tokens(text: str) -> Iterator[str]:
    """What stands between white space, brackets and quotes, without marks around it."""
    for match in _TOKEN.finditer(text):
        token = match.group().strip(_EDGES)
        if token.startswith("_") and token.endswith("_"):
            token = token.strip("_")
        if any(map(str.isalnum, token)):
            yield token


def _token(token: str) -> Identifier | None:
    """Given a folded token, return what it identifies, if anything."""
    figure = token.removeprefix("v")
    measured = _MEASURED.fullmatch(token)
    if _NUMBER.fullmatch(token):
        values = readings(figure) if figure == token else frozenset[str]()
        return Identifier(Kind.NUMBER, token, figure, values=values)
    if measured:
        return Identifier(Kind.NUMBER, token, token, values=readings(measured.group(1)))
    if "@" in token or (_is_host(token) and token not in _ABBREVIATIONS):
        return Identifier(Kind.ADDRESS, token, token)
    if _is_odd(token):
        return Identifier(Kind.WORD, token, token)
    return Identifier(Kind.COMPOUND, token, token) if _COMPOUND.fullmatch(token) else None


def _is_odd(token: str) -> bool:
    """True for a word that nobody finds by chance: an option, a digit, `_`, `/` or an inner dot."""
    if _OPTION.fullmatch(token):
        return True
    if token in _ABBREVIATIONS or all(part in STOP_WORDS for part in token.split("/")):
        return False
    return (
        any(map(str.isdigit, token)) or any(map(token.__contains__, "_/\\")) or bool(_INNER_DOT.search(token))
    )


def _is_host(token: str) -> bool:
    return _HOST.fullmatch(token) is not None and token.rpartition(".")[2] not in _FILE_ENDINGS


def _command(text: str) -> Identifier:
    """What stands in code: a command where it has several words, else a word to be taken whole."""
    written = fold_space(text)
    key = searchable(written)
    if " " in key:
        return Identifier(Kind.COMMAND, written, key)
    if _URL.match(key) or _is_host(key):
        return Identifier(Kind.ADDRESS, written, key)
    return Identifier(Kind.WORD, written, key)
