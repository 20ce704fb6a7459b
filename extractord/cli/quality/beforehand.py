"""What is there before a case is played: memories, and what was forgotten."""

from __future__ import annotations

import json
from datetime import timedelta

from extractord.cli.quality.neutral import AGENT, SESSION
from extractord.core.cases import Before, Case, Scope
from extractord.core.digesting import digest
from extractord.core.memory import stamp
from extractord.core.records import Entry, Evidence, Origin, Project, Role, Shown, Stamp
from extractord.core.scoring import Left
from extractord.core.survey import USER_ROOT
from extractord.core.versions import Current, Proof
from extractord.edges.store.placing import Placement
from extractord.edges.store.tombstones import prove
from extractord.policy.requests import Trust
from extractord.storeroom import Storeroom

_EARLIER = timedelta(days=7)


def put_beforehand(opened: Storeroom, case: Case, project: Project) -> list[Left]:
    """Commit the memories that are there before, make the tombstones; return those memories."""
    store, earlier = opened.store, case.now - _EARLIER
    placements, before = [], []
    for one in case.memories_before:
        text = _text(one)
        trust = Trust[one.trust.upper()]
        marks = Stamp(
            recorded_at=earlier, observed_at=earlier, trust=trust, source=f"{AGENT} before", run="before"
        )
        raw = stamp(text, marks).encode()
        current = Current(sha256=digest(raw), trust=trust)
        placements.append(Placement(root_of(one.scope, project), one.file, None, raw, current))
        before.append(Left(scope=one.scope, path=one.file, text=text))
    if placements:
        store.place(placements, "before", "restore")
    stones = []
    for gone in case.forgotten_before:
        text = _memory(gone.name or "forgotten", gone.description, "project", gone.description)
        for proof in _proofs(case, gone.evidence_entry, opened.state.identity.key):
            stones += store.burying.for_text(
                root_of("project", project), f"{gone.name or 'forgotten'}.md", text, [proof], "forgotten",
                proof.said_at or case.now,
            )  # fmt: skip
    opened.ledger.versions.bury(stones)
    store.burying.register(stones)
    return before


def _proofs(case: Case, evidence: str, key: bytes) -> tuple[Proof, ...]:
    """The entries that a forgotten memory rested on: one by its id or words, or all of the person's."""
    entries = [each for each in case.entries if each.id == evidence]
    if not entries and not evidence:
        entries = [each for each in case.entries if each.role is Role.USER]
    spoken = [(each.text, each.time) for each in entries] or [(evidence, None)]
    shown = [
        Shown(
            label=f"e{number}",
            entry=Entry(
                id=f"e{number}", agent=AGENT, session=SESSION, role=Role.USER, origin=Origin.HUMAN,
                text=text, time=said_at,
            ),
            text=text,
        )
        for number, (text, said_at) in enumerate(spoken)
    ]  # fmt: skip
    return prove(key, [Evidence(entry=each.label, quote="") for each in shown], shown)


def root_of(scope: Scope, project: Project) -> str:
    """Given whose memory it is, return the name of its root."""
    return USER_ROOT if scope == "user" else f"projects/{project.slug}"


def _text(one: Before) -> str:
    return _memory(one.name, one.description, one.type, one.body)


def _memory(name: str, description: str, type_: str, body: str) -> str:
    said = [json.dumps(words, ensure_ascii=False) for words in (name, description)]
    head = f"---\nname: {said[0]}\ndescription: {said[1]}\nmetadata:\n  type: {type_}\n---\n"
    return f"{head}{body.strip()}\n"
