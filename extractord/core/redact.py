"""Secrets taken out of a text, each replaced by a mark that names the rule."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter

from extractord.core.prose import Span
from extractord.policy.secret import Hit, find_secrets

Replacement = tuple[int, int, str]
"""From, to, and what stands there instead."""


def mark(rule: str) -> str:
    """Given a rule's name, return what stands for the secret that it found."""
    return f"[redacted: {rule}]"


def redact(text: str) -> str:
    """Given any text, return it without secrets, each replaced by its mark.

    A secret is what the policy lets into no memory: what is taken out on the way in is refused
    on the way out.
    """
    return replace(text, marks_for(find_secrets(text)))[0]


def marks_for(hits: Iterable[Hit]) -> list[Replacement]:
    """Given what was found, return what to put in its place."""
    return [(hit.start, hit.end, mark(hit.rule)) for hit in hits]


def replace(
    text: str, replacements: Sequence[Replacement], spans: Iterable[Span] = ()
) -> tuple[str, tuple[Span, ...]]:
    """Given a text, ordered replacements and spans of it, return the new text and spans of that.

    A span's end inside a replacement moves to the replacement's outer edge.
    """
    parts: list[str] = []
    moved: list[tuple[int, int, int, int]] = []
    at = length = 0
    for start, end, instead in replacements:
        parts += [text[at:start], instead]
        length += start - at
        moved.append((start, end, length, length + len(instead)))
        length += len(instead)
        at = end
    parts.append(text[at:])
    return "".join(parts), tuple(_moved(spans, moved))


def _moved(spans: Iterable[Span], moved: Sequence[tuple[int, int, int, int]]) -> Iterator[Span]:
    for start, end in spans:
        new_start, new_end = start, end
        before = bisect_right(moved, start, key=itemgetter(0))
        if before:
            _, old_to, new_from, new_to = moved[before - 1]
            new_start = start + new_to - old_to if old_to <= start else new_from
        before = bisect_left(moved, end, lo=before, key=itemgetter(0))
        if before:
            _, old_to, _, new_to = moved[before - 1]
            new_end = end + new_to - old_to if old_to <= end else new_to
        if new_start < new_end:
            yield new_start, new_end
