"""Feeds a source's reader, as the tail would, and makes records to feed it with."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

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


_leaves = (
    st.none()
    | st.booleans()
    | st.integers(-(2**40), 2**63)
    | st.floats(allow_nan=False)
    | st.text(max_size=8)
)


def odd_records(keys: Iterable[str], words: Iterable[str]) -> st.SearchStrategy[list[bytes]]:
    """Byte strings, and JSON of the agent's own keys and words with values of any type."""
    key, word = st.sampled_from(sorted(keys)), st.sampled_from(sorted(words))
    value = st.recursive(
        _leaves | word,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(key, inner, max_size=6),
        max_leaves=12,
    )
    record = st.dictionaries(key, value, max_size=8).map(lambda each: json.dumps(each).encode())
    torn = st.builds(lambda each, at: each[:at], record, st.integers(0, 60))
    return st.lists(st.binary(max_size=40) | record | torn, max_size=8)
