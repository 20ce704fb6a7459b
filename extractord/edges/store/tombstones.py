"""Tombstones: by what a forgotten fact is known again."""

from __future__ import annotations

import hmac
import re
import unicodedata
from collections.abc import Iterable, Sequence

from rapidfuzz.distance import Indel

from extractord.core.memory import Malformed, parse
from extractord.core.records import Evidence, Shown
from extractord.core.versions import Proof, Tombstone

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
    (an entry without a time counts as earlier), and the fact's name or near-equal content, or content
    of which the fact is but a part. Where
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
        near = bool(words) and (
            Indel.normalized_similarity(words, stone.fingerprint) >= NEAR_EQUAL
            or set(words) <= set(stone.fingerprint)
        )
        if near or (same_name and _folded(name) == _folded(stone.name)):
            return stone
    return None


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _keyed(identity_key: bytes, text: str) -> str:
    return hmac.new(identity_key, text.encode("utf-8", "surrogatepass"), "sha256").hexdigest()
