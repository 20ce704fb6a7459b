"""What is kept about memories beside their files: versions, trust, intents, tombstones, what is held."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct

from extractord.core.digesting import digest
from extractord.policy.requests import Trust


class Current(Struct, frozen=True, kw_only=True):
    """What the ledger knows about the current version of a path."""

    sha256: str
    trust: Trust
    foreign: bool = False
    """A person or another program wrote these bytes, and nobody accepted them."""
    pinned: bool = False
    withheld: str = ""
    """Why it stays out of index, brief and injection until a person accepts it."""


class Version(Struct, frozen=True, kw_only=True):
    """One version of a memory, or its end."""

    id: int
    root: str
    path: str
    sha256: str | None
    """None where the memory was removed."""
    at: datetime
    by: str
    """A run's id, or `person`."""
    trust: Trust | None = None


class Proof(Struct, frozen=True, kw_only=True):
    """An entry that a memory rests on, by its key: an HMAC of what was said."""

    key: str
    said_at: datetime | None = None


class Tombstone(Struct, frozen=True, kw_only=True):
    """The trace that keeps a forgotten fact away; holds no word of it but its name."""

    root: str
    name: str
    fingerprint: tuple[str, ...]
    """Keyed hashes of its words, sorted."""
    key: str
    """Of an entry that it rested on; empty where none was known."""
    made_at: datetime
    why: str
    """forgotten, rejected, undone, deleted or stated."""


class HeldChange(Struct, frozen=True, kw_only=True):
    """A change that waits for a person, with all that its commit will need."""

    root: str
    path: str
    name: str
    text: str | None
    base: str | None
    rule: str
    reason: str
    trust: Trust
    source: str
    observed_at: datetime | None = None
    quotes: tuple[str, ...] = ()
    """At most 300 redacted characters of each."""
    proofs: tuple[Proof, ...] = ()


class Held(Struct, frozen=True, kw_only=True):
    """Changes accepted or rejected as one."""

    key: str
    """Of its evidence and names: the same again is dropped, unless it was decided and is said anew."""
    run: str
    at: datetime
    changes: tuple[HeldChange, ...]
    id: int = 0
    state: str = "waiting"
    """waiting, accepted, rejected or stale (another came in its place)."""


class Placed(Struct, frozen=True, kw_only=True):
    """One file of an intent: the versions before and after, None for no file."""

    root: str
    path: str
    before: str | None
    after: str | None
    token: str = ""
    """Of the hidden name that it has meanwhile, and then what it displaced."""


class Intent(Struct, frozen=True, kw_only=True):
    """Files that are being changed; open until all of them are."""

    id: int
    run: str
    placed: tuple[Placed, ...]


def held_key(changes: Sequence[HeldChange]) -> str:
    """One row for each evidence key and name; without evidence the words stand for it."""
    parts = []
    for change in changes:
        keys = sorted(proof.key for proof in change.proofs) or [change.text or ""]
        parts.append("\x1f".join([change.root, change.name, "remove" if change.text is None else "", *keys]))
    return digest("\x1e".join(sorted(parts)).encode("utf-8", "surrogatepass"))
