"""What secrets look like: patterns of current formats, linear in time, found by their own words."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from string import ascii_lowercase, ascii_uppercase

from extractord.policy.assigned import ASSIGNED
from extractord.policy.characters import DIACRITIC_RANGES, IGNORABLE_RANGES, character_class
from extractord.policy.credentials import SHAPES, Shape
from extractord.policy.drawn import find_drawn
from extractord.policy.folded import Folded, replace
from extractord.policy.split import find_split
from extractord.policy.told import TOLD

_COMPATIBLE_RANGES = (
    (0x00AA, 0x00BA),
    (0x017F, 0x017F),
    (0x02B0, 0x02E4),
    (0x1D2C, 0x1DBF),
    (0x2024, 0x2026),
    (0x2070, 0x209C),
    (0x2100, 0x218B),
    (0x2460, 0x24FF),
    (0x3000, 0x3000),
    (0x3200, 0x33FF),
    (0xFB00, 0xFB06),
    (0xFE4D, 0xFE6F),
    (0xFF01, 0xFFEF),
    (0x1D400, 0x1D7FF),
    (0x1F100, 0x1F1FF),
)
"""Where NFKC makes ASCII of something else."""

_DISGUISE = re.compile(f"[{character_class(IGNORABLE_RANGES + DIACRITIC_RANGES + _COMPATIBLE_RANGES)}]")
_HIDDEN = re.compile(f"[{character_class(IGNORABLE_RANGES + DIACRITIC_RANGES)}]")
_BREAK = re.compile(r"[ \t]{0,8}\\?\r?\n[ \t>]*")
_ASCII_LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)
_ALL = SHAPES + ASSIGNED + TOLD
_ONE_WORD = tuple(shape for shape in SHAPES if shape.is_one_word)
_BLOCK_CHARS = 16 * 1024
_LINE_CHARS = 64


@dataclass(frozen=True, slots=True)
class Hit:
    """A secret in a text: which rule found it, and where, as offsets of the text given."""

    rule: str
    start: int
    end: int


def fold(text: str) -> str:
    """Given a text, return it as patterns read it: ignorables and diacritics gone, NFKC.

    Character by character, so that no run of marks costs more than its length.
    """
    return text if text.isascii() else _DISGUISE.sub(_unmasked, text)


def _unmasked(match: re.Match[str]) -> str:
    char = match[0]
    return "" if _HIDDEN.match(char) else unicodedata.normalize("NFKC", char)


def find_secrets(text: str) -> tuple[Hit, ...]:
    """Given any text, return the secrets in it, in order and without overlaps.

    Looked for as written, with what is invisible or look-alike undone, across line breaks, and
    (tokens that are known by their beginning) taken apart; also what looks drawn at random.
    """
    unmasked = Folded(text) if text.isascii() else replace(text, _DISGUISE, _unmasked)
    seen = unmasked.text
    found = _search(seen, _ALL)
    if "\n" in seen:
        found += _across_lines(seen)
    found += [("random-token", start, end) for start, end in find_drawn(seen)]
    whole = _without_overlaps([Hit(*hit) for hit in found])
    found += [hit for hit in find_split(seen) if not _stands_in(whole, hit[1])]
    return _without_overlaps(
        [Hit(rule, unmasked.origin(start), unmasked.origin(end - 1) + 1) for rule, start, end in found]
    )


def _across_lines(text: str) -> list[tuple[str, int, int]]:
    """Given a text, return rule, start and end of each secret that a line break cuts."""
    joined = replace(text, _BREAK, lambda _break: "")
    spans = [
        (rule, joined.origin(start), joined.origin(end - 1) + 1, end - start)
        for rule, start, end in _search(joined.text, _ONE_WORD)
    ]
    return [(rule, start, end) for rule, start, end, length in spans if end - start != length]


def _search(text: str, shapes: tuple[Shape, ...]) -> list[tuple[str, int, int]]:
    """Given a text, return rule, start and end of each match; shapes without their word cost nothing."""
    lowered = text.lower()
    if len(lowered) != len(text):  # a letter that is two in lower case: offsets would be off
        lowered = text.translate(_ASCII_LOWER)
    found = []
    for shape in shapes:
        read = lowered if shape.any_case else text
        for word in shape.words:
            if word in read:
                break
        else:
            continue  # nearly all, and in most texts: nothing is made for them
        for match in _matches(shape, read):
            group = "value" if "value" in shape.pattern.groupindex else 0
            start, end = match.span(group)
            if shape.spares is None or not shape.spares(text[start:end]):
                found.append((shape.rule, start, _end(shape, text, end)))
    return found


def _matches(shape: Shape, text: str) -> Iterator[re.Match[str]]:
    """Given a text in which a word of the shape stands, yield its matches.

    Where a match begins with its word, only the places of the word are tried.
    """
    if not shape.begins:
        yield from shape.pattern.finditer(text)
        return
    for word in shape.words:
        at = text.find(word)
        while at >= 0:
            match = shape.pattern.match(text, at)
            if match is not None:
                yield match
            at = text.find(word, match.end() if match else at + 1)


def _end(shape: Shape, text: str, end: int) -> int:
    """Given where a match ends, return where its secret does."""
    last = text.find("-----END ", end, end + _BLOCK_CHARS) if shape.until else -1
    closing = text.find(shape.until, last, last + _LINE_CHARS) if last >= 0 else -1
    return end if closing < 0 else min(len(text), closing + len(shape.until) + len("-----"))


def _stands_in(hits: tuple[Hit, ...], at: int) -> bool:
    """True if one of the hits, in order and apart, holds the place."""
    before = bisect_right(hits, at, key=lambda hit: hit.start)
    return before > 0 and at < hits[before - 1].end


def _without_overlaps(hits: list[Hit]) -> tuple[Hit, ...]:
    """Given hits, return them in order, those that touch each other as one."""
    merged: list[Hit] = []
    for hit in sorted(hits, key=lambda hit: (hit.start, -hit.end)):
        if merged and hit.start < merged[-1].end:
            last = merged[-1]
            merged[-1] = Hit(last.rule, last.start, max(last.end, hit.end))
        else:
            merged.append(hit)
    return tuple(merged)
