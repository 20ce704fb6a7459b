"""The rules about the characters of a segment: only names that are written in one way."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from string import ascii_letters, digits

from extractord.policy.cases import read, remove, write
from extractord.policy.characters import is_mark, is_word_character, named, script, shown
from extractord.policy.rules import Rule, each_segment

_ASCII = frozenset(ascii_letters + digits + "-_.+,@() ")
_MARKS_IN_A_ROW = 3
_TOGETHER = frozenset({"LATIN", "CJK"})


def is_path_character(char: str) -> bool:
    """True for a character that may stand in a segment."""
    return char in _ASCII if char.isascii() else is_word_character(char)


def _dots(segment: str) -> str | None:
    return f"The segment {shown(segment)} stands for no name" if segment in {"", ".", ".."} else None


def _character(segment: str) -> str | None:
    if all(map(is_word_character, set(segment) - _ASCII)):  # none of ASCII's others is one
        return None
    for char in segment:
        if not is_path_character(char):
            return f"{named(char)} in {shown(segment)}"
    return None


def _border(segment: str) -> str | None:
    if segment[:1] in {"-", " "} or (segment and is_mark(segment[0])):
        return f"{shown(segment)} begins with {named(segment[0])}"
    if segment not in {".", ".."} and segment[-1:] in {".", " "}:
        return f"{shown(segment)} ends with {named(segment[-1])}"
    return None


def _hidden(segment: str) -> str | None:
    hides = segment.startswith(".") and segment not in {".", ".."}
    return f"{shown(segment)} begins with {named('.')}" if hides else None


def _normal_form(segment: str) -> str | None:
    if segment.isascii() or unicodedata.is_normalized("NFKC", segment):
        return None
    normal = unicodedata.normalize("NFKC", segment)
    odd = next((old for old, new in zip(segment, normal, strict=False) if old != new), segment[-1])
    return f"{named(odd)} in {shown(segment)} is not in normal form (NFKC)"


def _marks(segment: str) -> str | None:
    if segment.isascii() or not any(map(is_mark, set(segment))):
        return None
    row = 0
    for char in segment:
        row = row + 1 if is_mark(char) else 0
        if row > _MARKS_IN_A_ROW:
            return f"{named(char)} in {shown(segment)} is one of more than {_MARKS_IN_A_ROW} marks in a row"
    return None


def _has_one_script(segment: str) -> bool:
    """True where not even all words together have two scripts: most names, told by their letters.

    The ending is a word of its own, which the dot parts from the rest.
    """
    scripts = set(map(_script_of_word, set(segment.removesuffix(".md")))) - {None}
    return len(scripts) <= 1 or scripts == _TOGETHER


@lru_cache(maxsize=4096)
def _script_of_word(char: str) -> str | None:
    return script(char) if is_word_character(char) else None


def _script(segment: str) -> str | None:
    if segment.isascii() or _has_one_script(segment):
        return None
    first: str | None = None
    for char in segment:
        if not is_word_character(char):
            first = None
            continue
        own = script(char)
        if own is None:
            continue
        if first is not None and own != first and {own, first} != _TOGETHER:
            return (
                f"{named(char)} in {shown(segment)} is {own.title()} in a word that began in {first.title()}"
            )
        first = first or own
    return None


SEGMENT_RULES = (
    Rule(
        name="segments",
        threat="`..` and other spellings of somewhere else",
        sentence="Name each folder once: no `.`, `..`, double or trailing `/`.",
        find=each_segment(_dots),
        allows=(write("sub/x.md"), write("a..b.md")),
        denies=(
            write("../x.md"),
            write("sub/../x.md"),
            write("./x.md"),
            write("a//x.md"),
            write("x.md/"),
            read("x.md/."),
            remove("../user/x.md"),
        ),
    ),
    Rule(
        name="characters",
        threat="streams, globs, expansion, quotes, controls, bidi, tags, invisible characters",
        sentence="Use only letters, digits, spaces and - _ . + , @ ( ).",
        find=each_segment(_character),
        allows=(write("C++ tips (draft), v1.2.md"), write("me@work.md"), write("\u65e5\u672c\u8a9e.md")),
        denies=(
            write("a\u202eb.md"),
            write("a\u200bb.md"),
            write("a\u3164b.md"),
            write("a\u034fb.md"),
            write("a\x00b.md"),
            write("a\nb.md"),
            write("a:b.md"),
            write("a\\b.md"),
            write("$HOME.md"),
            write("*.md"),
            write("x%2fy.md"),
            write("a\u00a0b.md"),
            write("\U0001f4dd.md"),
            write("a\ue000b.md"),
        ),
    ),
    Rule(
        name="ends-of-names",
        threat="names that a command reads as an option, or that Windows trims to another name",
        sentence="Begin a name with a letter or digit, and end it without dot or space.",
        find=each_segment(_border),
        allows=(write("a-b.md"), write("a .md")),
        denies=(write("-rf.md"), write(" a.md"), write("sub./x.md"), write("sub /x.md"), write("\u0301a.md")),
    ),
    Rule(
        name="hidden",
        threat="hidden folders, from which tools take their settings",
        sentence="Begin a name with a letter or digit.",
        find=each_segment(_hidden),
        allows=(write("my.git.notes.md"),),
        denies=(write(".git/x.md"), write(".claude/x.md"), write(".hidden.md"), remove(".github/x.md")),
    ),
    Rule(
        name="normal-form",
        threat="two spellings of one name",
        sentence="Write the name in its usual letters.",
        find=each_segment(_normal_form),
        allows=(write("caf\u00e9.md"), write("\ud55c\uad6d\uc5b4.md")),
        denies=(
            write("cafe\u0301.md"),
            write("\uff33kills.md"),
            write("x\u00b2.md"),
            write("\ufb00.md"),
            write("hoo\u212as.md"),
        ),
    ),
    Rule(
        name="marks",
        threat="names that hide under piled-up marks",
        sentence="Write the name without them.",
        find=each_segment(_marks),
        allows=(write("\u0939\u093f\u0928\u094d\u0926\u0940.md"),),
        denies=(write("q\u0323\u0307\u0301\u0300.md"),),
    ),
    Rule(
        name="one-script",
        threat="look-alike names",
        sentence="Write each word in one script; Latin may stand beside Chinese, Japanese and Korean.",
        find=each_segment(_script),
        allows=(
            write("API \u0437\u0430\u043c\u0435\u0442\u043a\u0438.md"),
            write("API\u8a2d\u8a08.md"),
            write("\u0444\u0430\u0439\u043b2.md"),
        ),
        denies=(
            write("n\u043etes.md"),
            write("\u0421LAUDE.md"),
            write("a1\u043e.md"),
            write("\u65e5\u0430a.md"),
        ),
    ),
)
