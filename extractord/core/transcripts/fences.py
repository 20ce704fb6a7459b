"""Fenced blocks in Markdown, line by line."""

from __future__ import annotations

import re

_FENCE = re.compile(r"\s{0,3}(`{3,}|~{3,})")


def fenced(line: str, fence: str) -> str:
    """Given a line and the fence that is open before it, return the one open after it, or nothing."""
    match = _FENCE.match(line)
    if match is None:
        return fence
    if not fence:
        return match[1]
    closes = match[1].startswith(fence) and not line.strip().strip(fence[0])
    return "" if closes else fence
