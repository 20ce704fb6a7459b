"""Finds what a person states for later: asked to be remembered, or plainly meant to last."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from math import ceil

import msgspec
from msgspec import Struct

from extractord.agent.heuristics.reading import Said
from extractord.agent.heuristics.sentences import ITEM, sentences
from extractord.agent.languages.language import Kind, Language
from extractord.core.words import count_words

_END_MARKS = " \t\n.!\u3002\uff01\uff0e"
_QUESTION_MARKS = "?\uff1f"
_HEADING_MARKS = (":", "\uff1a")
_LEAST_WORDS = 2
_LEAST_SENTENCE_WORDS = 3
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_CHARACTERS_A_WORD = 2
_QUERY = re.compile(r"(?<=\w)\?[\w=&%.,;+~/#-]+")
"""The query of an address: its mark asks nothing."""
_SENTENCES = 8
"""An entry of more sentences is taken for a task."""


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


class _Standing(Struct, frozen=True):
    """How a sentence stands among the others of its entry."""

    asked: bool = False
    """To be remembered."""
    sets_task: bool = False
    corrects: bool = False
    """It puts right what was said before."""


def takes_back(said: Said, languages: Sequence[Language]) -> bool:
    """True if what a person said begins with a wish that what was said before is not remembered."""
    first = next(sentences(said.text), "")
    return any(language.unsaid.search(first) for language in languages if language.script.search(first))


def statements(said: Said, languages: Sequence[Language]) -> list[Statement]:
    """Given what a person said, return each statement in it, in order."""
    found: list[Statement] = []
    last = ""
    for sentence, stated in _each(said, languages):
        if any(
            language.unsaid.search(sentence) for language in languages if language.script.search(sentence)
        ):
            found = [each for each in found if each.quote != last]
        found += stated
        last = sentence
    return found


def _each(said: Said, languages: Sequence[Language]) -> Iterator[tuple[str, list[Statement]]]:
    before: str | None = None
    found_sentences = list(sentences(said.text))
    sets_task = len(found_sentences) > _SENTENCES or any(
        language.task.search(sentence.rstrip(_END_MARKS))
        for sentence in found_sentences
        for language in languages
    )
    announced = corrects = False
    for sentence in found_sentences:
        language = _language(sentence, languages)
        bare = sentence.rstrip(_END_MARKS + _QUESTION_MARKS)
        if any(other.refers_back.search(bare) for other in languages):
            if before is not None:
                other = _language(before, languages)
                if other is not None:
                    yield before, list(_stated(said, before, other, _Standing(asked=True)))
            before = None
            continue
        if sentence.endswith(_HEADING_MARKS):
            announced = any(other.announces.search(sentence) for other in languages)
            yield sentence, []
            continue
        announced = announced and _is_item(sentence, said.text)
        corrects = corrects or any(other.contradicts.search(sentence) for other in languages)
        if not _says_enough(sentence, _LEAST_SENTENCE_WORDS):
            yield sentence, []
            continue
        standing = _Standing(
            asked=announced, sets_task=sets_task and not announced, corrects=corrects and not announced
        )
        found: list[Statement] = []
        for candidate in languages:
            if candidate.script.search(sentence):
                found = list(_stated(said, sentence, candidate, standing))
                if found or candidate.code in {"ja", "zh"}:
                    break
        yield sentence, found
        before = None if found or language is None else sentence
        corrects = False if found else any(other.contradicts.search(sentence) for other in languages)


def _says_enough(words: str, least: int) -> bool:
    """True if there are so many words; in a script without spaces, so many characters as they have."""
    unspaced = len(_UNSPACED.findall(words))
    spaced = count_words(_UNSPACED.sub(" ", words))
    return count_words(words) >= least or spaced + ceil(unspaced / _CHARACTERS_A_WORD) >= least


def _is_item(sentence: str, text: str) -> bool:
    """True if a sentence begins an item of a list."""
    return re.search(rf"^\s*{ITEM.pattern}{re.escape(sentence)}", text, re.MULTILINE) is not None


def _language(sentence: str, languages: Sequence[Language]) -> Language | None:
    """The language whose script the sentence has; of those, the one most of whose small words it has."""
    own = [language for language in languages if language.script.search(sentence)]
    if not own:
        return None
    if own[0].code in {"ja", "zh"}:
        return own[0]
    words = re.findall(r"[^\W\d_]+", sentence.lower())
    return max(own, key=lambda language: sum(word in language.small_words for word in words))


def _stated(said: Said, sentence: str, language: Language, standing: _Standing) -> Iterator[Statement]:
    """The statements of one sentence; none where anything speaks against it."""
    bare = sentence.strip().rstrip(_END_MARKS)
    fact = language.lead.sub("", bare)
    explicit = False
    for pattern in (*language.asked, *language.asked_after):
        found = pattern.fullmatch(fact.rstrip(_QUESTION_MARKS + _END_MARKS))
        if found:
            fact, explicit = found["fact"].strip(), True
            break
    if explicit and bare.endswith(tuple(_QUESTION_MARKS)) and not language.polite.search(bare):
        return
    against = language.against_asked if explicit else language.against
    if against.search(_QUERY.sub("", fact if explicit else bare)):
        return
    fact = language.lead.sub("", fact)
    lasting = standing.asked or explicit
    for part, kind in _parts(fact, language, standing, explicit=explicit):
        if kind is None and not lasting:
            continue
        if (
            kind is not Kind.DEADLINE
            and not lasting
            and language.passing.search(language.lasting.sub(" ", part))
        ):
            continue
        statement = _taken_apart(Statement(said, sentence, part, kind, language))
        if _says_enough(statement.fact, _LEAST_WORDS):
            yield statement


def _parts(
    fact: str, language: Language, standing: _Standing, *, explicit: bool
) -> list[tuple[str, Kind | None]]:
    """The parts of a fact that are statements by themselves, else the whole of it, each with its kind.

    Where something speaks against a part, or a part says that something ended, only parts that are
    statements count; what is said beside an end puts it right.
    """
    parts = [part for part in (part.strip() for part in language.clauses.split(fact) if part) if part]
    in_part = not explicit and language.against_part.search(fact) is not None
    if in_part:
        parts = [part for part in parts if not language.against_part.search(part)] if len(parts) > 1 else []
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


def _kind(fact: str, language: Language, standing: _Standing) -> Kind | None:
    """The kind of a fact; a rule with its reason is none of a task's conditions."""
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
    if found and found.start() > 0:
        how, ending = found["how"].strip(), ending[: found.start()].strip()
    fact, why = (fact, ending) if why else (ending, "")
    return Statement(
        statement.said, statement.quote, fact.strip(" ,;:"), statement.kind, statement.language, why, how
    )
