"""Finds what a person states for later: asked to be remembered, or plainly meant to last."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import islice
from operator import itemgetter

import msgspec

from extractord.agent.heuristics import weighing
from extractord.agent.heuristics.reading import Said
from extractord.agent.heuristics.sentences import ITEM, SENTENCE_CHARACTERS, parts, sentences
from extractord.agent.heuristics.stating import (
    END_MARKS,
    QUESTION_MARKS,
    Standing,
    Statement,
    says_enough,
    stated,
)
from extractord.agent.languages.language import Language
from extractord.core.copied import LEFT_OUT
from extractord.core.reading_words import read_words

_SPEAKER = re.compile(
    r"\s*(?P<who>[^\W\d_a-z][\w'\u2019-]{1,20}(?: [^\W\d_a-z][\w'\u2019-]{1,20}){0,2}): +\S"
)
_NAMES = re.compile(r"(?<!\S)[^\s\d_/@#`]*[\d_/@#`]\S*")
"""Paths, channels, versions: their words are of no language."""
_HEADING_MARKS = (":", "\uff1a")
_LEAST_WORDS = 3
_SENTENCES = 8
"""An entry of more sentences is taken for a task."""
_BEGINNING = 2
_DOUBTFUL = -1.0
"""A sentence that weighs less is no statement, whatever signs it has, unless it asks to be remembered."""
_READ = 1000
"""Of an entry's sentences the last so many are read: a person types no more."""

_SCALES = weighing.load()
"""Read before a child is forked, as the languages are."""


def takes_back(said: Said, languages: Sequence[Language]) -> bool:
    """True if what a person said begins with whose words the last ones were, or that they do not count."""
    written = _written(said, languages)
    return any(
        _unsays(sentence, written) or _names_source(sentence, written)
        for sentence in islice(sentences(said.text), _BEGINNING)
    )


def _written(said: Said, languages: Sequence[Language]) -> tuple[Language, ...]:
    """The languages in whose script anything is said."""
    return tuple(each for each in languages if each.script.search(said.text))


def statements(said: Said, languages: Sequence[Language]) -> list[Statement]:
    """Given what a person said, return each statement in it, in order.

    One that another one says, and more, is left out.
    """
    found: list[Statement] = []
    last = ""
    written = _written(said, languages)
    for sentence, new in _each(said, written):
        if _unsays(sentence, written):
            found = [each for each in found if each.quote != last]
        found += new
        last = sentence
    said_so = [read_words(each.fact).content for each in found]
    return [
        each for each, own in zip(found, said_so, strict=True) if not any(own < other for other in said_so)
    ]


def _each(said: Said, languages: Sequence[Language]) -> Iterator[tuple[str, list[Statement]]]:
    """Each sentence that is the person's own, with what it states."""
    before: str | None = None
    own = deque(_own(said, languages), maxlen=_READ)
    are_many = len(own) > _SENTENCES
    tasks = [
        sentence
        for sentence in own
        if any(language.task.search(sentence.rstrip(END_MARKS)) for language in languages)
    ]
    announced = corrects = False
    for sentence in own:
        bare = sentence.rstrip(END_MARKS + QUESTION_MARKS)
        if any(language.refers_back.search(bare) for language in languages):
            if before:
                yield before, _in_one_language(said, before, languages, Standing(asked=True))
            before = None
            continue
        if sentence.endswith(_HEADING_MARKS):
            announced = any(language.announces.search(sentence) for language in languages)
            yield sentence, []
            continue
        announced = announced and _is_item(sentence, said.text)
        contradicts = any(language.contradicts.search(sentence) for language in languages)
        corrects = corrects or contradicts
        if not says_enough(sentence, _LEAST_WORDS):
            yield sentence, []
            before = sentence
            continue
        standing = Standing(
            asked=announced,
            sets_task=(are_many or bool(tasks)) and not announced,
            beside_task=are_many or any(task != sentence for task in tasks),
            corrects=corrects and not announced,
        )
        found = _in_one_language(said, sentence, languages, standing)
        yield sentence, found
        before = None if found else sentence
        corrects = contradicts and not found


def _own(said: Said, languages: Sequence[Language]) -> Iterator[str]:
    """The sentences of an entry that the person says themselves.

    Not what a sentence hands over: the text of somebody else's right below it, else all that follows.
    Nor, where a sentence says whose words they were, what stands before it.
    """
    own: list[str] = []
    handed = just_handed = follows = False
    for part in parts(_without_speakers(said.text, languages)):
        if part is None:
            handed = handed and not just_handed
        elif not handed and _names_source(part, languages):
            handed = not follows or part.rstrip().endswith(_HEADING_MARKS)
            own = own if handed else []
        elif not handed:
            handed = any(language.hands_over.search(part) for language in languages)
            own += [] if handed else [part]
        just_handed = part is not None and handed and not just_handed
        follows = True
    yield from own


def _names_source(sentence: str, languages: Sequence[Language]) -> bool:
    return any(language.names_source.search(sentence) for language in languages)


def _without_speakers(text: str, languages: Sequence[Language]) -> str:
    """A text without the lines that begin with who says them."""
    return "\n".join(LEFT_OUT if _is_anothers(line, languages) else line for line in text.split("\n"))


def _is_anothers(line: str, languages: Sequence[Language]) -> bool:
    """True if a line begins with a name, and not with what it is about."""
    line = line[:SENTENCE_CHARACTERS]
    found = _SPEAKER.match(line)
    return (
        found is not None
        and found["who"][0].isupper()
        and not any(
            language.lead.match(line)
            or any(asked.match(line) for asked in language.asked)
            or language.topics.search(found["who"])
            or _is_topic(found["who"], language)
            for language in languages
        )
    )


def _is_topic(words: str, language: Language) -> bool:
    return any(word in language.tags for word in words.lower().split())


def _in_one_language(
    said: Said, sentence: str, languages: Sequence[Language], standing: Standing
) -> list[Statement]:
    """What the sentence states in its own language, else in the first in which it states anything."""
    own = language_of(sentence, languages)
    if own is not None:
        weight = _SCALES.weigh(own.lead.sub("", sentence.strip()), own)
        is_aside = _is_aside(sentence, own)
        sure = _SCALES.is_sure(weight, own) and (is_aside or not standing.beside_task)
        clear = sure or (_SCALES.is_clear(weight, own) and (is_aside or not standing.sets_task))
        standing = msgspec.structs.replace(standing, clear=clear, sure=sure, doubtful=weight < _DOUBTFUL)
        found = list(stated(said, sentence, own, standing))
        if found or own.code in weighing.UNSPACED:
            return found
        standing = msgspec.structs.replace(standing, clear=False, sure=False)
    for language in languages:
        if language is not own and language.script.search(sentence):
            found = list(stated(said, sentence, language, standing))
            if found:
                return found
    return []


def _is_aside(sentence: str, language: Language) -> bool:
    """True if a sentence beside a task is none of its conditions: it says so, or it is about *us*."""
    if language.lead.match(sentence.strip()):
        return True
    spoken = frozenset(weighing.words(sentence.lower()))
    unspaced = language.code in weighing.UNSPACED
    return any(
        tag == "#we" and (word in sentence if unspaced else word in spoken)
        for word, tag in language.tags.items()
    )


def _unsays(sentence: str, languages: Sequence[Language]) -> bool:
    return any(language.unsaid.search(sentence) for language in languages if language.script.search(sentence))


def _is_item(sentence: str, text: str) -> bool:
    """True if a sentence begins an item of a list."""
    return re.search(rf"^\s*{ITEM.pattern}{re.escape(sentence)}", text, re.MULTILINE) is not None


def language_of(sentence: str, languages: Sequence[Language]) -> Language | None:
    """Given a sentence, return the language whose script it has, and of those, most of whose small words.

    None where it has no such word of any, and there are several.
    """
    own = [language for language in languages if language.script.search(sentence)]
    if not own:
        return None
    if own[0].code in weighing.UNSPACED:
        return own[0]
    words = re.findall(r"[^\W\d_]+", _NAMES.sub(" ", sentence.lower()))
    most, best = max(
        ((sum(word in each.small_words or word in each.tags for word in words), each) for each in own),
        key=itemgetter(0),
    )
    return best if most else None
