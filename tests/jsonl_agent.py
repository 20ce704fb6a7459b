"""A small agent whose transcripts the tests write: a line is an entry, or a void."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from typing import Any

import msgspec

from extractord.core.records import Entry, Seen, Voided
from extractord.core.transcripts.source import Container, Opened, Source

AGENT = "pi"


class LineReader:
    def __init__(self, _opened: Opened) -> None:
        self.session: str | None = None
        self.version: str | None = None
        self.unknown: Counter[str] = Counter()

    def feed(self, record: bytes) -> Iterable[Seen]:
        try:
            found = msgspec.json.decode(record)
            found = found if isinstance(found, list) else [found]
            seen: list[Seen] = [
                msgspec.convert(each, Voided)
                if "ids" in each or "from" in each
                else msgspec.convert(each, Entry)
                for each in found
            ]
        except (msgspec.MsgspecError, TypeError):
            self.unknown["undecodable"] += 1
            return []
        for each in seen:
            self.session = each.session
        return seen

    def settle(self) -> Iterable[Seen]:
        return ()


def source(root: str, *, writes_turn_end: bool = True) -> Source:
    """Lines in `.jsonl`, a list of them as a document in `.json`; `a_1.jsonl` is of `a.jsonl`'s family."""
    return Source(
        agent=AGENT,
        roots=lambda _around: (root,),
        belongs=lambda path: path.endswith((".jsonl", ".json", ".jsonl.zst")),
        container=lambda path: Container.DOCUMENT if path.endswith(".json") else Container.LINES,
        claims=lambda _path, head: b'"origin"' in head,
        reader=LineReader,
        family=lambda name: f"{name.partition('.')[0].partition('_')[0]}*.json*",
        writes_turn_end=writes_turn_end,
    )


def line(entry_id: str, text: str = "", **fields: Any) -> bytes:
    """A prompt where there is text and no role, else a reply of the agent's."""
    role, origin = ("user", "human") if text and "role" not in fields else ("assistant", "synthetic")
    entry = {"id": entry_id, "agent": AGENT, "session": "s", "role": role, "origin": origin, "text": text}
    return json.dumps({**entry, **fields}).encode() + b"\n"


def exchange(key: str, text: str = "we deploy on tuesdays", **fields: Any) -> bytes:
    """A prompt and the reply that ends the turn."""
    return line(key, text, **fields) + line(f"{key}-reply", turn_end=True, **fields)
