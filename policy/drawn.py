"""Words that look drawn at random: keys of formats that nobody knows."""

from __future__ import annotations

import re
from collections.abc import Iterator

_DRAWN = re.compile(
    r"(?<![\w/+.=-])(?=[\w+/-]{0,512}\d)(?=[\w+/-]{0,512}[A-Z])(?=[\w+/-]{0,512}[a-z])"
    r"[A-Za-z0-9+/_-]{32,512}={0,2}(?![\w/+])"
)
"""Candidates only: no path or name by its neighbours; hex digests and UUIDs lack a capital."""
_CHANGES = re.compile(r"(?<=[a-z])[A-Z0-9]|(?<=[A-Z])[a-z0-9]|(?<=[0-9])[A-Za-z]")
_LEAST_CHANGES = 0.48
"""Random base64 changes class at six letters of ten, a name of many words at four."""
_LEAST_DIGITS = 3
_LEAST_DISTINCT = 16
_DIGEST = re.compile(r"sha(?:256-[A-Za-z0-9+/]{43}=|384-[A-Za-z0-9+/]{64}|512-[A-Za-z0-9+/]{86}==)")
"""A digest in base64, as lock files write it, and no key."""
_BEFORE_DIGEST = ("SHA256:", "h1:")
_DIGEST_CHARS = 43

_SPLIT_CHANGES = 0.3
_SPLIT_CHARS = 24


def find_drawn(text: str) -> Iterator[tuple[int, int]]:
    """Given any text, yield start and end of each word that looks drawn at random.

    Rather one id too many than a key; digests, UUIDs, paths and names of many words are none.
    """
    for match in _DRAWN.finditer(text):
        token = match[0]
        changes = len(_CHANGES.findall(token))
        if (
            changes >= _LEAST_CHANGES * len(token)
            and sum(map(str.isdigit, token)) >= _LEAST_DIGITS
            and len(set(token)) >= _LEAST_DISTINCT
            and not _is_digest(text, match)
        ):
            yield match.span()


def looks_drawn(word: str) -> bool:
    """True where a word's first 24 characters change class as no prose does, one of them a digit."""
    part = word[:_SPLIT_CHARS]
    return len(_CHANGES.findall(part)) >= _SPLIT_CHANGES * len(part) and any(map(str.isdigit, part))


def _is_digest(text: str, match: re.Match[str]) -> bool:
    start = match.start()
    is_told = text.endswith(_BEFORE_DIGEST, 0, start) and len(match[0].rstrip("=")) == _DIGEST_CHARS
    return is_told or _DIGEST.fullmatch(match[0]) is not None
