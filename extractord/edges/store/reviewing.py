"""What a person decides about what is held: accept it, in other words perhaps, or reject it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from msgspec import structs

from extractord.core import memory as memories
from extractord.core.changeset import decode
from extractord.core.digesting import digest
from extractord.core.memory import Malformed, parse
from extractord.core.records import Stamp
from extractord.core.survey import kind_of
from extractord.core.versions import Current, Held, HeldChange, Tombstone
from extractord.edges.store.noticing import PERSON
from extractord.edges.store.placing import Placement
from extractord.edges.store.roots import Roots
from extractord.edges.store.store import Store
from extractord.errors import ConflictError, UsageError
from extractord.policy.requests import RunFacts, Trust
from extractord.policy.verdict import Deny


@dataclass(frozen=True, slots=True)
class Standing:
    """A held change beside what stands at its place now."""

    change: HeldChange
    before: str | None
    """The text there now, without our stamps; None where there is none."""
    moved: bool
    """Somebody changed the place since: it cannot be accepted any more."""


class Reviewing:
    """Over the store, whose lock, compare-and-swap and recovery every decision goes through.

    `by` is who rejects, PERSON or UNATTENDED; only a person accepts.
    """

    def __init__(self, store: Store, by: str = PERSON) -> None:
        self._store = store
        self._by = by
        self._versions = store.ledger.versions

    def confirm(self, root: str, path: str, sha256: str) -> None:
        """Accept a file that is withheld, as it stands: from now on it is `confirmed`.

        Raise ConflictError where it is not any more what the person looked at.
        """
        raw = self._store.roots.raw(root, path)
        if raw is None or digest(raw) != sha256:
            raise ConflictError(f"{root}/{path} was changed meanwhile: look at it again")
        current = Current(sha256=sha256, trust=Trust.CONFIRMED)
        self._store.place([Placement(root, path, raw, raw, current)], PERSON, "accept")

    def accept(self, held: Held, edited: Mapping[str, str] | None = None) -> tuple[str, ...]:
        """Commit what is held as `confirmed`, by `root/path` perhaps in a person's own words.

        It is judged again: what a rule only holds, the person decides; what a rule denies is
        refused. Return the places. Raise UsageError where the law says no, ConflictError where a
        place is not any more as it was when the run looked; nothing is written then.
        """
        words = edited or {}
        store, now = self._store, self._store.clock()
        placements = []
        for change in held.changes:
            place = f"{change.root}/{change.path}"
            raw = store.roots.raw(change.root, change.path)
            if change.base != (None if raw is None else digest(raw)):
                raise ConflictError(f"{place} was changed since it was held; nothing was written")
            text = change.text if change.text is None else memories.unstamp(words.get(place, change.text))
            self._require_lawful(change, place, text, raw)
            if text is None:
                placements.append(Placement(change.root, change.path, raw, None, None))
                continue
            marks = Stamp(
                recorded_at=now,
                observed_at=change.observed_at,
                trust=Trust.CONFIRMED,
                source=change.source,
                run=held.run,
            )
            after = memories.stamp(text, marks).encode()
            current = Current(sha256=digest(after), trust=Trust.CONFIRMED)
            placements.append(Placement(change.root, change.path, raw, after, current, change.proofs))
        store.place(placements, PERSON, "accept", settle=lambda: self._settle(held, "accepted"))
        return _places(held.changes)

    def reject(self, held: Held) -> tuple[str, ...]:
        """Drop what is held, with a tombstone for each entry that a text of it rests on."""
        store, now = self._store, self._store.clock()
        stones: list[Tombstone] = []
        for change in held.changes:
            if change.text is not None:
                stones += store.burying.for_text(
                    change.root, change.path, change.text, change.proofs, "rejected", now
                )
        places = _places(held.changes)
        with store.deciding():
            with store.ledger.transaction():
                self._settle(held, "rejected")
                self._versions.bury(stones)
                store.ledger.audit.note("reject", self._by, {"held": held.id, "paths": places}, now)
            store.burying.register(stones)
        return places

    def _require_lawful(self, change: HeldChange, place: str, text: str | None, raw: bytes | None) -> None:
        store = self._store
        memory = None if text is None else parse(text)
        if isinstance(memory, Malformed):
            raise UsageError(f"{place}: {memory.reason}")
        rows = store.survey(change.root)
        row = next((row for row in rows if row.path == change.path), None)
        before = None if raw is None else memories.unstamp(decode(change.path, raw))
        run = RunFacts(trust=Trust.CONFIRMED, memories={kind_of(change.root): len(rows)})
        verdict = store.weighing.judge(
            structs.replace(change, text=text),
            change.root,
            before,
            row,
            run,
        )
        if isinstance(verdict, Deny):
            raise UsageError(f"{place} is refused, {verdict.rule}: {verdict.reason}")

    def _settle(self, held: Held, state: str) -> None:
        """Raise ConflictError where somebody else was faster."""
        if not self._versions.settle(held.id, state):
            raise ConflictError(f"{held.id} was decided by somebody else meanwhile; nothing was written")


def standings(roots: Roots, names: Collection[str], held: Held) -> tuple[Standing, ...]:
    """Given what is held, return each change with what stands at its place now."""
    found = []
    for change in held.changes:
        there = change.root in names and roots.is_usable(change.root)
        raw = roots.raw(change.root, change.path) if there else None
        before = None if raw is None else memories.unstamp(decode(change.path, raw))
        moved = change.base != (None if raw is None else digest(raw))
        found.append(Standing(change, before, moved))
    return tuple(found)


def _places(changes: Sequence[HeldChange]) -> tuple[str, ...]:
    return tuple(f"{change.root}/{change.path}" for change in changes)
