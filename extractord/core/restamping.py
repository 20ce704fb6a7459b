"""A person's own text of a memory, with the stamps that it had."""

from __future__ import annotations

from datetime import datetime

from extractord.core.memory import Memory, parse, stamp, unstamp
from extractord.core.records import Stamp
from extractord.policy.requests import Trust


def restamped(before: str, text: str, now: datetime, trust: Trust) -> str:
    """Given a memory with its stamps and a person's text without, return the text with them.

    Trust and time are new; where it had no stamps, none are added.
    """
    memory = parse(before)
    metadata = memory.metadata if isinstance(memory, Memory) else {}
    if "run" not in metadata:
        return unstamp(text)
    said = metadata.get("observed_at")
    return stamp(
        unstamp(text),
        Stamp(
            recorded_at=now,
            observed_at=_moment(said) if isinstance(said, str) else None,
            trust=trust,
            source=str(metadata.get("source", "")),
            run=str(metadata["run"]),
        ),
    )


def _moment(words: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(words)
    except ValueError:
        return None
    return moment if moment.tzinfo else None
