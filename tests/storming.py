"""Processes that commit, undo and forget in one memory directory while a person edits it by hand.

`python tests/storming.py --seconds 60` prints what came of it; the test is shorter.
"""

from __future__ import annotations

import argparse
import json
import random
import secrets
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from crashing import check
from person import SHOP_ROOT, Person
from storing import PROJECT, USER, fact

from extractord.core.changeset import INDEX
from extractord.core.digesting import digest
from extractord.core.memory import unstamp
from extractord.core.records import Outcome
from extractord.edges.store import Keeping, Undone
from extractord.errors import ConflictError, UsageError
from extractord.policy.requests import RootKind
from extractord.storeroom import Storeroom, storeroom

PROCESSES = 8
TOPICS = (
    "deploys",
    "indents",
    "reviews",
    "branches",
    "licences",
    "caches",
    "ports",
    "queues",
    "locales",
    "fonts",
)
_PATIENCE_S = 120.0
"""So much longer a process goes on that has not saved anything."""
_ROOTS = {PROJECT: SHOP_ROOT, USER: "user"}


Kept = tuple[str, str, str, str | None]
"""A run that was told that it saved, root and path, and the digest of its text; None for a removal."""


def run(home: Path, seed: int, seconds: float) -> tuple[Counter[str], list[Kept]]:
    """A process: random change-sets, an undo or a deletion now and then; what came, and what was saved."""
    chance, came = random.Random(seed), Counter[str]()  # noqa: S311 - a storm that can be had again
    person = Person(home)
    person.runs = seed * 1_000_000
    until = time.monotonic() + seconds
    saved: list[str] = []
    kept: list[Kept] = []
    with storeroom(person.settings, print) as room:
        while (moment := time.monotonic()) < until or (not kept and moment < until + _PATIENCE_S):
            match chance.random():
                case dice if dice < 0.08 and saved:
                    came[_undone(room, saved.pop())] += 1
                case dice if dice < 0.14:
                    came[_forgotten(room, chance)] += 1
                case _:
                    outcome, texts = _committed(person, room, chance)
                    came[outcome] += 1
                    if outcome is Outcome.SAVED:
                        saved.append(f"run-{person.runs}")
                        kept += [(saved[-1], *where, text) for where, text in texts.items()]
    return came, kept


def _committed(
    person: Person, room: Storeroom, chance: random.Random
) -> tuple[Outcome, dict[tuple[str, str], str | None]]:
    """How a random change-set ended, and the digest of each text of it that was written."""
    topics = chance.sample(TOPICS, chance.randint(1, 3))
    words = f"These are settled by plan {secrets.token_hex(3)}: {', '.join(topics)}"
    changes: list[tuple[RootKind, str, str | None]] = []
    for topic in topics:
        kind = chance.choice((PROJECT, USER))
        said = f"{topic} are settled by plan {words.split()[5].rstrip(':')}"
        text = fact(topic, said, "user" if kind is USER else "project")
        there = (person.memory / _ROOTS[kind] / f"{topic}.md").exists()
        changes.append((kind, f"{topic}.md", None if there and chance.random() < 0.1 else text))
    outcome = person.run(changes, words, room=room)
    if outcome.outcome in (Outcome.CONFLICT, Outcome.FAILED):
        room.ledger.ranges.release(f"run-{person.runs}", attempted=False, retry_at=None)
    done = {*outcome.written, *outcome.removed}
    return outcome.outcome, {
        (_ROOTS[kind], path): None if text is None else digest(text.encode())
        for kind, path, text in changes
        if f"/memory/{kind}/{path}" in done
    }


def _undone(room: Storeroom, run: str) -> str:
    try:
        undone = Keeping(room.store).undo(run)
    except ConflictError:
        return "undo busy"
    return "undone" if undone != Undone(conflicts=undone.conflicts) else "undo conflicts"


def _forgotten(room: Storeroom, chance: random.Random) -> str:
    try:
        Keeping(room.store).forget(chance.choice([*_ROOTS.values()]), f"{chance.choice(TOPICS)}.md")
    except UsageError:
        return "nothing to forget"
    except ConflictError:
        return "forget busy"
    return "forgotten"


def edit(home: Path, seconds: float) -> tuple[int, list[tuple[str, str, str]]]:
    """A person: how many edits, and root, path and digest of each that somebody replaced."""
    chance = random.Random(0)  # noqa: S311 - the same
    memory = Person(home).memory
    mine: dict[tuple[str, str], bytes] = {}
    replaced: list[tuple[str, str, str]] = []
    until, edits = time.monotonic() + seconds, 0
    while time.monotonic() < until:
        root, path = chance.choice([*_ROOTS.values()]), f"{chance.choice(TOPICS[:4])}.md"
        place, before = memory / root / path, mine.get((root, path))
        if before is not None and _there(place) != before:
            replaced.append((root, path, digest(before)))
        text = fact(path[:-3], f"By hand, {secrets.token_hex(4)}").encode()
        written = place.with_name(f".edit-{secrets.token_hex(4)}")
        written.write_bytes(text)
        written.replace(place)
        mine[root, path] = text
        edits += 1
        time.sleep(chance.random() * 0.05)
    replaced += [
        (*where, digest(raw)) for where, raw in mine.items() if _there(memory / "/".join(where)) != raw
    ]
    return edits, replaced


def _there(place: Path) -> bytes | None:
    try:
        return place.read_bytes()
    except FileNotFoundError:
        return None


def storm(home: Path, seconds: float, processes: int = PROCESSES) -> dict[str, object]:
    """Let it blow; return the figures. Raise AssertionError where anything is lost, torn or stuck."""
    person = Person(home)
    with storeroom(person.settings, print) as room:
        for root in _ROOTS.values():
            room.store.roots.folder(root)
    began = time.monotonic()
    asked = [sys.executable, __file__, "--home", str(home), "--seconds", str(seconds)]
    crew = [
        subprocess.Popen([*asked, "--seed", str(seed)], stdout=subprocess.PIPE, text=True)
        for seed in range(processes + 1)
    ]
    try:
        told = [each.communicate(timeout=seconds + 240)[0] for each in crew]
    finally:
        for each in crew:
            each.kill()
    assert [each.returncode for each in crew] == [0] * len(crew)
    took = time.monotonic() - began
    edits, replaced = json.loads(told[0])
    came: Counter[str] = Counter()
    kept: list[Kept] = []
    for said in told[1:]:
        counted, saved = json.loads(said)
        came.update(counted)
        kept += saved
    with storeroom(person.settings, print) as room:
        room.store.notice(room.store.names())
        check(person, room)
        for root, path, sha in replaced:
            known = {version.sha256 for version in room.ledger.versions.history(root, path)}
            assert sha in known, f"an edit of {root}/{path} is lost"
        assert len(kept) >= came[Outcome.SAVED] > 0
        for number, root, path, text in kept:
            made = [one for one in room.ledger.versions.history(root, path) if one.by == number]
            assert len(made) == 1, f"{number} was told that it saved {root}/{path}"
            raw = room.ledger.versions.content(made[0].sha256) if made[0].sha256 else None
            assert (None if raw is None else digest(unstamp(raw.decode()).encode())) == text, f"{root}/{path}"
        for root in room.store.names():
            for path in {*room.ledger.versions.current(root)}:
                text = (person.memory / root / path).read_text()
                assert text.startswith("---\n"), f"{path} is torn"
                assert text.endswith("\n"), f"{path} is torn"
            index = (person.memory / root / INDEX).read_text()
            assert index.count("](") == len(room.ledger.versions.current(root))
        rows = room.ledger.audit.verify()
    assert not list(person.memory.rglob(".tmp-*"))
    return {
        "seconds": round(took, 1),
        "processes": processes,
        "edits by hand": edits,
        "of these replaced by a run and in the history": len(replaced),
        "versions that runs were told are saved, each in the history": len(kept),
        "audit rows": rows,
        **dict(sorted(came.items())),
    }


def main() -> int:
    """Blow for so many seconds, and print the figures."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--home", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--seed", type=int, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.seed is None:
        with tempfile.TemporaryDirectory(prefix="storm-") as home:
            print(json.dumps(storm(Path(home), asked.seconds), indent=1))
    elif asked.seed == 0:
        print(json.dumps(edit(asked.home, asked.seconds)))
    else:
        print(json.dumps(run(asked.home, asked.seed, asked.seconds)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
