"""Taking over facts of other stores: judged as what an agent wrote, foreign until a person accepts them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from extractord.core.digesting import digest
from extractord.core.foreign import verdict_on, virtual_path
from extractord.core.survey import kind_of
from extractord.core.taking import Taken, composed, named
from extractord.core.versions import Current
from extractord.edges.store.placing import Placement
from extractord.edges.store.restraint import Sayings
from extractord.edges.store.secrets import find_secret
from extractord.edges.store.store import PERSON, Store
from extractord.policy.requests import RunFacts, Trust
from extractord.policy.verdict import Allow, Deny, Hold

_EVIDENCE = RunFacts(trust=Trust.INFERRED, reason="another agent's store has it")
_TRIES = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Comes:
    """What becomes of a fact."""

    root: str
    path: str
    fact: Taken
    text: str
    done: str
    """imported, withheld, refused, known or forgotten."""
    reason: str = ""


class Importing:
    """Over the store, whose law, tombstones and one writer decide."""

    def __init__(self, store: Store, by: str = PERSON) -> None:
        """`by` is who decides, as for Keeping."""
        self._store = store
        self._by = by

    def plan(self, facts: Iterable[tuple[str, Taken]]) -> tuple[Comes, ...]:
        """Given facts, each with the root that it belongs to, return what would become of each."""
        facts = list(facts)
        roots = {root for root, _ in facts}
        names = set(self._store.names())
        rows = {root: self._store.survey(root) if root in names else () for root in roots}
        said = {root: Sayings({root: rows[root]}) for root in roots}
        used = {root: {row.path for row in rows[root]} for root in roots}
        return tuple(self._one(root, fact, said[root], used[root]) for root, fact in facts)

    def carry_out(self, plan: Sequence[Comes]) -> None:
        """Put what comes on disk, in one commit. Raise ConflictError where a file came meanwhile."""
        placements = []
        for one in plan:
            if one.done not in ("imported", "withheld"):
                continue
            raw = one.text.encode()
            current = Current(
                sha256=digest(raw),
                trust=Trust.INFERRED,
                foreign=True,
                withheld=one.reason if one.done == "withheld" else "",
            )
            placements.append(Placement(one.root, one.path, None, raw, current))
        if placements:
            self._store.place(placements, self._by, "import")

    def _one(self, root: str, fact: Taken, said: Sayings, used: set[str]) -> Comes:
        text = composed(fact, kind_of(root))
        path = _free(named(fact.name), used)

        def comes(done: str, reason: str = "") -> Comes:
            return Comes(root=root, path=path, fact=fact, text=text, done=done, reason=reason)

        verdict = verdict_on(root, path, text, _EVIDENCE)
        if isinstance(verdict, Deny):
            path = _free(f"fact-{digest(text.encode())[:8]}", used)
            verdict = verdict_on(root, path, text, _EVIDENCE)  # its name may have been all that was wrong
        if isinstance(verdict, Deny):
            return comes("refused", f"{verdict.rule}: {verdict.reason}")
        secret = find_secret(text)
        if secret is not None:
            return comes("refused", f"secret: it holds what looks like a credential ({secret})")
        if self._store.burying.buries(root, path, text):
            return comes("forgotten", "a person had this forgotten")
        repeated = said.repeats(virtual_path(root, path), text)
        if not isinstance(repeated, Allow):
            return comes("known", repeated.reason)
        used.add(path)
        if isinstance(verdict, Hold):
            return comes("withheld", f"{verdict.rule}: {verdict.reason}")
        return comes("imported")


def _free(name: str, used: set[str]) -> str:
    taken = {path.casefold() for path in used}
    names = [name, *(f"{name}-{number}" for number in range(2, _TRIES))]
    return next((f"{one}.md" for one in names if f"{one}.md".casefold() not in taken), f"{name}.md")
