"""Making tombstones, and keeping ledger and register of them alike."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from msgspec.structs import replace

from extractord.core.memory import Memory, parse, unstamp
from extractord.core.ports import Versions
from extractord.core.survey import stem
from extractord.core.versions import Proof, Tombstone
from extractord.edges.store.register import Register
from extractord.edges.store.tombstones import WITHOUT_PROOF, blocking, fingerprint


class Burying:
    """Tombstones for what a person, or the person's own words, had forgotten."""

    def __init__(self, versions: Versions, register: Register, identity_key: bytes) -> None:
        self._versions = versions
        self._register = register
        self._key = identity_key

    def stones(
        self, root: str, path: str, why: str, now: datetime, raw: bytes | None = None
    ) -> list[Tombstone]:
        """Return the tombstones of a memory, by its bytes or, without, as the ledger last knew it."""
        known = self._versions.current(root).get(path)
        if raw is None and known is not None:
            raw = self._versions.content(known.sha256)
        text = unstamp((raw or b"").decode("utf-8", "replace"))
        return self.for_text(root, path, text, self._versions.proofs(root, path), why, now)

    def for_text(
        self, root: str, path: str, text: str, proofs: Iterable[Proof], why: str, now: datetime
    ) -> list[Tombstone]:
        """Return the tombstones of a text: one an entry that it rests on, or one without a key.

        No entry is known of what a person wrote by hand, nor of anything after the ledger was lost.
        """
        memory = parse(text)
        name = (memory.name if isinstance(memory, Memory) else "") or stem(path)
        words = fingerprint(self._key, text)
        return [
            Tombstone(root=root, name=name, fingerprint=words, key=key, made_at=now, why=why)
            for key in [proof.key for proof in proofs] or [WITHOUT_PROOF]
        ]

    def buries(self, root: str, path: str, text: str) -> bool:
        """True if a person had this forgotten, whatever it rested on: nothing says it was said anew."""
        memory = parse(text)
        name = (memory.name if isinstance(memory, Memory) else "") or stem(path)
        stones = [replace(stone, key=WITHOUT_PROOF) for stone in self._versions.tombstones()]
        return blocking(stones, root, name, fingerprint(self._key, text), ()) is not None

    def register(self, stones: Sequence[Tombstone]) -> None:
        """Add tombstones to the file that outlives the ledger."""
        self._register.add(stones)

    def level(self) -> str:
        """Give ledger and register what only the other has: one may have been lost.

        Return a warning where the register's last line was torn; else empty.
        """
        torn = self._register.torn()
        kept, written = set(self._versions.tombstones()), set(self._register.all())
        self._versions.bury(sorted(written - kept, key=lambda stone: stone.made_at))
        self._register.add(sorted(kept - written, key=lambda stone: stone.made_at))
        return torn
