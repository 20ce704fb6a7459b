"""Secrets taken out of a text, each replaced by a mark that names the rule."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from extractord.core.words import Span
from extractord.policy.secret import Hit, find_secrets

_RANDOM = re.compile(
    r"(?<![\w/+.=-])(?=[\w+/-]{0,512}\d)(?=[\w+/-]{0,512}[A-Z])(?=[\w+/-]{0,512}[a-z])[A-Za-z0-9+/_-]{32,512}={0,2}(?![\w/+])"
)
"""Candidates only: no path or name by its neighbours; hex digests and UUIDs lack a capital."""
_CHANGES = re.compile(r"(?<=[a-z])[A-Z0-9]|(?<=[A-Z])[a-z0-9]|(?<=[0-9])[A-Za-z]")
_LEAST_CHANGES = 0.48
"""Random base64 changes class at six letters of ten, a name of many words at four."""
_LEAST_DIGITS = 3
_LEAST_DISTINCT = 16

Replacement = tuple[int, int, str]
"""From, to, and what stands there instead."""


def mark(rule: str) -> str:
    """Given a rule's name, return what stands for the secret that it found."""
    return f"[redacted: {rule}]"


def redact(text: str) -> tuple[str, int]:
    """Given any text, return it without secrets, and how many there were.

    Found are the policy's patterns, also with invisible characters inside, and words that look
    drawn at random: rather one hash too many than a key.
    """
    hits = find_all(text)
    return replace(text, marks_for(hits))[0], len(hits)


def find_all(text: str) -> tuple[Hit, ...]:
    """Given any text, return every secret in it, in order and apart from one another."""
    known = find_secrets(text)
    rows = [*known, *_random(text)]
    found: list[Hit] = []
    for hit in sorted(rows, key=lambda hit: (hit.start, -hit.end)):
        if not found or hit.start >= found[-1].end:
            found.append(hit)
        elif hit.end > found[-1].end:
            found[-1] = Hit(found[-1].rule, found[-1].start, hit.end)
    return tuple(found)


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
        for old_from, old_to, new_from, new_to in moved:
            if old_to <= start:
                new_start = start + new_to - old_to
            elif old_from <= start:
                new_start = new_from
            if old_to <= end:
                new_end = end + new_to - old_to
            elif old_from < end:
                new_end = new_to
        if new_start < new_end:
            yield new_start, new_end


def _random(text: str) -> Iterator[Hit]:
    for match in _RANDOM.finditer(text):
        token = match.group()
        changes = len(_CHANGES.findall(token))
        digits = sum(map(str.isdigit, token))
        if (
            changes >= _LEAST_CHANGES * len(token)
            and digits >= _LEAST_DIGITS
            and len(set(token)) >= _LEAST_DISTINCT
        ):
            yield Hit("random-token", *match.span())
