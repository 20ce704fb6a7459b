"""How much a sentence reads like one to remember: the weights of its words and of their order, added up."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from importlib.resources import files
from itertools import pairwise
from math import sqrt

import msgspec
from msgspec import Struct

from extractord.agent.languages.language import Language

UNSPACED = frozenset({"ja", "zh"})
"""Languages that put no space between words."""
_TOKEN = re.compile(
    r"(?P<name>(?=[\w./@#+:`-]*[\d_./@#`])[\w./@#+:`-]{2,}(?<![.:]))|(?P<unspaced>[\u3040-\u30ff\u3400-\u9fff])"
    r"|(?P<word>[^\W\d_\u3040-\u30ff\u3400-\u9fff]+(?:'[^\W\d_]+)*)|(?P<mark>[^\w\s])"
)
_NUMBER = re.compile(r"[\d.,:]+")
_NAME_IN_SENTENCE, _BEGIN, _END, _PLAIN = "<cap>", "<begin>", "<end>", "~"
_ENDINGS = ("ing", "ed", "ly", "s")
_SHORT = 3
_IN_ORDER = 3
_UNSPACED_IN_ORDER = 4
_LENGTH_STEP, _LENGTHS = 4, 6


class Weights(Struct, frozen=True, kw_only=True):
    """What `scripts/weigh` learnt of sentences that are to be remembered, and of those that are not."""

    of: str
    """What tells the sentences from others."""
    bias: float
    clear: Mapping[str, float]
    """From here on a sentence of a language is taken without any other sign."""
    sure: Mapping[str, float] = {}
    """From here on nothing speaks against it but a question, a what-if, hearsay and their like."""
    known: Mapping[str, str]
    """The words of a language that count as themselves, a space between them."""
    weights: Mapping[str, float]


class Scales(Struct, frozen=True, kw_only=True):
    """Weights ready to be asked."""

    bias: float
    clear: Mapping[str, float]
    sure: Mapping[str, float] = {}
    known: Mapping[str, frozenset[str]]
    weights: Mapping[str, float]

    def weigh(self, sentence: str, language: Language) -> float:
        """Given a sentence and its language, return how much speaks for it; 0 is as much as against."""
        known = self.known.get(language.code, frozenset())
        found = [self.weights[one] for one in features(sentence, language, known) if one in self.weights]
        return self.bias + sum(found) / sqrt(len(found) or 1)

    def is_clear(self, weight: float, language: Language) -> bool:
        """True if a sentence of such a weight needs no other sign."""
        return weight >= self.clear.get(language.code, float("inf"))

    def is_sure(self, weight: float, language: Language) -> bool:
        """True if a sentence of such a weight outweighs what makes others a task or of the moment."""
        return weight >= self.sure.get(language.code, float("inf"))


def load() -> Scales:
    """Return what was learnt, read from the file beside the languages."""
    raw = (files("extractord.agent.languages") / "weights.json").read_bytes()
    learnt = msgspec.json.decode(raw, type=Weights)
    known = {code: frozenset(words.split()) for code, words in learnt.known.items()}
    return Scales(bias=learnt.bias, clear=learnt.clear, sure=learnt.sure, known=known, weights=learnt.weights)


def features(sentence: str, language: Language, known: Container[str]) -> frozenset[str]:
    """Given a sentence, return what is weighed of it: its words and marks, and up to four in a row.

    A word that is not known counts by its form. Words that mean the same in several languages count
    once more by that meaning (`#never`), so that a language has something of the others.
    """
    found = list(words(sentence))
    if language.code in UNSPACED:
        said = set(_in_order([_BEGIN, *map(str.lower, found), _END], _UNSPACED_IN_ORDER, f"{language.code}:"))
        telling = [_BEGIN, *_meant_within(sentence, language.tags), _END]
        said |= {*telling}
    else:
        first = [word.lower() for word in found[:1]]  # its capital says nothing
        spoken = [_BEGIN, *(_spoken(word, language.code, known) for word in (*first, *found[1:])), _END]
        meant = [_BEGIN, *(_meant(word, language.tags) for word in found), _END]
        telling = [word for word in meant if word != _PLAIN]
        said = {
            *_in_order(spoken, _IN_ORDER, f"{language.code}:"),
            *(f"{language.code}:{one} * {other}" for one, other in zip(spoken, spoken[2:], strict=False)),
            *_in_order(meant, _IN_ORDER, ""),
        }
    said |= {f"{one}>{other}" for one, other in pairwise(telling)}
    said.add(f"length {min(len(found) // _LENGTH_STEP, _LENGTHS)}")
    return frozenset(said)


def words(sentence: str) -> Iterator[str]:
    """Given a sentence, yield its words, marks and characters; names and numbers by what they are."""
    for token in _TOKEN.finditer(sentence.replace("\u2019", "'")):
        if token.lastgroup == "name":
            yield "<number>" if _NUMBER.fullmatch(token[0]) else "<name>"
        else:
            yield token[0]


def _in_order(words: Sequence[str], most: int, head: str) -> Iterator[str]:
    for length in range(1, most + 1):
        for at in range(len(words) - length + 1):
            yield head + " ".join(words[at : at + length])


def _spoken(word: str, code: str, known: Container[str]) -> str:
    """A word as itself if it is known, else by its form."""
    lower = word.lower()
    if not word[0].isalpha() or lower in known:
        return lower
    if word[0].isupper() and code != "de":
        return _NAME_IN_SENTENCE
    if code != "en":
        return _PLAIN + lower[-2:]
    ending = next((one for one in _ENDINGS if lower.endswith(one) and len(lower) > _SHORT), "")
    return _PLAIN + ending


def _meant_within(sentence: str, tags: Mapping[str, str]) -> Iterator[str]:
    """The meanings in a sentence without spaces, each where its word begins."""
    places = ((sentence.find(word), tag) for word, tag in tags.items())
    yield from (tag for at, tag in sorted(places) if at >= 0)


def _meant(word: str, tags: Mapping[str, str]) -> str:
    if not word[0].isalpha():
        return word
    return tags.get(word.lower(), _PLAIN)
