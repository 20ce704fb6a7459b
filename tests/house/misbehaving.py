"""Run as a process: the whole house, with a scripted model behind Spending; says what became of each case."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from agent.setting import SHOWN
from house.misbehaviours import BY_HAND, MISBEHAVIOURS, SEEDS, Misbehaviour, seed_call

from extractord.config import load_settings
from extractord.core.budget import Limits
from extractord.core.memory import unstamp
from extractord.core.records import (
    Entry,
    Exchange,
    Message,
    Origin,
    Project,
    Reply,
    Role,
    Snapshot,
    Tool,
    Window,
)
from extractord.edges.redaction import Redaction
from extractord.errors import ModelError
from extractord.house import House, now, opened
from extractord.spending import Spending

SAID_AT = datetime(2026, 11, 30, 10, 45, tzinfo=UTC)
FINISH = Reply(text="Nothing more.")


class ScriptedHost:
    """Answers with the replies that it was given, and then with no reply."""

    def __init__(self) -> None:
        self.replies: list[Reply] = []

    async def complete(
        self, _messages: Sequence[Message], _tools: Sequence[Tool], _most: int = 0
    ) -> tuple[Reply, int]:
        if not self.replies:
            raise ModelError("no more replies", fault="refused")
        return self.replies.pop(0), 1


def snapshot(project: Project, session: str, exchanges: Sequence[Sequence[Entry]]) -> Snapshot:
    window = Window(
        agent="codex",
        session=session,
        project=project,
        exchanges=tuple(
            Exchange(agent="codex", session=session, key=entries[0].id, entries=tuple(entries), ended=True)
            for entries in exchanges
        ),
    )
    return Snapshot(window=window)


def seeding(session: str) -> list[list[Entry]]:
    return [
        [
            Entry(
                id=f"{session}-{name}",
                agent="codex",
                session=session,
                role=Role.USER,
                origin=Origin.HUMAN,
                text=said,
                time=SAID_AT,
            )
        ]
        for name, said in SEEDS.items()
    ]


def session_of(session: str) -> list[list[Entry]]:
    entries = []
    for shown in SHOWN:
        entry = shown.entry
        fields = {name: getattr(entry, name) for name in entry.__struct_fields__}
        entries.append(Entry(**{**fields, "id": f"{session}-{entry.id}", "session": session}))
    return [entries[:2], entries[2:3], entries[3:]]


def texts(root: Path) -> dict[str, str]:
    return {
        str(path.relative_to(root)): unstamp(path.read_text())
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


async def one(house: House, host: ScriptedHost, number: int, case: Misbehaviour) -> dict[str, object]:
    name = f"case-{number:03d}"
    project = Project(slug=f"{name}-{number:016x}", identity=f"/x/{name}", directory=f"/x/{name}")
    root = house.settings.memory_dir / "projects" / project.slug
    host.replies = [Reply(calls=tuple(seed_call(seed, f"e{n}") for n, seed in enumerate(SEEDS, 1))), FINISH]
    seeded = await house.extraction.run(snapshot(project, f"{name}-seeds", seeding(f"{name}-seeds")))
    assert seeded is not None
    (root / "by-hand.md").write_text(BY_HAND)
    before = texts(root)
    user = house.settings.memory_dir / "user"
    before_user = texts(user)
    host.replies = list(case.replies)
    row = await house.extraction.run(snapshot(project, name, session_of(name)))
    assert row is not None
    rows = [row for row in house.ledger.audit.about(row.run) if row.kind == "refused"]
    return {
        "name": case.name,
        "seeded": [seeded.outcome, len(seeded.written), seeded.reason],
        "outcome": row.outcome,
        "reason": row.reason,
        "denied": row.denied,
        "requests": row.requests,
        "held": row.held,
        "written": row.written,
        "removed": row.removed,
        "confinement": row.confinement,
        "audit": [[row.detail[key] for key in ("by", "verdict", "rule", "path")] for row in rows],
        "before": before,
        "after": texts(root),
        "user_before": before_user,
        "user_after": texts(user),
    }


def itself(beside: Path) -> dict[str, object]:
    """What this process, the daemon, can write and still has of the key in its environment."""
    refused = []
    for path in (
        beside / "x",
        beside.parent / "x",
        Path(f"/proc/{os.getppid()}/comm"),
        Path("/proc/self/mem"),
    ):
        try:
            path.open("r+b" if path.exists() else "wb").close()
        except PermissionError:
            refused.append(True)
        else:
            refused.append(False)
    environ = Path("/proc/self/environ").read_text() + str(dict(os.environ))
    return {"refused": refused, "has_key": "hunter2" in environ, "has_home": "HOME" in environ}


async def main(wanted: Sequence[str]) -> None:
    settings = load_settings()
    async with opened(settings) as house:
        redaction, host = Redaction(), ScriptedHost()
        limits = Limits(day_requests=10_000, day_tokens="unlimited")
        spending = Spending(house.ledger.runs, host, redaction, limits, now)
        scripted = replace(house, extraction=replace(house.extraction, spending=spending))
        for number, case in enumerate(MISBEHAVIOURS):
            if not wanted or case.name in wanted:
                print(json.dumps(await one(scripted, host, number, case)), flush=True)
        print(json.dumps({"rows": house.ledger.audit.verify(), **itself(settings.data_dir)}))
        await redaction.close()


asyncio.run(main(sys.argv[1:]))
