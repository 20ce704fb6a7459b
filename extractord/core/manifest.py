"""The memories that exist already, as the brief lists them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, tzinfo

from msgspec import Struct

from extractord.core.survey import Surveyed
from extractord.core.tokens import estimate_tokens
from extractord.policy.requests import RootKind

MEMORIES = 200
PREVIEW_LINES = 30
_LINE_CHARACTERS = 400
_LATEST_S = 32_503_680_000
"""The year 3000: a file's time may be anything."""


class Remembered(Struct, frozen=True, kw_only=True):
    """A memory of one of the run's roots: its row, and its text without our stamps."""

    root: RootKind
    row: Surveyed
    text: str = ""


def remembered(
    rows: Iterable[tuple[RootKind, Surveyed]], text: Callable[[RootKind, str], str]
) -> tuple[Remembered, ...]:
    """Given the rows of both roots and what reads a memory, return the memories, newest first.

    Only of those that the manifest can list is the text read.
    """
    by_age = sorted(rows, key=lambda row: -row[1].mtime_ns)
    return tuple(
        Remembered(
            root=kind,
            row=row,
            text=text(kind, row.path) if number < MEMORIES and not (row.fault or row.withheld) else "",
        )
        for number, (kind, row) in enumerate(by_age)
    )


def newest(memories: Iterable[Remembered]) -> tuple[Remembered, ...]:
    """Given the memories of both roots, return those that the manifest lists, previews cut.

    The newest first, 200 at most. What is withheld until a person accepts it is not among them.
    """
    listed = sorted(
        (memory for memory in memories if not memory.row.withheld and not memory.row.fault),
        key=lambda memory: (-memory.row.mtime_ns, memory.root, memory.row.path),
    )
    return tuple(
        Remembered(root=memory.root, row=memory.row, text=_preview(memory.text))
        for memory in listed[:MEMORIES]
    )


def listing(memories: Sequence[Remembered], tokens: int, zone: tzinfo | None) -> tuple[str, int]:
    """Given the memories that are listed and a budget, return their text and how many fitted.

    Each has a line; what is left of the budget goes to previews, the newest first.
    """
    blocks: list[str] = []
    lines = [_line(memory, zone) for memory in memories]
    costs = [estimate_tokens(line) + 1 for line in lines]
    while costs and sum(costs) > tokens:
        costs.pop()
    left = tokens - sum(costs)
    for memory, line, cost in zip(memories, lines, costs, strict=False):
        block = f"{_head(memory, zone)}\n{memory.text}\n"
        more = estimate_tokens(block) + 1 - cost
        fits = bool(memory.text) and more <= left
        left -= more if fits else 0
        blocks.append(block if fits else line)
    return "\n".join(blocks).rstrip(), len(blocks)


def _line(memory: Remembered, zone: tzinfo | None) -> str:
    described = f": {memory.row.description[:_LINE_CHARACTERS]}" if memory.row.description else ""
    return _head(memory, zone) + described


def _head(memory: Remembered, zone: tzinfo | None) -> str:
    day = datetime.fromtimestamp(min(max(memory.row.mtime_ns / 1e9, 0), _LATEST_S), UTC).astimezone(zone)
    trust = f" {memory.row.trust.word}" if memory.row.trust is not None else ""
    pinned = " pinned" if memory.row.pinned else ""
    return f"## /memory/{memory.root.value}/{memory.row.path} ({day:%Y-%m-%d}{trust}{pinned})"


def _preview(text: str) -> str:
    lines = text.strip().split("\n")
    shown = [line[:_LINE_CHARACTERS] for line in lines[:PREVIEW_LINES]]
    if len(lines) > PREVIEW_LINES:
        shown.append(f"[… {len(lines) - PREVIEW_LINES} lines left out]")
    return "\n".join(shown)
