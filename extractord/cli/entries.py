"""`entries`: what the daemon sees in a transcript, or in a folder of them."""

from __future__ import annotations

import asyncio
import os
import sys
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

from cyclopts import Parameter
from msgspec import Struct

from extractord.cli.json_lines import json_line, print_json
from extractord.cli.listing import Item, print_items
from extractord.cli.options import Json
from extractord.core.drift import hint
from extractord.core.printable import LINES, printable
from extractord.core.records import Entry
from extractord.core.transcripts import SOURCES
from extractord.core.transcripts.source import Source, Surroundings
from extractord.errors import EXIT_FAILED, TranscriptError
from extractord.reading.finding import chosen, found_at
from extractord.reading.listing import Told, listed

_TEXT_COLUMNS = 100


class CallRow(Struct, frozen=True):
    """A tool call, as `--json` prints it."""

    name: str
    paths: tuple[str, ...]
    writes: bool
    ok: bool | None


class Row(Struct, frozen=True):
    """An entry, as `--json` prints it."""

    id: str
    parent: str | None
    session: str
    agent: str
    role: str
    origin: str
    text: str
    calls: tuple[CallRow, ...]
    time: datetime | None
    cwd: str | None
    branch: str | None
    turn_end: bool
    active: bool


class Diagnosis(Struct, frozen=True):
    """What came of one transcript, as `--diagnose --json` prints it."""

    path: str
    agent: str
    versions: tuple[str, ...]
    sessions: tuple[str, ...]
    entries: dict[str, int]
    """By role and origin, `user/human`."""
    inactive: int
    unknown: dict[str, int]
    """Records that were not understood, by type."""
    skipped: int
    """Lines that were too long."""
    hint: str
    """What may be wrong, a sentence; empty where nothing is."""


def entries(
    path: Annotated[str, Parameter(help="A transcript, a database, or a folder of them.")],
    /,
    *,
    agent: Annotated[str | None, Parameter(help="Whose they are, where that cannot be told.")] = None,
    diagnose: Annotated[bool, Parameter(negative=(), help="Per file: what was seen, and what not.")] = False,
    json: Json = False,
) -> int:
    """Show what the daemon sees in transcripts: every entry, in order. Nothing is changed.

    An entry on a branch that a rewind abandoned is not active; a prompt that another session of
    the folder had first is copied.
    """
    around = Surroundings(os.environ, str(Path.home()), sys.platform)
    return asyncio.run(_show(path, chosen(SOURCES, agent), around, diagnose=diagnose, json=json))


async def _show(
    path: str, sources: Sequence[Source], around: Surroundings, *, diagnose: bool, json: bool
) -> int:
    problems: list[TranscriptError] = []

    def refused(problem: TranscriptError) -> None:
        print(f"extractord: {printable(str(problem), LINES)}", file=sys.stderr)
        problems.append(problem)

    with TemporaryDirectory(prefix="extractord-") as copy_dir:
        async for one in listed(await found_at(path, sources, around, refused), copy_dir):
            if isinstance(one, TranscriptError):
                refused(one)
            elif diagnose:
                _say_diagnosis(_diagnosis(one), json=json)
            elif json:
                _say_rows(one)
            else:
                _say_entries(one)
    return EXIT_FAILED if problems else 0


def _say_rows(one: Told) -> None:
    out = sys.stdout.buffer
    for entry in one.entries.values():
        out.write(json_line(_row(entry)).encode() + b"\n")
    out.flush()


def _row(entry: Entry) -> Row:
    return Row(
        id=entry.id,
        parent=entry.parent,
        session=entry.session,
        agent=entry.agent,
        role=entry.role.value,
        origin=entry.origin.value,
        text=entry.text,
        calls=tuple(CallRow(call.name, call.paths, call.writes, call.ok) for call in entry.calls),
        time=entry.time,
        cwd=entry.cwd,
        branch=entry.branch,
        turn_end=entry.turn_end,
        active=entry.active,
    )


def _diagnosis(one: Told) -> Diagnosis:
    kinds = Counter(f"{entry.role}/{entry.origin}" for entry in one.entries.values())
    return Diagnosis(
        path=one.path,
        agent=one.agent,
        versions=tuple(sorted(one.versions)),
        sessions=tuple(dict.fromkeys(entry.session for entry in one.entries.values())),
        entries=dict(kinds.most_common()),
        inactive=sum(not entry.active for entry in one.entries.values()),
        unknown=dict(one.unknown.most_common()),
        skipped=one.skipped,
        hint=hint(one.agent, one.versions, one.marked, one.entries.values()),
    )


def _say_diagnosis(found: Diagnosis, *, json: bool) -> None:
    if json:
        print_json(found)
        return
    sessions = "1 session" if len(found.sessions) == 1 else f"{len(found.sessions):,} sessions"
    print(printable(found.path))
    print(printable(f"{found.agent} {' '.join(found.versions) or 'version not named'}; {sessions}"))
    counted = [
        *found.entries.items(),
        ("abandoned by a rewind", found.inactive),
        ("lines too long, skipped", found.skipped),
        *((f"not understood: {kind}", count) for kind, count in found.unknown.items()),
    ]
    for what, count in counted:
        if count:
            print(printable(f"{count:>9,}  {what}"))
    if found.hint:
        print(printable(found.hint))
    print()


def _say_entries(one: Told) -> None:
    print(printable(one.path))
    print_items(map(_item, one.entries.values()))


def _item(entry: Entry) -> Item:
    text = " ".join(entry.text[: 4 * _TEXT_COLUMNS].split())[:_TEXT_COLUMNS]
    did = (f"→ {_did(call.name, call.paths, call.ok)}" for call in entry.calls)
    return Item(
        f"{entry.time:%Y-%m-%d %H:%M}" if entry.time else "at no time",
        f"{entry.role} {entry.origin}",
        tuple(filter(None, (text, *did))),
        is_void=not entry.active,
        ends=entry.turn_end,
    )


def _did(name: str, paths: Sequence[str], ok: bool | None) -> str:
    outcome = {True: "", False: " (refused or failed)", None: " (no result)"}[ok]
    return " ".join((name, *paths)) + outcome
