"""What a commit comes to: weighed, split into committed and held, put in place, told to the ledger."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from msgspec.structs import replace

from extractord.core import memory as memories
from extractord.core.digesting import digest
from extractord.core.foreign import virtual_path
from extractord.core.ports import Ledger
from extractord.core.records import Change, Outcome, Refusal, Stamp
from extractord.core.survey import root_of
from extractord.core.versions import Current, Held, HeldChange, Proof, Tombstone, held_key
from extractord.edges.store.burying import Burying
from extractord.edges.store.noticing import Noticing
from extractord.edges.store.placing import Placement, Placing
from extractord.edges.store.roots import Roots
from extractord.edges.store.weighing import Context, Weighed, Weighing
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Committing:
    """The steps of a commit, under the lock that the caller holds."""

    roots: Roots
    ledger: Ledger
    noticing: Noticing
    weighing: Weighing
    placing: Placing
    burying: Burying
    redact: Callable[[str], str]

    def commit(self, changes: Sequence[Change], context: Context, now: datetime) -> Committed:
        """Given a run's change-set, put what the law allows on disk and hold what it holds."""
        ledger = self.ledger
        if not ledger.ranges.holds(context.run, context.owner):
            return Committed(outcome=Outcome.ABORTED, reason="claim_lost")
        roots = dict.fromkeys(
            root_of(change.root, context.project)
            for change in changes
            if change.root is RootKind.USER or context.project.is_project
        )
        warnings = tuple(
            filter(None, [self.noticing.notice(root, self.roots.survey(root), now) for root in roots])
        )
        weighed = self.weighing.weigh(changes, context)
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
            ledger.audit.allowed(context.run, map(_request, allowed), context.confinement, now)
            outcome = _outcome(allowed, kept)
            detail = {
                "held": _places(kept),
                "confinement": context.confinement,
                "outcome": outcome,
                "written": _paths(allowed, there=True),
                "removed": _paths(allowed, there=False),
            }
            ledger.audit.note("commit", context.run, detail, now)
            ledger.ranges.close_run(context.run, outcome, now)

        if placements:
            self.placing.carry_out(context.run, placements, now, also)
        else:
            with ledger.transaction():
                also()
        self.burying.register(stones)
        return Committed(
            outcome=_outcome(allowed, kept),
            written=_paths(allowed, there=True),
            removed=_paths(allowed, there=False),
            held=_places(kept),
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
        known = self.ledger.versions.proofs(one.root, one.change.path)
        proofs: dict[str, Proof] = {proof.key: proof for proof in (*known, *one.proofs)}
        return self.burying.for_text(one.root, one.change.path, one.before, proofs.values(), "stated", now)

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
                quotes=tuple(self.redact(item.quote)[:QUOTE_CHARS] for item in one.change.evidence),
                proofs=one.proofs,
            )
            for one in group
        )
        return Held(key=held_key(changes), run=context.run, at=now, changes=changes)


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
    return _places(one for one in allowed if (one.change.text is not None) is there)


def _places(weighed: Iterable[Weighed]) -> tuple[str, ...]:
    return tuple(virtual_path(one.root, one.change.path) for one in weighed)


def _refusal(one: Weighed, rule: str = "") -> Refusal:
    verdict = one.verdict
    if isinstance(verdict, Allow):
        return replace(_request(one), rule=rule or "removals-wait")
    return replace(_request(one), rule=rule or verdict.rule, reason=verdict.reason)


def _request(one: Weighed) -> Refusal:
    """What was asked, and the verdict."""
    return Refusal(
        tool="Bash" if one.change.text is None else "Write",
        path=virtual_path(one.root, one.change.path),
        verdict=one.verdict.word,
        rule="",
        reason="",
    )


def _source(one: Weighed, context: Context) -> str:
    return one.finding.sources[0] if one.finding.sources else f"{context.agent} {context.session}"
