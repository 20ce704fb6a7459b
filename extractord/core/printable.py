"""Text that others wrote, as a terminal may be given it."""

from __future__ import annotations

LINES = "\n\t"
"""What may stay in a text of several lines."""


def printable(text: str, kept: str = "") -> str:
    """Given text that others wrote, return it without what a terminal obeys but the characters `kept`."""
    return "".join(char if char.isprintable() or char in kept else "\ufffd" for char in text)
