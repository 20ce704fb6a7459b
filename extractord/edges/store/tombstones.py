"""Tombstones: by what a forgotten fact is known again, and the file that outlives the ledger."""

from __future__ import annotations

import hmac
import os
import re
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec
from rapidfuzz.distance import Indel

from extractord.core.memory import Malformed, parse
from extractord.core.records import Evidence, Shown
from extractord.core.versions import Proof, Tombstone
from extractord.errors import StoreError

NEAR_EQUAL = 0.7
"""Two fingerprints this similar (0 to 1) are of one fact, put differently."""
WITHOUT_PROOF = ""
"""The key of a tombstone whose memory rested on no entry that was known."""
_PIECE = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]|\\w+"
)
"""A word, or a character of a script without spaces."""
_STEM = 5
_LONG_ENOUGH = 3
_HASH_CHARS = 8


def prove(identity_key: bytes, evidence: Iterable[Evidence], shown: Sequence[Shown]) -> tuple[Proof, ...]:
    """Given evidence, return the key and time of each entry that it names, as it was said.

    The key is an HMAC of the entry's raw text, folded: a copy of it in another session has the
    same, and nobody reads what was said from it.
    """
    entries = {one.label: one.entry for one in shown}
    proofs = {}
    for item in evidence:
        entry = entries.get(item.entry)
        if entry is not None:
            key = _keyed(identity_key, _folded(entry.text))
            proofs[key] = Proof(key=key, said_at=entry.time)
    return tuple(proofs.values())


def fingerprint(identity_key: bytes, text: str) -> tuple[str, ...]:
    """Given a memory's text, return the keyed hashes of its words' beginnings, sorted."""
    memory = parse(text)
    words = text if isinstance(memory, Malformed) else f"{memory.description}\n{memory.body}"
    stems = {
        word[:_STEM]
        for word in _PIECE.findall(_folded(words))
        if len(word) >= _LONG_ENOUGH or not word.isascii()
    }
    return tuple(sorted(_keyed(identity_key, stem)[:_HASH_CHARS] for stem in stems))


def blocking(
    stones: Iterable[Tombstone], root: str, name: str, words: tuple[str, ...], proofs: Iterable[Proof]
) -> Tombstone | None:
    """Given tombstones and a fact of a root, return the one that keeps the fact away.

    It has the key of an entry of the evidence that was said no later than the tombstone was made
    (an entry without a time counts as earlier), and the fact's name or near-equal content. Where
    the tombstone has no key, all of the evidence must have been said no later, and the name counts
    in its own root alone.
    """
    said = {proof.key: proof.said_at for proof in proofs}
    for stone in stones:
        if stone.key == WITHOUT_PROOF:
            times, same_name = [*said.values()], root == stone.root
        elif stone.key in said:
            times, same_name = [said[stone.key]], True
        else:
            continue
        if any(said_at is not None and said_at > stone.made_at for said_at in times):
            continue
        near = bool(words) and Indel.normalized_similarity(words, stone.fingerprint) >= NEAR_EQUAL
        if near or (same_name and _folded(name) == _folded(stone.name)):
            return stone
    return None


class Register:
    """`<state>/tombstones.jsonl`, only ever added to: a lost ledger brings nothing back."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def add(self, stones: Iterable[Tombstone]) -> None:
        """Append tombstones, durably."""
        lines = b"".join(msgspec.json.encode(stone) + b"\n" for stone in stones)
        if not lines:
            return
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            descriptor = os.open(self._path, flags, 0o600)
            try:
                os.write(descriptor, lines)
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise StoreError(f"{self._path}: tombstones cannot be kept: {error.strerror}") from error

    def all(self) -> tuple[Tombstone, ...]:
        """Every tombstone of the file; a torn last line is passed over, anything else is an error."""
        try:
            raw = self._path.read_bytes()
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise StoreError(f"{self._path} cannot be read: {error.strerror}") from error
        *lines, _torn = raw.split(b"\n")
        try:
            return tuple(msgspec.json.decode(line, type=Tombstone) for line in lines if line)
        except msgspec.MsgspecError as error:
            raise StoreError(f"{self._path} is damaged ({error}): mend or move the bad line") from error


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _keyed(identity_key: bytes, text: str) -> str:
    return hmac.new(identity_key, text.encode("utf-8", "surrogatepass"), "sha256").hexdigest()
