"""What a request meets: the facts that it is judged by, and the change-set that it goes into."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from extractord.core.attribution import index_words
from extractord.core.changeset import ChangeSet
from extractord.core.ports import View
from extractord.core.records import Change, Evidence, Known, Shown
from extractord.core.trust import Finding, assess
from extractord.policy import find_place, judge
from extractord.policy.requests import (
    VIRTUAL_ROOTS,
    Edit,
    Facts,
    Found,
    Law,
    PathFacts,
    Read,
    Remove,
    Request,
    RootKind,
    RunFacts,
    Trust,
    Write,
)
from extractord.policy.verdict import Deny, Verdict

LAW = Law(roots=VIRTUAL_ROOTS)
"""What the sub-agent is judged by: its two virtual roots and the usual limits."""

_REGULAR = (Found.NOTHING, Found.FILE)
"""Whatever else stands at a path is refused without a look at its bytes."""
_UNSEEN = PathFacts(found=Found.FILE)


@dataclass(frozen=True, slots=True)
class Spot:
    """A path that the law allows by its text, and what stands there."""

    path: str
    """Virtual, as asked."""
    kind: RootKind
    below: str
    facts: PathFacts


@dataclass(slots=True)
class _Past:
    """A memory as it was when the run began, and all evidence that its changes cited."""

    before: str | None
    evidence: tuple[Evidence, ...] = ()


class Ground:
    """The two roots as the run left them, and what the ledger and the brief say about them."""

    def __init__(
        self, view: View, shown: tuple[Shown, ...], known: Iterable[Known], *, has_project: bool
    ) -> None:
        self.changes = ChangeSet(view)
        self._shown = index_words(shown)
        self._known = {(memory.root, memory.path): memory for memory in known}
        self._has_project = has_project
        self._past: dict[tuple[RootKind, str], _Past] = {}
        self._memories: Mapping[RootKind, int] | None = None

    def judge(
        self, request: Request, evidence: tuple[Evidence, ...] = ()
    ) -> tuple[Verdict, tuple[Spot, ...]]:
        """Given a request, return its verdict and what stands at its paths.

        Paths are asked about twice: nothing is looked up that their text alone forbids. Raise
        StoreError where a memory cannot be read.
        """
        paths = request.paths if isinstance(request, Remove) else (request.path,)
        for path in paths:
            by_text = judge(Read(path), Facts(paths={path: _UNSEEN}), LAW)
            if isinstance(by_text, Deny):
                return by_text, ()
        spots = tuple(self._spot(path) for path in paths)
        run = None
        if not isinstance(request, Read) and all(spot.facts.found in _REGULAR for spot in spots):
            run = self._run_facts(request, spots, evidence)
        return judge(request, Facts(paths={spot.path: spot.facts for spot in spots}, run=run), LAW), spots

    def is_new(self, path: str) -> bool:
        """True if the law allows the path by its text and nothing stands there."""
        verdict, spots = self.judge(Read(path))
        return isinstance(verdict, Deny) and any(spot.facts.found is Found.NOTHING for spot in spots)

    def files_with(self, spots: Iterable[Spot]) -> int:
        """Return how many memories the run would have changed with these."""
        changed = {(change.root, change.path) for change in self.changes.changes()}
        return len(changed | {(spot.kind, spot.below) for spot in spots})

    def put(
        self, request: Write | Edit | Remove, spots: Iterable[Spot], evidence: tuple[Evidence, ...]
    ) -> None:
        """Lay an allowed or held request into the change-set."""
        for spot in spots:
            past = self._past_of(spot)
            past.evidence = tuple(dict.fromkeys([*past.evidence, *evidence]))
            match request:
                case Write(content=text):
                    self.changes.write(spot.kind, spot.below, text, evidence)
                case Edit(old=old, new=new):
                    self.changes.edit(spot.kind, spot.below, old, new, evidence)
                case Remove():
                    self.changes.remove(spot.kind, spot.below, evidence)

    def _spot(self, path: str) -> Spot:
        place = find_place(path, LAW)
        if place.root is None or place.root.kind is None:  # pragma: no cover - the law said no to it
            raise AssertionError(path)
        kind, below = place.root.kind, place.below
        if not below:
            return Spot(path, kind, below, PathFacts(found=Found.DIRECTORY))
        facts = self.changes.facts(kind, below)
        known = self._known.get((kind, below))
        if facts.found is not Found.FILE:
            pass
        elif known is not None:
            facts = replace(facts, trust=known.trust, foreign=known.foreign, pinned=known.pinned)
        elif self._past_of_key(kind, below).before is not None:
            facts = replace(facts, trust=Trust.INFERRED, foreign=True)
        return Spot(path, kind, below, facts)

    def _run_facts(
        self, request: Write | Edit | Remove, spots: tuple[Spot, ...], evidence: tuple[Evidence, ...]
    ) -> RunFacts:
        """What the run did so far with this request, and what its evidence comes to."""
        if self._memories is None:
            self._memories = self.changes.memories()
        after = [(spot, _after(request, spot)) for spot in spots]
        lowest = min(
            (self._assess(spot, text, evidence) for spot, text in after), key=lambda finding: finding.trust
        )
        return RunFacts(
            trust=lowest.trust,
            reason=lowest.reason,
            removals=self.changes.removals([(spot.kind, spot.below, text) for spot, text in after]),
            memories=self._memories,
            has_project=self._has_project,
        )

    def _assess(self, spot: Spot, text: str | None, evidence: tuple[Evidence, ...]) -> Finding:
        """Judge the whole change since the run began, so that two steps give no more than one."""
        past = self._past_of(spot)
        cited = tuple(dict.fromkeys([*past.evidence, *evidence]))
        change = Change(root=spot.kind, path=spot.below, text=text, evidence=cited)
        trust = spot.facts.trust if past.before is not None else None
        return assess(change, self._shown, past.before, trust)

    def _past_of(self, spot: Spot) -> _Past:
        return self._past_of_key(spot.kind, spot.below)

    def _past_of_key(self, kind: RootKind, below: str) -> _Past:
        past = self._past.get((kind, below))
        if past is None:
            past = _Past(self.changes.read(kind, below))
            self._past[kind, below] = past
        return past


def _after(request: Write | Edit | Remove, spot: Spot) -> str | None:
    """The text that a spot would have; an Edit that does not fit changes nothing."""
    match request:
        case Write(content=text):
            return text
        case Edit(old=old, new=new):
            before = spot.facts.text or ""
            return before.replace(old, new, 1) if old else before
        case Remove():
            return None
