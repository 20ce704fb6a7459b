"""What extractord says about itself: to the log, to the bus, to whoever waits."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct

from extractord.core.ports import RunRow


class Skipped(Struct, frozen=True, kw_only=True, tag="skipped"):
    """The gate closed an exchange without a run."""

    at: datetime
    agent: str
    session: str
    exchange: str
    reason: str
    entries: int = 0
    """How many the exchange held."""
    written: tuple[str, ...] = ()
    """Of a `direct_write`: the paths below <memory> that the watched agent wrote."""


class RunFinished(Struct, frozen=True, kw_only=True, tag="run/finished"):
    """A run ended, however."""

    at: datetime
    row: RunRow
    person: str = ""
    """Whose session it was, where an extractor runs those of many."""
    audit: str = ""
    """The hash of the audit's newest row: what the log has, nobody can cut from the audit unseen."""


class SourceFound(Struct, frozen=True, kw_only=True, tag="source/found"):
    """A start found an agent's folder for the first time; what is there already is baseline, and not read."""

    at: datetime
    agent: str
    root: str
    transcripts: int


class Oversized(Struct, frozen=True, kw_only=True, tag="oversized"):
    """Lines over the limit were left out of a transcript."""

    at: datetime
    agent: str
    path: str
    lines: int
    bytes: int


class Heeded(Struct, frozen=True, kw_only=True, tag="heard/heeded"):
    """What was asked for on the bus, and what came of it."""

    at: datetime
    word: str
    """`extract`, `pause`, `resume` or `drain`."""
    done: bool
    reason: str = ""
    """Why it was not done, or what was begun."""


class Unheeded(Struct, frozen=True, kw_only=True, tag="heard/unheeded"):
    """Messages came that are no requests, or too many; said once a minute at most."""

    at: datetime
    messages: int
    reason: str
    """Of the last one."""


Event = Skipped | RunFinished | SourceFound | Oversized | Heeded | Unheeded
