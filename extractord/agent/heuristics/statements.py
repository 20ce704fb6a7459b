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


def statements(said: Said, languages: Sequence[Language]) -> Iterator[Statement]:
    """Given what a person said, yield each statement in it, in order."""
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
                    yield from _stated(said, before, other, asked=True, sets_task=False)
            before = None
            continue
        if count_words(sentence) < _LEAST_SENTENCE_WORDS:
            continue
        found: list[Statement] = []
        for candidate in languages:
            if candidate.script.search(sentence):
                found = list(_stated(said, sentence, candidate, asked=False, sets_task=sets_task))
                if found or candidate.code in {"ja", "zh"}:
                    break
        yield from found
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
    against = language.against_asked if explicit else language.against
    if against.search(fact if explicit else bare):
        return
    fact = language.lead.sub("", fact)
    parts = [part for part in (part.strip() for part in language.clauses.split(fact) if part) if part]
    in_task = sets_task and not explicit
    kinds = [_kind(part, language, in_task=in_task) for part in parts]
    if Kind.ENDED in kinds:
        kinds = [kind or Kind.CUSTOM for kind in kinds]
    if not all(kinds):
        parts, kinds = [fact], [_kind(fact, language, in_task=in_task)]
    for part, kind in zip(parts, kinds, strict=True):
        if kind is None and not (asked or explicit):
            continue
        if kind is not Kind.DEADLINE and language.passing.search(language.lasting.sub(" ", part)):
            continue
        statement = _taken_apart(Statement(said, sentence, part, kind, language))
        if count_words(statement.fact) >= _LEAST_WORDS:
            yield statement


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
