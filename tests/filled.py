"""A store as it is after some weeks: memories, what is held, versions, runs and what they cost."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

from person import SHOP, SHOP_ROOT, Person
from storing import PROJECT, USER, fact

from extractord.core.ports import RunRow
from extractord.core.records import Origin, Outcome, Usage
from extractord.edges.ledger import Ledger
from extractord.edges.store import Keeping
from extractord.policy.requests import RootKind
from extractord.storeroom import now, storeroom

TUESDAYS = f"{SHOP_ROOT}/deploy-only-on-tuesdays.md"
STAGING = f"{SHOP_ROOT}/staging-resets.md"
"""Edited by the person, so it has two versions."""
_WHY = (
    "We deploy only on Tuesdays.\n\n**Why:** the warehouse counts stock on Mondays.\n"
    "**How to apply:** do not propose a deploy on another day."
)
_SAID: tuple[tuple[RootKind, str, str, str, str, int], ...] = (
    (USER, "short-answers", "I prefer short answers without a summary at the end", "feedback", "", 21),
    (USER, "speaks-german", "I write my commit messages in English but my notes in German", "user", "", 19),
    (USER, "no-new-packages", "Never add a package without asking me first", "feedback", "", 12),
    (
        PROJECT,
        "deploy-only-on-tuesdays",
        "We deploy only on Tuesdays",
        "project",
        _WHY,
        14,
    ),
    (
        PROJECT,
        "four-spaces",
        "In this repository we indent with four spaces, the linter rejects tabs",
        "project",
        "",
        12,
    ),
    (
        PROJECT,
        "prices-in-cents",
        "All prices are stored as whole cents, never as floating numbers",
        "project",
        "",
        9,
    ),
    (PROJECT, "staging-resets", "The staging database is reset every night at three", "project", "", 6),
    (
        PROJECT,
        "payments-contact",
        "Questions about payments go to the billing channel before code is changed",
        "reference",
        "",
        3,
    ),
    (PROJECT, "orders-are-slow", "Order lines are loaded together since the page was slow", "project", "", 1),
)
_HEARD = (
    ("use-npm-ci", "The readme says that releases are built with npm ci and nothing else"),
    ("api-limit", "The supplier's page says that their interface takes sixty requests a minute"),
)


def filled(person: Person) -> None:
    """Let a person and their agents have worked with extractord for three weeks."""
    with storeroom(person.settings, print) as room:
        for kind, name, words, type_, body, days in _SAID:
            said = " ".join([words, *body.replace("*", "").split("\n")])
            changes = [(kind, f"{name}.md", fact(name, words, type_, body))]
            done = person.run(changes, said, at=person.began - timedelta(days=days), room=room)
            assert done.outcome is Outcome.SAVED, (name, done)
        for name, words in _HEARD:
            changes = [(PROJECT, f"{name}.md", fact(name, words))]
            done = person.run(changes, words, origin=Origin.SYNTHETIC, room=room)
            assert done.outcome is Outcome.HELD
        keeping = Keeping(room.store)
        root, path = SHOP_ROOT, "staging-resets.md"
        raw, text = room.store.roots.raw(root, path), room.store.roots.text(root, path)
        assert raw is not None
        assert text is not None
        keeping.edit(root, path, raw, text.replace("three", "four"))
        keeping.pin("user", "no-new-packages.md", pinned=True)
        for number, row in enumerate(room.ledger.runs.recent(100)):
            _finish(room.ledger, row, person.began - timedelta(days=number, hours=number % 5))
        for number, row in enumerate(_earlier(person.began)):
            _finish(room.ledger, row, row.started_at, number)
    _age(person.memory)


def _finish(ledger: Ledger, row: RunRow, began: datetime, number: int = 0) -> None:
    made = ledger.versions.made_by(row.run)
    held = tuple(
        f"{change.root}/{change.path}"
        for held in ledger.versions.held()
        if held.run == row.run
        for change in held.changes
    )
    written = tuple(f"{one.root}/{one.path}" for one in made if one.sha256 is not None)
    tokens = 2600 + 410 * (number * 7 % 11)
    usage = Usage(prompt_tokens=tokens, completion_tokens=180 + tokens // 40, dollars=tokens * 2.1e-6)
    ms = 1400 + 330 * (number * 5 % 9)
    outcome = (
        row.outcome
        if row.outcome != "running"
        else "held"
        if held
        else "saved"
        if written
        else "nothing_to_save"
    )
    ledger.runs.finish(
        RunRow(
            run=row.run,
            agent=row.agent,
            session=row.session,
            project=SHOP.slug,
            model="claude-haiku-4-5",
            started_at=began,
            ended_at=began + timedelta(milliseconds=ms),
            outcome=outcome,
            reason=row.reason,
            written=written,
            held=held,
            denied=row.denied,
            requests=1,
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
            dollars=usage.dollars,
            ms=ms,
            confinement="landlock7+seccomp",
        )
    )
    ledger.runs.spend(row.run, usage, began, None)


def _earlier(began: datetime) -> Iterator[RunRow]:
    """Runs of which no memory came."""
    ends = [
        ("nothing_to_save", ""),
        ("nothing_to_save", ""),
        ("failed", "transient: the provider took too long"),
        ("nothing_to_save", ""),
    ]
    for number in range(36):
        outcome, reason = ends[number % len(ends)] if number % 9 == 2 else ends[0]
        yield RunRow(
            run=f"early-{number:02}",
            agent=("claude-code", "codex", "gemini-cli")[number % 3],
            session=f"s{number}",
            project=SHOP.slug,
            model="claude-haiku-4-5",
            started_at=began - timedelta(hours=7 + number * 8.3 + (number * number) % 5),
            outcome=outcome,
            reason=reason,
            denied=number % 9 == 4,
        )


def _age(memory: Path) -> None:
    """The files were written when it was said."""
    days = {f"{name}.md": days for _, name, _, _, _, days in _SAID}
    for place in memory.rglob("*.md"):
        if place.name in days:
            moment = (now() - timedelta(days=days[place.name])).timestamp()
            os.utime(place, (moment, moment))
