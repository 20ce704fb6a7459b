"""What becomes of each change: judged again with the disk's facts, then committed, held or denied."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from extractord.core.attribution import index_words
from extractord.core.changeset import decode, loses, twin
from extractord.core.digesting import digest
from extractord.core.foreign import LAW, virtual_path
from extractord.core.memory import Malformed, Memory, parse, unstamp
from extractord.core.ports import Owner, Versions
from extractord.core.records import Change, Project, Shown
from extractord.core.survey import Surveyed, kind_of, root_of, stem
from extractord.core.trust import Finding, assess
from extractord.core.versions import HeldChange, Proof
from extractord.edges.store.restraint import Sayings, too_much
from extractord.edges.store.roots import Roots, path_facts
from extractord.edges.store.tombstones import WITHOUT_PROOF, blocking, fingerprint, prove
from extractord.errors import StoreError
from extractord.policy import judge
from extractord.policy.requests import Facts, Found, PathFacts, Read, Remove, RootKind, RunFacts, Trust, Write
from extractord.policy.verdict import Allow, Deny, Hold, Verdict, strictness


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """The run that a change-set comes from."""

    run: str
    agent: str
    session: str
    project: Project
    owner: Owner
    """The holder of the run's claim; asked for again inside the commit."""
    shown: tuple[Shown, ...]
    """What the brief showed: evidence is checked against it."""
    mode: Literal["auto", "ask"] = "auto"
    confinement: str = ""
    """The level reached, for the audit."""


@dataclass(frozen=True, slots=True)
class Weighed:
    """A change, what stands at its place now, and the verdict that counts."""

    change: Change
    root: str
    raw: bytes | None
    """The bytes there now."""
    before: str | None
    """Their text, without our stamps."""
    name: str
    finding: Finding
    proofs: tuple[Proof, ...]
    verdict: Verdict

    @property
    def is_loss(self) -> bool:
        """It removes a memory, or rewrites it to under half."""
        return loses(self.before, self.change.text)


class Weighing:
    """Judges changes under the lock that the caller holds; changes nothing."""

    def __init__(
        self,
        roots: Roots,
        versions: Versions,
        identity_key: bytes,
        find_secret: Callable[[str], str | None],
    ) -> None:
        self._roots = roots
        self._versions = versions
        self._key = identity_key
        self._find_secret = find_secret

    def weigh(self, changes: Sequence[Change], context: Context) -> list[Weighed] | str:
        """Given a change-set, return each change weighed, or the virtual path of the first conflict.

        A conflict is a place whose bytes are not those that the run saw.
        """
        names = {kind: root_of(kind, context.project) for kind in RootKind}
        if not context.project.is_project:
            del names[RootKind.PROJECT]
        surveys = {kind: self._roots.survey(root) for kind, root in names.items()}
        rows = {kind: {row.path: row for row in survey} for kind, survey in surveys.items()}
        sayings = Sayings({names[kind]: survey for kind, survey in surveys.items()})
        run = RunFacts(
            trust=Trust.UNTRUSTED,
            memories={kind: len(rows.get(kind, {})) for kind in RootKind},
            has_project=context.project.is_project,
        )
        window = index_words(context.shown)
        removals: Counter[RootKind] = Counter()
        weighed: list[Weighed] = []
        for change in changes:
            if change.text is None:
                sayings.forget(virtual_path(names.get(change.root, ""), change.path))
        for change in changes:
            row = rows.get(change.root, {}).get(change.path)
            found = self._look(change, names.get(change.root), context)
            if isinstance(found, str):
                return found
            if isinstance(found.verdict, Deny):
                weighed.append(found)
                continue
            removals[change.root] += found.is_loss
            finding = assess(change, window, found.before, row.trust if row else None)
            facts = replace(run, trust=finding.trust, reason=finding.reason, removals=dict(removals))
            verdict = self._judge(found, row, facts, [one.change for one in weighed])
            if isinstance(verdict, Allow):
                verdict = self._restrain(found, sayings, weighed, context)
            elif isinstance(verdict, Hold):
                verdict = max(verdict, _repeated(found, sayings), key=strictness)
            weighed.append(replace(found, finding=finding, verdict=verdict))
        return weighed

    def judge(
        self,
        change: Change | HeldChange,
        root: str,
        before: str | None,
        row: Surveyed | None,
        run: RunFacts,
        created: Sequence[str] = (),
    ) -> Verdict:
        """Given a change and what stands at its place, return the stricter of law and detect-secrets.

        `created` are the paths that the same change-set adds below the same root.
        """
        virtual = virtual_path(root, change.path)
        facts = PathFacts()
        if run.has_project or kind_of(root) is RootKind.USER:
            facts = path_facts(self._roots.folder(root).facts(change.path), before, row)
        facts = replace(facts, twin=facts.twin or twin(change.path, created))
        request = Remove((virtual,)) if change.text is None else Write(virtual, change.text)
        verdict = judge(request, Facts(paths={virtual: facts}, run=run), LAW)
        if change.text is None or isinstance(verdict, Deny):
            return verdict
        secret = self._find_secret(change.text)
        if secret is not None:
            return Deny("secret", f"detect-secrets found a credential ({secret}). Leave it out.")
        return verdict

    def _restrain(
        self, found: Weighed, sayings: Sayings, weighed: Sequence[Weighed], context: Context
    ) -> Verdict:
        """What stands against an allowed change because of what else there is: of the run, of its roots."""
        change = found.change
        kept = [one.change.text for one in weighed if not isinstance(one.verdict, Deny)]
        verdict = too_much([*kept, change.text])
        if isinstance(verdict, Allow):
            verdict = _repeated(found, sayings)
        if isinstance(verdict, Allow) and context.mode == "ask":
            verdict = Hold("ask", "Every change waits for a person's review.")
        return verdict

    def _look(self, change: Change, root: str | None, context: Context) -> Weighed | str:
        """The change with what stands at its place; a conflict's path; Deny where nobody can tell."""
        found = Weighed(
            change=change,
            root=root or root_of(change.root, context.project),
            raw=None,
            before=None,
            name=_name(change.path, change.text),
            finding=Finding(Trust.UNTRUSTED),
            proofs=prove(self._key, change.evidence, context.shown),
            verdict=Allow(),
        )
        if root is None:
            return found
        virtual = virtual_path(root, change.path)
        by_text = judge(Read(virtual), Facts(paths={virtual: PathFacts(found=Found.FILE)}), LAW)
        if isinstance(by_text, Deny):
            return replace(found, verdict=by_text)
        try:
            raw = self._roots.raw(root, change.path)
            before = None if raw is None else unstamp(decode(change.path, raw))
        except StoreError as error:
            return replace(found, verdict=Deny("unreadable", str(error)))
        if change.base != (None if raw is None else digest(raw)):
            return virtual
        fault = _fault(change.path, before) or _fault(change.path, change.text)
        verdict: Verdict = Deny("malformed", fault) if fault else Allow()
        name = found.name if change.text is not None else _name(change.path, before)
        return replace(found, raw=raw, before=before, name=name, verdict=verdict)

    def _judge(
        self, found: Weighed, row: Surveyed | None, run: RunFacts, others: Sequence[Change]
    ) -> Verdict:
        """The strictest of the law, detect-secrets and the tombstones."""
        change = found.change
        created = [one.path for one in others if one.root is change.root and one.text is not None]
        verdict = self.judge(change, found.root, found.before, row, run, created)
        if change.text is None or isinstance(verdict, Deny):
            return verdict
        stones = self._versions.tombstones([WITHOUT_PROOF, *(proof.key for proof in found.proofs)])
        if blocking(stones, found.root, found.name, fingerprint(self._key, change.text), found.proofs):
            return Deny("forgotten", "A person had this forgotten; only saying it again brings it back.")
        return verdict


def _repeated(found: Weighed, sayings: Sayings) -> Verdict:
    """What stands against a new memory because another one says the same."""
    if found.change.text is None or found.raw is not None:
        return Allow()
    return sayings.repeats(virtual_path(found.root, found.change.path), found.change.text)


def _name(path: str, text: str | None) -> str:
    memory = None if text is None else parse(text)
    return (memory.name if isinstance(memory, Memory) else "") or stem(path)


def _fault(path: str, text: str | None) -> str:
    memory = None if text is None else parse(text)
    return f"{path}: {memory.reason}" if isinstance(memory, Malformed) else ""
