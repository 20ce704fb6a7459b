"""Patterns of virtual paths: `*` and `?` inside a segment, `**` for any number of segments."""

from __future__ import annotations

from collections.abc import Callable, Sequence

STARS = 2
"""A pattern has at most so many `**`."""


def _wild(pattern: Sequence[str], items: Sequence[str], star: str, same: Callable[[str, str], bool]) -> bool:
    """True if the items match the pattern, in which `star` stands for any number of items.

    Only the last star is ever gone back to, so the time is at most the product of both lengths.
    """
    at = item = 0
    back: tuple[int, int] | None = None
    while item < len(items):
        if at < len(pattern) and pattern[at] == star:
            back = (at, item)
            at += 1
        elif at < len(pattern) and same(pattern[at], items[item]):
            at, item = at + 1, item + 1
        elif back is not None:
            back = (back[0], back[1] + 1)
            at, item = back[0] + 1, back[1]
        else:
            return False
    return all(rest == star for rest in pattern[at:])


def _segment(pattern: str, segment: str) -> bool:
    """True if one segment of a path matches one of a pattern."""
    return _wild(pattern, segment, "*", lambda wanted, found: wanted in {"?", found})


def matches(pattern: str, path: str) -> bool:
    """True if the path, split at `/`, matches the pattern."""
    return _wild(pattern.split("/"), path.split("/"), "**", _segment)


def objection(pattern: str) -> str | None:
    """Given a pattern, return what is wrong with it in a sentence, or None."""
    segments = pattern.split("/")
    if segments.count("**") > STARS:
        return f"A pattern has at most {STARS} segments `**`."
    if any("**" in segment and segment != "**" for segment in segments):
        return "`**` stands alone between slashes, as in /memory/project/**/*.md."
    if any(character in pattern for character in "[]{}!\\"):
        return "Only * and ? and ** are special: no brackets, braces or escapes."
    return None
