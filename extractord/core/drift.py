"""Whether an agent may write otherwise than its adapter reads: much looks like prompts, nothing is one."""

from __future__ import annotations

import re
from collections.abc import Iterable

from extractord.core.records import Entry, Origin, Role

ENOUGH = 5
"""Records that look like prompts; of fewer none need be one."""
_MARK = re.compile(
    rb'\\?"(?:role|type|source|kind|say|author|sender|from)\\?"\s*:\s*'
    rb'\\?"(?:user|human|prompt|task|turn\.prompt|user[._-](?:message|prompt|input|feedback|query)|USER_\w+)\\?"'
    rb"|^#### ",
    re.MULTILINE,
)
_PROMPTED = frozenset({Origin.HUMAN, Origin.HEADLESS, Origin.SUBAGENT, Origin.COPIED, Origin.RECALLED})


def marks(record: bytes, *, is_document: bool = False) -> int:
    """Given a raw record, return how many prompts it looks like: at most one, unless it is a document."""
    if is_document:
        return len(_MARK.findall(record))
    return int(_MARK.search(record) is not None)


def is_prompted(entry: Entry) -> bool:
    """True if the entry is a prompt, or shows that the agent's prompts are understood."""
    return entry.role is Role.USER or entry.origin in _PROMPTED


def hint(agent: str, versions: Iterable[str], marked: int, entries: Iterable[Entry]) -> str:
    """Given what a transcript looks like and what came of it, return a sentence where they do not fit.

    Many agents keep a tool's result as a user's record, so as many as there are results are no prompts.
    """
    results = 0
    for entry in entries:
        if is_prompted(entry):
            return ""
        results += entry.role is Role.TOOL
    return said_of(agent, versions, marked) if marked - results >= ENOUGH else ""


def said_of(agent: str, versions: Iterable[str], marked: int) -> str:
    """Given an agent, its versions and how many records look like prompts, return what to say of it."""
    version = " ".join(sorted(versions)) or "version not named"
    return f"format may have changed: {marked} records look like prompts, none is one ({agent}, {version})"
