"""What it costs to look for secrets in a very long session: tiers are filled first, then searched."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from extractord.cli.perf.prose import Length, Prose
from extractord.cli.perf.rows import Conditions, Row, at_most
from extractord.config import Settings
from extractord.core.brief import draft
from extractord.core.records import Entry, Exchange, Origin, Project, Role, Window
from extractord.edges.redaction import Redaction
from extractord.errors import ExtractordError
from extractord.policy.secret import find_secrets

GROUP = "redact"
_BYTES, _QUICK_BYTES = 57_000_000, 6_000_000
_MOST_S = 1.0
_NAIVE_SHARE = 20
"""Of so many exchanges one is searched the naive way: all of them take minutes."""
_PROMPT = Length(120, 500, 8_000)
_ANSWER = Length(250, 500, 15_000)
_OUTPUT = Length(4_000, 20_000, 60_000)
_CALLS = 6
_SECRET = "export AWS_SECRET_ACCESS_KEY=" + "wJalr7UtnFEMI0K7MDENGabPxRfiCYzk3XAMPLEk"  # nobody's


def measure(conditions: Conditions) -> Sequence[Row]:
    """Draft a window of 57 MB and search the draft in the worker; beside it, search all that was said."""
    size = _QUICK_BYTES if conditions.quick else _BYTES
    window = _window(size)
    taken_s, searched, found = asyncio.run(_draft_and_search(window))
    if not found:
        raise ExtractordError("the secrets of the session were not found")
    naive_s = _search_all(window.exchanges[::_NAIVE_SHARE]) * _NAIVE_SHARE
    return [
        at_most(
            GROUP,
            f"a session of {size // 1_000_000} MB",
            taken_s,
            _MOST_S,
            "s",
            "a limit",
            f"{searched / 1000:.0f} kB of it are searched, {found} secrets in them; "
            f"searching all of it takes {naive_s:.0f} s, by a sample of 1 in {_NAIVE_SHARE}",
        )
    ]


async def _draft_and_search(window: Window) -> tuple[float, int, int]:
    """In s, characters and secrets; the worker runs already, as the daemon's does."""
    redaction = Redaction()
    await redaction.start()
    await redaction.find(["warm"])
    began = time.perf_counter()
    texts = draft(window, (), Settings().model.context_tokens).texts
    hits = await redaction.find(texts)
    taken_s = time.perf_counter() - began
    await redaction.close()
    return taken_s, sum(map(len, texts)), sum(map(len, hits))


def _search_all(exchanges: Sequence[Exchange]) -> float:
    began = time.perf_counter()
    for exchange in exchanges:
        for entry in exchange.entries:
            find_secrets(entry.text)
    return time.perf_counter() - began


def _window(size: int) -> Window:
    prose, written = Prose(57), 0
    exchanges: list[Exchange] = []
    while written < size:
        exchange = _exchange(prose, len(exchanges))
        exchanges.append(exchange)
        written += sum(len(entry.text) for entry in exchange.entries)
    return Window(
        agent="claude-code",
        session="long",
        project=Project(slug="long-0", identity="/home/dev/long", directory="/home/dev/long"),
        exchanges=tuple(exchanges),
    )


def _exchange(prose: Prose, number: int) -> Exchange:
    entries = tuple(
        Entry(
            id=f"{number}-{place}",
            agent="claude-code",
            session="long",
            role=role,
            origin=origin,
            text=text,
            time=datetime(2026, 1, 5, 9, 0, tzinfo=UTC),
        )
        for place, (role, origin, text) in enumerate(_said(prose))
    )
    return Exchange(
        agent="claude-code",
        session="long",
        key=entries[0].id,
        entries=entries,
        ended=True,
        cwd="/home/dev/long",
    )


def _said(prose: Prose) -> Iterator[tuple[Role, Origin, str]]:
    yield Role.USER, Origin.HUMAN, f"{prose.text(_PROMPT)}\n{_SECRET}"
    for _ in range(_CALLS):
        yield Role.ASSISTANT, Origin.SYNTHETIC, prose.text(_ANSWER)
        yield Role.TOOL, Origin.SYNTHETIC, f"{_SECRET}\n{prose.text(_OUTPUT)}"
    yield Role.ASSISTANT, Origin.SYNTHETIC, prose.text(_ANSWER)
