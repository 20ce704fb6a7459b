"""Finds what a person states for later: asked to be remembered, or plainly meant to last."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from extractord.agent.heuristics.reading import Said
from extractord.agent.heuristics.sentences import sentences
from extractord.agent.languages.language import Kind, Language
from extractord.core.words import count_words

_END_MARKS = " \t\n.!\u3002\uff01\uff0e"
_QUESTION_MARKS = "?\uff1f"
_LEAST_WORDS = 2
_LEAST_SENTENCE_WORDS = 3
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
    for sentence in found_sentences:
        language = _language(sentence, languages)
        bare = sentence.rstrip(_END_MARKS + _QUESTION_MARKS)
        if any(other.refers_back.search(bare) for other in languages):
            if before is not None:
                other = _language(before, languages)
                if other is not None:
                    yield before, list(_stated(said, before, other, asked=True, sets_task=False))
            before = None
            continue
        if count_words(sentence) < _LEAST_SENTENCE_WORDS:
            yield sentence, []
            continue
        found: list[Statement] = []
        for candidate in languages:
            if candidate.script.search(sentence):
                found = list(_stated(said, sentence, candidate, asked=False, sets_task=sets_task))
                if found or candidate.code in {"ja", "zh"}:
                    break
        yield sentence, found
        before = None if found or language is None else sentence


def _language(sentence: str, languages: Sequence[Language]) -> Language | None:
    """The language whose script the sentence has; of those, the one most of whose small words it has."""
    own = [language for language in languages if language.script.search(sentence)]
    if not own:
        return None
    if own[0].code in {"ja", "zh"}:
        return own[0]
    words = re.findall(r"[^\W\d_]+", sentence.lower())
    return max(own, key=lambda language: sum(word in language.small_words for word in words))


def _stated(
    said: Said, sentence: str, language: Language, *, asked: bool, sets_task: bool
) -> Iterator[Statement]:
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
    if against.search(fact if explicit else bare):
        return
    fact = language.lead.sub("", fact)
    lasting = asked or explicit
    for part, kind in _parts(fact, language, explicit=explicit, sets_task=sets_task):
        if kind is None and not (asked or explicit):
            continue
        if (
            kind is not Kind.DEADLINE
            and not lasting
            and language.passing.search(language.lasting.sub(" ", part))
        ):
            continue
        statement = _taken_apart(Statement(said, sentence, part, kind, language))
        if count_words(statement.fact) >= _LEAST_WORDS:
            yield statement


def _parts(
    fact: str, language: Language, *, explicit: bool, sets_task: bool
) -> list[tuple[str, Kind | None]]:
    """The parts of a fact that are statements by themselves, else the whole of it, each with its kind.

    Where something speaks against a part, or a part says that something ended, only parts that are
    statements count.
    """
    parts = [part for part in (part.strip() for part in language.clauses.split(fact) if part) if part]
    in_part = not explicit and language.against_part.search(fact) is not None
    if in_part:
        parts = [part for part in parts if not language.against_part.search(part)] if len(parts) > 1 else []
    in_task = sets_task and not explicit
    found = [(part, _kind(part, language, in_task=in_task)) for part in parts]
    if in_part or any(kind is Kind.ENDED for _, kind in found):
        return [(part, kind) for part, kind in found if kind]
    if all(kind for _, kind in found):
        return found
    return [(fact, _kind(fact, language, in_task=in_task))]


def _kind(fact: str, language: Language, *, in_task: bool) -> Kind | None:
    return next(
        (
            sign.kind
            for sign in language.signs
            if not (in_task and sign.impersonal) and sign.pattern.search(fact)
        ),
        None,
    )


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
