"""What a reader tells: records it can decode, words apart from what stands round them, and only news."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import TypeVar

import msgspec

from extractord.core.records import Entry, Origin, Role
from extractord.core.transcripts.decoding import is_blank
from extractord.core.transcripts.recorded import is_injected, parts

T = TypeVar("T")

_OURS = re.compile(r"(?:^|[^a-z])memory_(?:search|read|list)$")


def decoded(record: bytes, decode: Callable[[bytes], T | None], unknown: Counter[str]) -> T | None:
    """Given a raw record, return it typed; None where it is blank or, counted, cannot be decoded."""
    if is_blank(record):
        return None
    found = decode(record)
    if found is None:
        unknown["undecodable"] += 1
    return found


def result_origin(tool: str, text: str, else_: Origin) -> Origin:
    """Given a tool's result, return RECALLED where it is our own memory, else the given origin."""
    recalled = _OURS.search(tool) is not None or is_injected(text)
    return Origin.RECALLED if recalled else else_


def pieces(entry: Entry, wrappers: re.Pattern[str] | None = None, said: str | None = None) -> Iterator[Entry]:
    """Given an entry with its whole text, yield what its speaker said, then what was put around it.

    The speaker's words keep the id; injected memory (recalled) and `wrappers` (synthetic) follow
    as context under `id#n`. `said` replaces the speaker's words where the record has them apart.
    Where only wrappers are left, nothing is said.
    """
    own: list[str] = []
    around: list[tuple[str, Origin]] = []
    for text, wrapped in _split(entry.text, wrappers):
        if wrapped:
            around.append((text, Origin.RECALLED if is_injected(text) else Origin.SYNTHETIC))
            continue
        for piece, recalled in parts(text):
            if recalled:
                around.append((piece, Origin.RECALLED))
            else:
                own.append(piece)
    text = said if said is not None else "\n".join(own)
    if text.strip() or entry.calls or not around:
        yield msgspec.structs.replace(entry, text=text)
    for nth, (piece, origin) in enumerate(around, 1):
        yield msgspec.structs.replace(
            entry,
            id=f"{entry.id}#{nth}",
            role=Role.CONTEXT,
            origin=origin,
            text=piece,
            calls=(),
            turn_end=False,
        )


def _split(text: str, wrappers: re.Pattern[str] | None) -> Iterator[tuple[str, bool]]:
    """Stretches of text in order, each with whether it is a wrapper; text without one is whole."""
    matches = tuple(wrappers.finditer(text)) if wrappers else ()
    if not matches:
        yield text, False
        return
    position = 0
    for match in matches:
        if before := text[position : match.start()].strip():
            yield before, False
        yield match.group().strip(), True
        position = match.end()
    if after := text[position:].strip():
        yield after, False


class Told:
    """What a reader has told of each entry, so that it tells only news, as revisions."""

    def __init__(self) -> None:
        self._last: dict[str, tuple[int, int]] = {}
        self._asking: dict[str, Entry] = {}
        self._outcomes: dict[str, bool] = {}

    def __contains__(self, ident: str) -> bool:
        return ident in self._last

    def tell(self, entry: Entry, at_least: int = 0) -> Iterator[Entry]:
        """Yield the entry with its revision, if it is new or not as it was told last.

        Outcomes of its calls that came before are filled in. `at_least` is the record's own
        running revision, where it has one.
        """
        if any(call.ok is None and call.id in self._outcomes for call in entry.calls):
            entry = self._answered(entry)
        mark = hash(entry)
        revision = at_least
        if (last := self._last.get(entry.id)) is not None:
            if last[1] == mark:
                return
            revision = max(last[0] + 1, at_least)
        self._last[entry.id] = (revision, mark)
        for call in entry.calls:
            if call.ok is None:
                self._asking[call.id] = entry
        yield msgspec.structs.replace(entry, revision=revision) if revision else entry

    def outcome(self, call: str, *, ok: bool) -> Iterator[Entry]:
        """A call's result is known: yield the revision of the entry that made the call."""
        self._outcomes[call] = ok
        if (entry := self._asking.pop(call, None)) is not None:
            yield from self.tell(self._answered(entry))

    def _answered(self, entry: Entry) -> Entry:
        calls = tuple(
            msgspec.structs.replace(call, ok=self._outcomes[call.id])
            if call.ok is None and call.id in self._outcomes
            else call
            for call in entry.calls
        )
        return msgspec.structs.replace(entry, calls=calls)
