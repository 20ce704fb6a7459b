"""Making tombstones, and keeping ledger and register of them alike."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from extractord.core.changeset import decode
from extractord.core.memory import Memory, parse, unstamp
from extractord.core.ports import Versions
from extractord.core.survey import stem
from extractord.core.versions import Proof, Tombstone
from extractord.edges.store.tombstones import Register, fingerprint


class Burying:
    """Tombstones for what a person, or the person's own words, had forgotten."""

    def __init__(self, versions: Versions, register: Register, identity_key: bytes) -> None:
        self._versions = versions
        self._register = register
        self._key = identity_key

    def stones(self, root: str, path: str, why: str, now: datetime) -> list[Tombstone]:
        """Return the tombstones of a memory as the ledger last knew it: one an evidence entry."""
        known = self._versions.current(root).get(path)
        raw = self._versions.content(known.sha256) if known else None
        text = "" if raw is None else unstamp(decode(path, raw))
        return self.for_text(root, path, text, self._versions.proofs(root, path), why, now)

    def for_text(
        self, root: str, path: str, text: str, proofs: Iterable[Proof], why: str, now: datetime
    ) -> list[Tombstone]:
        """Return the tombstones of a text that rests on these entries."""
        memory = parse(text)
        name = (memory.name if isinstance(memory, Memory) else "") or stem(path)
        words = fingerprint(self._key, text)
        return [
            Tombstone(root=root, name=name, fingerprint=words, key=proof.key, made_at=now, why=why)
            for proof in proofs
        ]

    def register(self, stones: Sequence[Tombstone]) -> None:
        """Add tombstones to the file that outlives the ledger."""
        self._register.add(stones)

    def level(self) -> None:
        """Give ledger and register what only the other has: one may have been lost."""
        kept, written = set(self._versions.tombstones()), set(self._register.all())
        self._versions.bury(sorted(written - kept, key=lambda stone: stone.made_at))
        self._register.add(sorted(kept - written, key=lambda stone: stone.made_at))
