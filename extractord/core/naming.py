"""Ids of runs: sortable by time, in Crockford's alphabet (the ULID specification)."""

from __future__ import annotations

from datetime import datetime

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_CHARACTERS = 26
RANDOM_BYTES = 10


def ulid(now: datetime, random: bytes) -> str:
    """Given an aware time and 10 random bytes, return 26 characters that sort by the time, in ms."""
    number = int(now.timestamp() * 1000) << (8 * RANDOM_BYTES) | int.from_bytes(random[:RANDOM_BYTES], "big")
    return "".join(_ALPHABET[number >> shift & 31] for shift in range(5 * (_CHARACTERS - 1), -1, -5))
