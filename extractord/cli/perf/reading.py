"""From bytes to the gate's decision, against reading the same lines in the plainest ways."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
from msgspec import Struct

from extractord.agent.prompts import load
from extractord.cli.perf.claude import write_session
from extractord.cli.perf.codex import write_thread
from extractord.cli.perf.rows import TIMES, Conditions, Row, at_least
from extractord.cli.perf.timing import interleaved
from extractord.core.gate import GateSettings
from extractord.core.records import Project, Window
from extractord.core.transcripts import claude_code, codex
from extractord.core.transcripts.source import Source
from extractord.edges.ledger import Ledger
from extractord.errors import ExtractordError
from extractord.reading import Reading

GROUP = "gate"
MB = 1_000_000
_SIZE, _QUICK_SIZE = 200 * MB, 20 * MB
_ROUNDS, _QUICK_ROUNDS = 3, 3
_TIMES_JSON = 2.5
_TIMES_MSGSPEC = 0.6
_OF_LINES = 64 * 1024
SHOP = Project(slug="shop-0123456789abcdef", identity="/home/dev/shop", directory="/home/dev/shop")


class _Claude(Struct, gc=False):
    type: str | None = None
    uuid: str | None = None
    timestamp: str | None = None


class _Payload(Struct, gc=False):
    type: str | None = None
    role: str | None = None


class _Codex(Struct, gc=False):
    type: str | None = None
    timestamp: str | None = None
    payload: _Payload | None = None


def measure(conditions: Conditions) -> Sequence[Row]:
    """Measure both agents' transcripts."""
    size = _QUICK_SIZE if conditions.quick else _SIZE
    rounds = _QUICK_ROUNDS if conditions.quick else _ROUNDS
    session = conditions.folder / "session.jsonl"
    write_session(session, size)
    rows = _rows(claude_code.SOURCE, session, msgspec.json.Decoder(_Claude).decode, rounds)
    session.unlink()
    thread = write_thread(conditions.folder, size)
    return [*rows, *_rows(codex.SOURCE, thread, msgspec.json.Decoder(_Codex).decode, rounds)]


def read(source: Source, path: Path) -> int:
    """Given a transcript, read it as the daemon does, with its own state; return the exchanges to run."""
    with TemporaryDirectory(dir=path.parent) as state, Ledger.open(Path(state)) as ledger:
        return read_into(ledger, source, path)


def read_into(ledger: Ledger, source: Source, path: Path) -> int:
    """The same with a ledger that nothing was read into."""
    reading = reading_over(ledger, str(path.parent))

    async def found() -> int:
        # what a task returns is spelt out when its loop ends: so nothing but a number leaves it
        come = await reading.touched(source, str(path), datetime.now(UTC))
        return sum(len(each.exchanges) for each in come if isinstance(each, Window))

    return asyncio.run(found())


def reading_over(ledger: Ledger, copy_dir: str) -> Reading:
    """Given a ledger, return a reading for which every session belongs to one project."""
    return Reading(
        ledger.ranges,
        lambda _agent, _session, _cwd: SHOP,
        GateSettings(
            home="/home/dev",
            memory_roots=("/home/dev/.local/share/extractord/memory",),
            own_marker=load().system.partition("\n")[0],
        ),
        settle_s=20.0,
        copy_dir=copy_dir,
        transaction=ledger.transaction,
    )


def _rows(source: Source, path: Path, decode: Callable[[bytes], object], rounds: int) -> list[Row]:
    mb = path.stat().st_size / MB
    found = read(source, path)
    if not found:
        raise ExtractordError(f"nothing in the {source.agent} transcript passed the gate")
    with ExitStack() as stack:
        folders = (stack.enter_context(TemporaryDirectory(dir=path.parent)) for _ in range(rounds))
        ledgers = [stack.enter_context(Ledger.open(Path(folder))) for folder in folders]
        taken = interleaved(
            {
                "json.loads": lambda: _each_line(path, json.loads),
                "msgspec": lambda: _each_line(path, decode),
                "ours": lambda: read_into(ledgers.pop(), source, path),
            },
            rounds,
        )
    rates = ", ".join(f"{way} {mb / one.wall:,.0f} MB/s" for way, one in taken.items())
    name = f"{source.agent}: bytes to gate decision"
    mean = path.stat().st_size / _lines_in(path)
    detail = (
        f"made up in the mix of real sessions: {mb:,.0f} MB, {mean:,.0f} bytes a line, {found:,} exchanges "
        f"of {mb * 1_000 / found:,.0f} KB; "
        f"{rates}; by processor time "
    )
    return [
        at_least(
            GROUP,
            name,
            taken[way].wall / taken["ours"].wall,
            target,
            TIMES,
            against,
            f"{detail}{taken[way].cpu / taken['ours'].cpu:.2f}",
        )
        for way, target, against in (
            ("json.loads", _TIMES_JSON, "the speed of json.loads per line"),
            ("msgspec", _TIMES_MSGSPEC, "the speed of a bare typed msgspec loop"),
        )
    ]


def _lines_in(path: Path) -> int:
    with path.open("rb") as file:
        return sum(1 for _ in file)


def _each_line(path: Path, decode: Callable[[bytes], object]) -> None:
    with path.open("rb", buffering=_OF_LINES) as file:
        for line in file:
            decode(line)
