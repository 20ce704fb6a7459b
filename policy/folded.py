"""A text with stretches replaced, and the way back to the text that it came from."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Folded:
    """A text with some stretches replaced, and how to find the way back."""

    text: str
    starts: tuple[int, ...] = (0,)
    """Where in `text` each piece begins, ascending."""
    origins: tuple[int, ...] = (0,)
    """Where in the source each piece begins."""

    def origin(self, at: int) -> int:
        """Given an offset in `text`, return the offset in the source."""
        piece = bisect_right(self.starts, at) - 1
        return self.origins[piece] + at - self.starts[piece]


def replace(text: str, pattern: re.Pattern[str], by: Callable[[re.Match[str]], str]) -> Folded:
    """Given a text, return it with every match of a pattern replaced by what `by` makes of it."""
    pieces, starts, origins, length, last = [], [0], [0], 0, 0
    for match in pattern.finditer(text):
        new = by(match)
        pieces += [text[last : match.start()], new]
        length += match.start() - last + len(new)
        last = match.end()
        starts.append(length)
        origins.append(last)
    pieces.append(text[last:])
    return Folded("".join(pieces), tuple(starts), tuple(origins))
