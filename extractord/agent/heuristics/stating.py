"""What one sentence states: its facts, each with its kind, its reason and what to do about it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import ceil

import msgspec
from msgspec import Struct

from extractord.agent.heuristics.reading import Said
from extractord.agent.languages.language import Kind, Language
from extractord.core.reading_words import read_words
from extractord.core.words import count_words

END_MARKS = " \t\n.!\u3002\uff01\uff0e"
QUESTION_MARKS = "?\uff1f"
_LEAST_WORDS = 2
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_CHARACTERS_A_WORD = 2
_SURE = frozenset((Kind.PERSON, Kind.PLACE, Kind.ENDED))
"""Kinds whose signs are so plain that a sentence's weight does not matter."""
_HOW_THINGS_ARE = frozenset((Kind.PERSON, Kind.PLACE, Kind.CUSTOM))
_OF_US = frozenset(("#we", "#i"))
_ASIDE = re.compile(r",\s|;\s|\s[-\u2013\u2014]\s|[\u3001\uff0c]")
_QUOTED = re.compile(r"\"[^\"\s]+\s[^\"\s]+\s[^\"]+\"|\u201c[^\u201d\s]+\s[^\u201d\s]+\s[^\u201d]+\u201d")
"""Three words or more, which say nothing of the sentence that they stand in."""
_QUERY = re.compile(r"(?<=\w)\?[\w=&%.,;+~/#-]+")
"""The query of an address: its mark asks nothing."""


class Statement(Struct, frozen=True):
    """Something that a person said to be kept, in that person's words."""

    said: Said
    quote: str
    """The whole sentence, verbatim."""
    fact: str
    kind: Kind | None
    """None where it was asked to be remembered and is none of the known kinds."""
    language: Language
    why: str = ""
    how: str = ""


class Standing(Struct, frozen=True):
    """How a sentence stands among the others of its entry."""

    asked: bool = False
    """To be remembered."""
    sets_task: bool = False
    """It or another one."""
    beside_task: bool = False
    """Another one sets a task."""
    corrects: bool = False
    """It puts right what was said before."""
    clear: bool = False
    """It reads so much like a statement that it needs no sign."""
    sure: bool = False
    """So much that it is one even where it sounds like a task, or of the moment."""
    doubtful: bool = False
    """It reads so little like one that no sign will do."""


def says_enough(words: str, least: int) -> bool:
    """True if there are so many words; in a script without spaces, so many characters as they have."""
    unspaced = len(_UNSPACED.findall(words))
    spaced = count_words(_UNSPACED.sub(" ", words))
    return count_words(words) >= least or spaced + ceil(unspaced / _CHARACTERS_A_WORD) >= least


def stated(said: Said, sentence: str, language: Language, standing: Standing) -> Iterator[Statement]:
    """Given a sentence and how it stands, yield its statements; none where anything speaks against it."""
    bare = sentence.strip().rstrip(END_MARKS)
    fact, explicit = _asked(bare, language)
    if explicit and bare.endswith(tuple(QUESTION_MARKS)) and not language.polite.search(bare):
        return
    against = language.against_asked if explicit else language.against
    if against.search(_QUERY.sub("", fact if explicit else bare)):
        return
    fact = language.lead.sub("", fact)
    lasting = standing.asked or explicit
    parts = _parts(fact, language, standing, explicit=explicit)
    if (
        standing.clear
        and not lasting
        and not any(kind for _, kind in parts)
        and (standing.sure or not needs_sign(bare, language))
    ):
        parts = [(fact, _likely(fact, language))]
    for part, kind in parts:
        if not lasting and (kind is None or (standing.doubtful and kind not in _SURE)):
            continue
        if not (kind is Kind.DEADLINE or lasting or standing.sure) and _passes(part, language):
            continue
        statement = _taken_apart(Statement(said, sentence, part, kind, language))
        if says_enough(statement.fact, _LEAST_WORDS):
            yield statement


def needs_sign(sentence: str, language: Language) -> bool:
    """True if anything in the sentence speaks against it, so that it is none for its weight alone."""
    bare = sentence.strip().rstrip(END_MARKS)
    fact = language.lead.sub("", bare)
    speaks_against = (language.against, language.against_part, language.task)
    return any(each.search(said) for each in speaks_against for said in (bare, fact)) or _passes(
        fact, language
    )


def _passes(fact: str, language: Language) -> bool:
    return language.passing.search(language.lasting.sub(" ", fact)) is not None


def _asked(bare: str, language: Language) -> tuple[str, bool]:
    """The fact that a sentence asks to remember, and True; else all of it, and False."""
    fact = language.lead.sub("", bare)
    for pattern in (*language.asked, *language.asked_after):
        found = pattern.fullmatch(fact.rstrip(QUESTION_MARKS + END_MARKS))
        if found:
            return found["fact"].strip(), True
    return fact, False


def _parts(
    fact: str, language: Language, standing: Standing, *, explicit: bool
) -> list[tuple[str, Kind | None]]:
    """The parts of a fact that are statements by themselves, else the whole of it, each with its kind.

    Where something speaks against a part, or a part says that something ended, only parts that are
    statements count; what is said beside an end puts it right.
    """
    parts = _clauses(fact, language)
    in_part = not explicit and not standing.sure and language.against_part.search(fact) is not None
    if in_part and len(parts) == 1:
        return _headed(fact, language, standing)
    if in_part:
        parts = [part for part in parts if not language.against_part.search(part)]
    standing = msgspec.structs.replace(standing, sets_task=standing.sets_task and not explicit)
    found = [(part, _kind(part, language, standing)) for part in parts]
    if any(kind is Kind.ENDED for _, kind in found):
        standing = msgspec.structs.replace(standing, corrects=True)
        found = [(part, kind or _kind(part, language, standing)) for part, kind in found]
        return [(part, kind) for part, kind in found if kind]
    if in_part:
        return [(part, kind) for part, kind in found if kind]
    if all(kind for _, kind in found):
        return found
    return [(fact, _kind(fact, language, standing))]


def _headed(fact: str, language: Language, standing: Standing) -> list[tuple[str, Kind | None]]:
    """What a fact says of us before its first comma, where only the rest is none."""
    head, *rest = _ASIDE.split(fact, maxsplit=1)
    spoken = head if _UNSPACED.search(head) else re.findall(r"[\w'\u2019]+", head.lower())
    speaks_of_us = any(tag in _OF_US and word in spoken for word, tag in language.tags.items())
    if not rest or not speaks_of_us or language.against_part.search(head):
        return []
    kind = _kind(head, language, standing)
    return [(head.strip(), kind)] if kind in _HOW_THINGS_ARE else []


def _clauses(fact: str, language: Language) -> list[str]:
    """The clauses of a fact; what a mere comma parts from a denial is its other half, or its reason."""
    clauses: list[str] = []
    at = 0
    for end in language.clauses.finditer(fact):
        clause = fact[at : end.start()]
        if end[0].strip() in _COMMAS and language.negative.search(clause) and not _ends(clause, language):
            continue
        clauses.append(clause)
        at = end.end()
    return [clause for clause in map(str.strip, [*clauses, fact[at:]]) if clause]


_COMMAS = frozenset(",\uff0c\u3001")


def _ends(clause: str, language: Language) -> bool:
    return any(sign.kind is Kind.ENDED and sign.pattern.search(clause) for sign in language.signs)


def _kind(fact: str, language: Language, standing: Standing) -> Kind | None:
    """The kind of a fact; a rule with its reason is none of a task's conditions."""
    fact = _QUOTED.sub('""', fact)
    in_task = standing.sets_task and not any(reason.fullmatch(fact) for reason in language.reasons)
    kind = next(
        (
            sign.kind
            for sign in language.signs
            if not (in_task and sign.impersonal)
            and not (sign.corrects and not standing.corrects)
            and sign.pattern.search(fact)
        ),
        None,
    )
    ending = language.how.search(fact) if kind is Kind.ENDED else None
    return (_kind(fact[: ending.start()], language, standing) if ending else None) or kind


def _likely(fact: str, language: Language) -> Kind:
    """The kind of a fact that has no sign of any."""
    about_agent = language.about_agent.search(fact) is not None
    if language.first_person.search(fact):
        return Kind.WISH if about_agent else Kind.PERSON
    return Kind.LASTING if about_agent else Kind.CUSTOM


def _taken_apart(statement: Statement) -> Statement:
    """The statement with its reason, and what to do with it, as parts of their own."""
    fact, why, how = statement.fact, "", ""
    for reason in statement.language.reasons:
        found = reason.fullmatch(fact)
        if found:
            fact, why = found["fact"].strip(), found["why"].strip()
            break
    ending = why or fact
    found = statement.language.how.search(ending)
    head = ending[: found.start()].strip() if found else ""
    if found and read_words(head).content and (why or not statement.language.condition.search(head)):
        how, ending = found["how"].strip(), head
    fact, why = (fact, ending) if why else (ending, "")
    return Statement(
        statement.said, statement.quote, fact.strip(" ,;:"), statement.kind, statement.language, why, how
    )
