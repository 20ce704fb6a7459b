"""What a run would change, what it rests on, and what is known of the memories that are there."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct

from extractord.policy.requests import RootKind, Trust


class Evidence(Struct, frozen=True, kw_only=True):
    """An entry that a fact rests on, by its label in the brief, and its words."""

    entry: str
    quote: str


class Change(Struct, frozen=True, kw_only=True):
    """What a run would change about one memory.

    `text` is the whole text afterwards, without our stamps, or None for its removal.
    `base` is the SHA-256 (hex) of the bytes that were there when the run first looked, None
    where there was nothing.
    """

    root: RootKind
    path: str
    """Below the root, with `/`."""
    text: str | None
    base: str | None = None
    evidence: tuple[Evidence, ...] = ()


class Known(Struct, frozen=True, kw_only=True):
    """What the ledger knows of a memory that is there when a run begins."""

    root: RootKind
    path: str
    """Below the root, with `/`."""
    trust: Trust
    foreign: bool = False
    pinned: bool = False


class Refusal(Struct, frozen=True, kw_only=True):
    """A request that was not granted, as the audit and the model get it."""

    tool: str
    path: str
    verdict: str
    """`hold` or `deny`."""
    rule: str
    reason: str


class Stamp(Struct, frozen=True, kw_only=True):
    """What the store writes under `metadata`, besides the type that the model gave."""

    recorded_at: datetime
    observed_at: datetime | None
    trust: Trust
    source: str
    """`agent session entry`."""
    run: str
