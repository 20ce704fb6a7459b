"""Feeds a source's reader, as the tail would, and makes records to feed it with."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from random import Random

from hypothesis import strategies as st

from extractord.core.ports import Reader
from extractord.core.records import Entry, Origin, Seen, Voided
from extractord.core.transcripts.source import Container, Opened, Source

SAMPLES = Path(__file__).parents[2] / "shared" / "samples"


def line(record: object) -> bytes:
    """Given a record, return it as an agent writes it."""
    return json.dumps(record, ensure_ascii=False).encode()


def reader(
    source: Source, path: str = "/t/session.jsonl", beside: Mapping[str, bytes] | None = None
) -> Reader:
    """A fresh reader of the source."""
    return source.reader(Opened(path, beside or {}))


def fed(to: Reader, *records: object) -> list[Seen]:
    """Given records, raw or not, return what the reader makes of them."""
    raw = (record if isinstance(record, bytes) else line(record) for record in records)
    return [seen for record in raw for seen in to.feed(record)]


def settled(to: Reader, *records: object) -> list[Seen]:
    """As `fed`, and then the transcript is at rest."""
    return [*fed(to, *records), *to.settle()]


def newest(seen: Iterable[Seen]) -> dict[str, Entry]:
    """The entries as last revised, by id; every id and revision comes once, and only rises."""
    entries: dict[str, Entry] = {}
    for each in seen:
        if isinstance(each, Entry):
            assert each.id not in entries or each.revision > entries[each.id].revision
            entries[each.id] = each
    return entries


def voided(seen: Iterable[Seen]) -> set[str]:
    """The ids that rewinds voided."""
    return {ident for each in seen if isinstance(each, Voided) for ident in each.ids}


def prompts(seen: Iterable[Seen]) -> list[str]:
    """The texts that count as typed or given as a prompt."""
    return [entry.text for entry in newest(seen).values() if entry.origin in (Origin.HUMAN, Origin.HEADLESS)]


def memory_writes(seen: Iterable[Seen]) -> list[tuple[str, bool | None]]:
    """Writes into /home/dev/memory, each with its outcome."""
    return [
        (path, call.ok)
        for entry in newest(seen).values()
        if entry.origin is not Origin.COPIED
        for call in entry.calls
        if call.writes
        for path in call.paths
        if path.startswith("/home/dev/memory/")
    ]


def transcript(source: Source, path: Path) -> list[Seen]:
    """What a whole file gives."""
    beside = {
        name: (path.parent / name).read_bytes() for name in source.beside if (path.parent / name).is_file()
    }
    whole = path.read_bytes()
    records = [whole] if source.container(str(path)) is Container.DOCUMENT else whole.split(b"\n")
    return settled(reader(source, str(path), beside), *records)


_ODD = (
    *(None, True, False, 0, -1, 7, 2**31, 2**53 + 1, 2**63, -(2**40)),
    *(-0.0, 1.5, 1e308, float("inf")),
    *("", " ", "0", "\0", "a\nb", "a\u2028b", "\u00e9", "\u6f22", "\U0001f600", "2026-11-30T12:00:00Z"),
)


def odd_records(keys: Iterable[str], words: Iterable[str]) -> st.SearchStrategy[list[bytes]]:
    """Byte strings, and JSON of the agent's own keys and words with values of any type.

    Each list is made from a seed: drawn value by value it would cost fifty times what reading it does.
    """
    keys, words = sorted(keys), sorted(words)
    return st.integers(0, 2**64).map(lambda seed: _records(Random(seed), keys, words))  # noqa: S311


def _records(chance: Random, keys: list[str], words: list[str]) -> list[bytes]:
    def value(depth: int) -> object:
        kind = chance.random()
        if depth and kind < 0.2:
            return [value(depth - 1) for _ in range(chance.randint(0, 3))]
        if depth and kind < 0.45:
            return fields(depth - 1, 6)
        return chance.choice(words if kind < 0.75 else _ODD)

    def fields(depth: int, most: int) -> dict[str, object]:
        return {chance.choice(keys): value(depth) for _ in range(chance.randint(0, most))}

    def record() -> bytes:
        kind, whole = chance.random(), json.dumps(fields(4, 8)).encode()
        if kind < 0.15:
            return chance.randbytes(chance.randint(0, 40))
        return whole[: chance.randint(0, 60)] if kind < 0.35 else whole

    return [record() for _ in range(chance.randint(0, 24))]
