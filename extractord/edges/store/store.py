"""The one writer: commits change-sets, notices people's edits, keeps and forgets memories."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from extractord.core import memory as memories
from extractord.core.changeset import digest
from extractord.core.foreign import virtual_path
from extractord.core.ports import Folder, Ledger
from extractord.core.records import Change, Known, Outcome, Project, Refusal, Stamp
from extractord.core.survey import Surveyed, root_of
from extractord.core.versions import Current, Held, HeldChange, Proof, Tombstone
from extractord.edges.store.burying import Burying
from extractord.edges.store.lock import locked
from extractord.edges.store.noticing import Noticing
from extractord.edges.store.placing import Placement, Placing
from extractord.edges.store.roots import Roots
from extractord.edges.store.secrets import find_secret
from extractord.edges.store.tombstones import Register
from extractord.edges.store.weighing import Context, Weighed, Weighing
from extractord.errors import ConflictError
from extractord.policy.requests import RootKind, Trust
from extractord.policy.verdict import Allow, Deny, Hold

QUOTE_CHARS = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Committed:
    """What became of a change-set; paths are virtual."""

    outcome: Outcome
    written: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    held: tuple[str, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    """Changes that the store denied or dropped."""
    reason: str = ""
    warnings: tuple[str, ...] = ()
    """What is wrong with a root, for the log and `doctor`."""


class Store:
    """Over the roots' folders and the ledger; every method that writes takes the lock on `memory`.

    Raise ConflictError where the lock is not had in 2 s, StoreError where the disk refuses.
    """

    def __init__(
        self,
        memory: Path,
        folder: Callable[[str], Folder],
        ledger: Ledger,
        identity_key: bytes,
        register: Path,
        *,
        clock: Callable[[], datetime],
        redact: Callable[[str], str],
    ) -> None:
        self._memory = memory
        self._ledger = ledger
        self._clock = clock
        self._redact = redact
        self.roots = Roots(folder, ledger.versions)
        self._placing = Placing(self.roots, ledger)
        self._burying = Burying(ledger.versions, Register(register), identity_key)
        self._noticing = Noticing(self.roots, ledger, self._burying)
        self._weighing = Weighing(self.roots, ledger.versions, identity_key, find_secret)

    def survey(self, root: str) -> tuple[Surveyed, ...]:
        """Return a row for each memory of a root, sorted by path; changes nothing."""
        return self.roots.survey(root)

    def known(self, project: Project) -> tuple[Known, ...]:
        """Return what the ledger knows about the memories of a run's roots, for its child."""
        kinds = tuple(RootKind) if project.is_project else (RootKind.USER,)
        return tuple(
            Known(root=kind, path=row.path, trust=row.trust, foreign=row.foreign, pinned=row.pinned)
            for kind in kinds
            for row in self.survey(root_of(kind, project))
            if row.trust is not None
        )

    def recover(self) -> int:
        """Undo what a crash left half done; return how many commits that were."""
        with self._locked() as recovered:
            self._burying.level()
            return recovered

    def notice(self, roots: Iterable[str]) -> tuple[str, ...]:
        """Keep what people wrote, renamed and deleted, and bring the indexes up to date.

        Return a warning for each root whose files are gone as no person deletes them.
        """
        now = self._clock()
        with self._locked():
            warnings = []
            for root in roots:
                rows = self.roots.survey(root)
                warnings.append(self._noticing.notice(root, rows, now))
                self._placing.reindex(root, rows)
        return tuple(warning for warning in warnings if warning)

    def commit(self, changes: Sequence[Change], context: Context) -> Committed:
        """Given a run's change-set, put what the law allows on disk, hold what it holds.

        The run's ranges are closed in the transaction that ends it. A lock that is not had is
        `failed`, reason `busy`; a lost claim `aborted`; a file that somebody changed since the
        run looked `conflict`: then nothing is written.
        """
        try:
            with self._locked():
                return self._commit(changes, context, self._clock())
        except ConflictError:
            return Committed(outcome=Outcome.FAILED, reason="busy")

    def place(
        self, placements: Sequence[Placement], by: str, kind: str, stones: Sequence[Tombstone] = ()
    ) -> None:
        """Carry out what a person decided (accept, forget, restore, edit), by compare-and-swap.

        Raise ConflictError, with nothing written, where a file is not as `before` says.
        """
        now = self._clock()
        with self._locked():
            for root in dict.fromkeys(one.root for one in placements):
                self._noticing.notice(root, self.roots.survey(root), now)
            for one in placements:
                if self.roots.raw(one.root, one.path) != one.before:
                    raise ConflictError(f"{one.root}/{one.path} changed meanwhile; nothing was written")
            files = [f"{one.root}/{one.path}" for one in placements]

            def also() -> None:
                self._ledger.versions.bury(stones)
                self._ledger.audit.note(kind, by, {"paths": files}, now)

            self._placing.carry_out(by, placements, now, also)
            self._burying.register(stones)

    @contextmanager
    def _locked(self) -> Iterator[int]:
        with locked(self._memory):
            yield self._placing.recover(self._clock())

    def _commit(self, changes: Sequence[Change], context: Context, now: datetime) -> Committed:
        ledger = self._ledger
        if not ledger.ranges.holds(context.run, context.owner):
            return Committed(outcome=Outcome.ABORTED, reason="claim_lost")
        roots = dict.fromkeys(
            root_of(change.root, context.project)
            for change in changes
            if change.root is RootKind.USER or context.project.is_project
        )
        warnings = tuple(
            filter(None, [self._noticing.notice(root, self.roots.survey(root), now) for root in roots])
        )
        weighed = self._weighing.weigh(changes, context)
        if isinstance(weighed, str):
            return Committed(
                outcome=Outcome.CONFLICT, reason=f"{weighed} changed meanwhile", warnings=warnings
            )
        allowed, held = _split(weighed)
        placements = [self._placement(one, context, now) for one in allowed]
        stones = [stone for one in allowed for stone in self._stated(one, now)]
        refused = [_refusal(one) for one in weighed if isinstance(one.verdict, Deny)]
        kept: list[Weighed] = []

        def also() -> None:
            for group in held:
                if ledger.versions.hold(self._held(group, context, now)):
                    kept.extend(group)
                else:
                    refused.extend(_refusal(one, "already_held") for one in group)
            ledger.versions.bury(stones)
            ledger.audit.refused(
                context.run, "store", [*refused, *map(_refusal, kept)], context.confinement, now
            )
            outcome = _outcome(allowed, kept)
            detail = {
                "outcome": outcome,
                "written": _paths(allowed, there=True),
                "removed": _paths(allowed, there=False),
            }
            ledger.audit.note("commit", context.run, detail, now)
            ledger.ranges.finish(context.run, outcome, now)

        if placements:
            self._placing.carry_out(context.run, placements, now, also)
        else:
            with ledger.transaction():
                also()
        self._burying.register(stones)
        return Committed(
            outcome=_outcome(allowed, kept),
            written=_paths(allowed, there=True),
            removed=_paths(allowed, there=False),
            held=tuple(virtual_path(one.root, one.change.path) for one in kept),
            refusals=tuple(refused),
            warnings=warnings,
        )

    def _placement(self, one: Weighed, context: Context, now: datetime) -> Placement:
        change = one.change
        if change.text is None:
            return Placement(one.root, change.path, one.raw, None, None)
        marks = Stamp(
            recorded_at=now,
            observed_at=one.finding.observed_at,
            trust=one.finding.trust,
            source=_source(one, context),
            run=context.run,
        )
        after = memories.stamp(change.text, marks).encode()
        current = Current(sha256=digest(after), trust=one.finding.trust)
        return Placement(one.root, change.path, one.raw, after, current, one.proofs)

    def _stated(self, one: Weighed, now: datetime) -> list[Tombstone]:
        """An rm that the person's own words ask for leaves tombstones."""
        if one.change.text is not None or one.before is None or one.finding.trust < Trust.STATED:
            return []
        known = self._ledger.versions.proofs(one.root, one.change.path)
        proofs: dict[str, Proof] = {proof.key: proof for proof in (*known, *one.proofs)}
        return self._burying.for_text(one.root, one.change.path, one.before, proofs.values(), "stated", now)

    def _held(self, group: Sequence[Weighed], context: Context, now: datetime) -> Held:
        changes = tuple(
            HeldChange(
                root=one.root,
                path=one.change.path,
                name=one.name,
                text=one.change.text,
                base=one.change.base,
                rule="" if isinstance(one.verdict, Allow) else one.verdict.rule,
                reason="" if isinstance(one.verdict, Allow) else one.verdict.reason,
                trust=one.finding.trust,
                source=_source(one, context),
                observed_at=one.finding.observed_at,
                quotes=tuple(self._redact(item.quote)[:QUOTE_CHARS] for item in one.change.evidence),
                proofs=one.proofs,
            )
            for one in group
        )
        return Held(key=_held_key(changes), run=context.run, at=now, changes=changes)


def _split(weighed: Sequence[Weighed]) -> tuple[list[Weighed], list[list[Weighed]]]:
    """What is committed, and the groups that are held, each accepted or rejected whole.

    Where anything is held or denied, what would be lost waits with it: a memory that was merged
    into a held one must not go first.
    """
    allowed = [one for one in weighed if isinstance(one.verdict, Allow)]
    held = [one for one in weighed if isinstance(one.verdict, Hold)]
    losses = [one for one in allowed if one.is_loss] if len(allowed) < len(weighed) else []
    if losses or any(one.is_loss for one in held):
        return [one for one in allowed if one not in losses], [[*held, *losses]]
    return allowed, [[one] for one in held]


def _outcome(allowed: Sequence[Weighed], held: Sequence[Weighed]) -> Outcome:
    if allowed:
        return Outcome.SAVED
    return Outcome.HELD if held else Outcome.NOTHING_TO_SAVE


def _paths(allowed: Iterable[Weighed], *, there: bool) -> tuple[str, ...]:
    return tuple(
        virtual_path(one.root, one.change.path) for one in allowed if (one.change.text is not None) is there
    )


def _refusal(one: Weighed, rule: str = "") -> Refusal:
    verdict = one.verdict
    return Refusal(
        tool="Bash" if one.change.text is None else "Write",
        path=virtual_path(one.root, one.change.path),
        verdict=verdict.word,
        rule=rule or ("removals-wait" if isinstance(verdict, Allow) else verdict.rule),
        reason="" if isinstance(verdict, Allow) else verdict.reason,
    )


def _source(one: Weighed, context: Context) -> str:
    return one.finding.sources[0] if one.finding.sources else f"{context.agent} {context.session}"


def _held_key(changes: Sequence[HeldChange]) -> str:
    """One row for each evidence key and name; without evidence the words stand for it."""
    parts = []
    for change in changes:
        keys = sorted(proof.key for proof in change.proofs) or [change.text or ""]
        parts.append("\x1f".join([change.root, change.name, "remove" if change.text is None else "", *keys]))
    return hashlib.sha256("\x1e".join(sorted(parts)).encode("utf-8", "surrogatepass")).hexdigest()
