"""How long ago something was, in words."""

from __future__ import annotations

from datetime import datetime


def ago(moment: datetime, now: datetime) -> str:
    """Given a moment and the present, return how long ago it was, in the largest unit that fits."""
    seconds = max(0, int((now - moment).total_seconds()))
    for unit, length in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= length:
            count = seconds // length
            return f"{count} {unit}{'s' if count > 1 else ''} ago"
    return "just now"
