"""The words of a text as attribution counts them: stems, and runs of four words."""

from __future__ import annotations

import re
from dataclasses import dataclass

from extractord.core.folding import UNSPACED, fold, is_unspaced
from extractord.core.stopwords import STOP_WORDS, is_stop_pair

_UNIT = re.compile(rf"[{UNSPACED}]|[^\W{UNSPACED}]+")
_STEM_LETTERS = 5
_RUN_WEIGHT = 8
"""Four words: a spaced word weighs two, a character of an unspaced script one."""
_CONTENT_IN_RUN = 2


@dataclass(frozen=True, slots=True)
class Reading:
    """A text's units in order, each with its stem, and the run of four words that begins there.

    A stem is None for stop words, digits and ends of unspaced stretches; a run is None where the
    text ends first or holds fewer than two content words.
    """

    units: tuple[str, ...]
    stems: tuple[str | None, ...]
    runs: tuple[str | None, ...]
    ends: tuple[int, ...]
    """The unit after the last one of each run."""

    @property
    def content(self) -> frozenset[str]:
        """The distinct stems."""
        return frozenset(stem for stem in self.stems if stem is not None)


def read_words(text: str) -> Reading:
    """Given a text in any script, return its units, stems and runs.

    A stem is the first five letters of a folded word, or a pair of characters where the script
    has no spaces (DESIGN §5).
    """
    units: list[str] = []
    stems: list[str | None] = []
    weights: list[int] = []
    previous_end = -1
    for match in _UNIT.finditer(fold(text)):
        unit = match.group()
        if len(unit) == 1 and is_unspaced(unit):
            if weights and weights[-1] == 1 and match.start() == previous_end:
                pair = units[-1] + unit
                stems[-1] = None if is_stop_pair(pair) else pair
            stems.append(None)
            weights.append(1)
        else:
            stems.append(_stem(unit))
            weights.append(2)
        units.append(unit)
        previous_end = match.end()
    runs, ends = _runs(units, stems, weights)
    return Reading(tuple(units), tuple(stems), runs, ends)


def _stem(word: str) -> str | None:
    letters = word.strip("_")
    if len(letters) < 2 or letters in STOP_WORDS or not letters.isalpha():  # noqa: PLR2004 - one letter is no word
        return None
    return letters[:_STEM_LETTERS]


def _runs(
    units: list[str], stems: list[str | None], weights: list[int]
) -> tuple[tuple[str | None, ...], tuple[int, ...]]:
    """The run that begins at each unit and where it ends, in one pass with two ends."""
    runs: list[str | None] = []
    ends: list[int] = []
    end = weight = content = 0
    for start in range(len(units)):
        while weight < _RUN_WEIGHT and end < len(units):
            weight += weights[end]
            content += stems[end] is not None
            end += 1
        whole = weight >= _RUN_WEIGHT and content >= _CONTENT_IN_RUN
        runs.append(" ".join(units[start:end]) if whole else None)
        ends.append(end)
        weight -= weights[start]
        content -= stems[start] is not None
    return tuple(runs), tuple(ends)
