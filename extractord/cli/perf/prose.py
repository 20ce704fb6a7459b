"""Words without a meaning, always the same ones, in lengths as real transcripts have them."""

from __future__ import annotations

import math
import random

from msgspec import Struct

_SYLLABLES = (
    "ba",
    "de",
    "fi",
    "go",
    "lu",
    "ma",
    "ne",
    "pi",
    "ro",
    "su",
    "ta",
    "ve",
    "xo",
    "ya",
    "zu",
    "ker",
    "lin",
    "mor",
)
_BETWEEN = {" ": 150, ", ": 20, ". ": 16, ".\n": 24, "\n    ": 20, ' "': 3, '" ': 3, "\t": 3, " é ": 1}
"""What stands between words, and how often: an escape in 40 bytes, as in real transcripts."""
_VOCABULARY = 4000
_POOL_WORDS = 200_000
_P90 = 1.2816
"""So many standard deviations above the median lies the ninetieth percentile of a normal distribution."""


class Length(Struct, frozen=True):
    """How long something is, log-normally: half of them below `median`, a tenth above `p90`."""

    median: int
    p90: int
    most: int

    def draw(self, chance: random.Random) -> int:
        """Return a length."""
        spread = math.log(self.p90 / self.median) / _P90
        return min(self.most, int(chance.lognormvariate(math.log(self.median), spread)))


class Prose:
    """Text by length; what a seed gives is always the same."""

    def __init__(self, seed: int) -> None:
        """Make a pool that all texts are cut from."""
        self.chance = random.Random(seed)  # noqa: S311 - no secret
        words = [
            "".join(self.chance.choices(_SYLLABLES, k=self.chance.randint(1, 4))) for _ in range(_VOCABULARY)
        ]
        parts = zip(
            self.chance.choices(words, k=_POOL_WORDS),
            self.chance.choices([*_BETWEEN], [*_BETWEEN.values()], k=_POOL_WORDS),
            strict=True,
        )
        self._pool = "".join(word + between for word, between in parts)

    def text(self, length: Length) -> str:
        """Return a text, as long as it comes."""
        size = length.draw(self.chance)
        start = self.chance.randrange(max(1, len(self._pool) - size))
        return self._pool[start : start + size]

    def paragraph(self, length: Length) -> str:
        """Return what a person types: a text without lines, indents and tabs."""
        return " ".join(self.text(length).split())

    def uuid(self) -> str:
        """Return an id in the shape of a UUID."""
        digits = f"{self.chance.getrandbits(128):032x}"
        return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
