"""What a person decides about memories: forget, restore, pin, undo a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec import structs

from extractord.core.changeset import decode
from extractord.core.digesting import digest
from extractord.core.foreign import objection
from extractord.core.memory import Malformed, parse, unstamp
from extractord.core.restamping import restamped
from extractord.core.versions import Current, Tombstone, Version
from extractord.edges.store.placing import Placement
from extractord.edges.store.store import PERSON, UNATTENDED, Store
from extractord.errors import StoreError, UsageError
from extractord.policy.requests import RunFacts, Trust


@dataclass(frozen=True, slots=True)
class Undone:
    """What an undo came to; paths are `root/path`."""

    restored: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    """Those of them that the run had made."""
    conflicts: tuple[str, ...] = ()
    """Files that are not any more as the run left them: then nothing was undone."""


class Keeping:
    """Over the store, whose lock, compare-and-swap and recovery every decision goes through.

    `by` is who decides: PERSON, or UNATTENDED, who makes nothing `confirmed`. Raise ConflictError
    where a file changes meanwhile, UsageError for what is not there.
    """

    def __init__(self, store: Store, by: str = PERSON) -> None:
        self._store = store
        self._by = by
        self._versions = store.ledger.versions

    def forget(self, root: str, path: str) -> None:
        """Remove a memory, with a tombstone for each entry that it rests on.

        One whose file is gone already, and that the ledger still knows, is forgotten too.
        """
        raw = self._store.roots.raw(root, path)
        if raw is None and path not in self._versions.current(root):
            raise UsageError(f"{root}/{path} is not there")
        stones = self._store.burying.stones(root, path, "forgotten", self._store.clock(), raw)
        self._store.place([Placement(root, path, raw, None, None)], self._by, "forget", stones)

    def purge(self, root: str, path: str) -> None:
        """Erase the history of a path that has no file any more, under earlier names too; tombstones stay."""
        store = self._store
        with store.deciding():
            if store.roots.raw(root, path) is not None:
                raise UsageError(f"{root}/{path} is still there: forget it first")
            with store.ledger.transaction():
                paths = self._versions.purge(root, path)
                store.ledger.surveys.forget(root, paths)
                store.ledger.uses.forget(root, paths)
                places = [f"{root}/{each}" for each in paths]
                store.ledger.audit.note("purge", self._by, {"paths": places}, store.clock())

    def history(self, root: str, path: str) -> tuple[Version, ...]:
        """Return every version of a memory, oldest first."""
        return self._versions.history(root, path)

    def restore(self, root: str, path: str, sha256: str) -> None:
        """Put a version back in its place: `confirmed` where a person chose it.

        Else it is as it was, and what was confirmed ranks as an agent's choice.
        """
        raw = self._versions.content(sha256)
        history = self.history(root, path)
        version = next((one for one in reversed(history) if one.sha256 == sha256), None)
        if raw is None or version is None:
            raise UsageError(f"{root}/{path} has no version {sha256[:12]}")
        current = Current(sha256=sha256, trust=Trust.CONFIRMED)
        if self._by != PERSON:
            current = _unconfirmed(root, path, _current(version, history), raw)
        there = self._store.roots.raw(root, path)
        self._store.place([Placement(root, path, there, raw, current)], self._by, "restore")

    def edit(self, root: str, path: str, before: bytes, text: str) -> None:
        """Given the bytes that a person saw, without stamps, put the person's text in their place.

        Stamps that were there stay, with the new trust and time. Where nobody sat at a terminal it
        ranks as what an agent wrote. Raise UsageError for a text that could not be read again.
        """
        memory = parse(text)
        if isinstance(memory, Malformed):
            raise UsageError(f"{root}/{path}: {memory.reason}")
        attended = self._by == PERSON
        trust = Trust.CONFIRMED if attended else Trust.INFERRED
        after = restamped(decode(path, before), text, self._store.clock(), trust).encode()
        against = "" if attended else _against(root, path, text)
        current = Current(sha256=digest(after), trust=trust, foreign=not attended, withheld=against)
        self._store.place([Placement(root, path, before, after, current)], self._by, "edit")

    def pin(self, root: str, path: str, *, pinned: bool) -> None:
        """Pin a memory, so that no run changes it, or unpin it."""
        store, kind = self._store, "pin" if pinned else "unpin"
        with store.deciding(root):
            current = self._versions.current(root).get(path)
            if current is None:
                raise UsageError(f"{root}/{path} is not there")
            with store.ledger.transaction():
                self._versions.set_current(root, path, structs.replace(current, pinned=pinned))
                store.ledger.audit.note(kind, self._by, {"paths": [f"{root}/{path}"]}, store.clock())

    def undo(self, run: str) -> Undone:
        """Put back what a run changed, where all of it is still as the run left it.

        An undone creation leaves tombstones. Raise UsageError where the run changed nothing.
        """
        made = self._versions.made_by(run)
        if not made:
            raise UsageError(f"the run {run} changed no memory")
        conflicts, placements = [], []
        stones: list[Tombstone] = []
        for version in made:
            raw = self._store.roots.raw(version.root, version.path)
            if not stands(version, raw):
                conflicts.append(f"{version.root}/{version.path}")
                continue
            placement = self._before(version, raw)
            if placement.after is None:
                stones += self._store.burying.stones(
                    version.root, version.path, "undone", self._store.clock()
                )
            placements.append(placement)
        if conflicts:
            return Undone(conflicts=tuple(conflicts))
        self._store.place(placements, self._by, "undo", stones)
        gone = [one for one in placements if one.after is None]
        return Undone(restored=_places(placements), removed=_places(gone))

    def _before(self, version: Version, raw: bytes | None) -> Placement:
        """The placement that takes a version back to the one before it."""
        earlier = [one for one in self.history(version.root, version.path) if one.id < version.id]
        last = earlier[-1] if earlier else None
        if last is None and self._versions.is_cut(version.root, version.path):
            raise StoreError(
                f"{version.root}/{version.path}: the version before is too old to be kept ([keep]), "
                "so nothing was undone"
            )
        if last is None or last.sha256 is None:
            return Placement(version.root, version.path, raw, None, None)
        after = self._versions.content(last.sha256)
        if after is None:
            raise StoreError(f"{version.root}/{version.path}: the version before was purged")
        current = _current(last, earlier)
        if self._by != PERSON:
            current = _unconfirmed(version.root, version.path, current, after)
        return Placement(version.root, version.path, raw, after, current)


def stands(version: Version, raw: bytes | None) -> bool:
    """Given a version and the bytes at its place, None for no file, return whether they are the same."""
    return (None if raw is None else digest(raw)) == version.sha256


def _against(root: str, path: str, text: str) -> str:
    """Why a text that an agent may have written waits for a person; empty where it does not."""
    return objection(root, path, text, RunFacts(trust=Trust.INFERRED, reason="nobody sat at a terminal"))


def _unconfirmed(root: str, path: str, current: Current, raw: bytes) -> Current:
    """What stands there once nobody chose it who could confirm it; what is foreign is judged."""
    if current.trust is Trust.CONFIRMED:
        current = structs.replace(current, trust=Trust.INFERRED, foreign=True)
    if not current.foreign:
        return current
    return structs.replace(current, withheld=_against(root, path, unstamp(decode(path, raw))))


def _current(version: Version, history: Sequence[Version]) -> Current:
    """A version as the ledger knew it: foreign where nobody but people ever put its bytes there.

    What a run wrote is not foreign for having been put back, nor what is trusted for having been moved.
    """
    makers = {one.by for one in history if one.sha256 == version.sha256}
    trust = Trust.INFERRED if version.trust is None else version.trust
    foreign = trust is Trust.INFERRED and makers <= {PERSON, UNATTENDED}
    return Current(sha256=version.sha256 or "", trust=trust, foreign=foreign)


def _places(placements: Sequence[Placement]) -> tuple[str, ...]:
    return tuple(f"{one.root}/{one.path}" for one in placements)
