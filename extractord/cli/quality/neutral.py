"""A transcript in neutral form: an entry a line, as our own records have it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import msgspec
from msgspec.structs import replace

from extractord.core.cases import Case, Heard
from extractord.core.records import Entry, Origin, Role, Seen
from extractord.core.transcripts.commontools import common_call, has_failed
from extractord.core.transcripts.source import Container, Opened, Source

AGENT = "neutral"
SESSION = "case"


class _Reader:
    """Implements Reader."""

    def __init__(self, _opened: Opened) -> None:
        self.session: str | None = SESSION
        self.version: str | None = None
        self.unknown: Counter[str] = Counter()

    def feed(self, record: bytes) -> Iterable[Seen]:
        """Given a line, return its entry."""
        try:
            return (msgspec.json.decode(record, type=Entry),)
        except msgspec.MsgspecError:
            self.unknown["undecodable"] += 1
            return ()

    def settle(self) -> Iterable[Seen]:
        """Nothing waits."""
        return ()


SOURCE = Source(
    agent=AGENT,
    roots=lambda _around: (),
    belongs=lambda _path: False,
    container=lambda _path: Container.LINES,
    claims=lambda _path, _head: True,
    reader=_Reader,
)


def transcript(case: Case, cwd: str) -> bytes:
    """Given a case and its session's directory, return its entries as a transcript at rest.

    An answer that a tool's output follows has made that call; the last entry before each prompt,
    and the very last, ends the agent's turn.
    """
    entries = list(_entries(case.entries, cwd))
    if not entries or entries[-1].role is Role.USER:
        entries.append(_entry("the-end", Role.ASSISTANT, Origin.SYNTHETIC, cwd))
    ended = [
        replace(entry, turn_end=True) if entry.role is not Role.USER and _opens(following) else entry
        for entry, following in zip(entries, [*entries[1:], None], strict=True)
    ]
    return b"".join(msgspec.json.encode(entry) + b"\n" for entry in ended)


def _opens(entry: Entry | None) -> bool:
    return entry is None or entry.origin in (Origin.HUMAN, Origin.HEADLESS)


def _entries(heard: Sequence[Heard], cwd: str) -> Iterator[Entry]:
    for each, following in zip(heard, [*heard[1:], None], strict=True):
        if each.tool is None:
            yield _of(each, cwd)
        elif each.role is Role.TOOL:  # the call and its output in one
            yield _called(each, f"{each.id}-call", each, cwd)
            yield _of(each, cwd)
        else:
            answered = following is not None and following.role is Role.TOOL and following.tool is None
            called = _called(each, each.id, following if answered else None, cwd)
            yield replace(called, text=each.text)


def _called(each: Heard, ident: str, output: Heard | None, cwd: str) -> Entry:
    tool = each.tool
    call = common_call(f"{ident}-tool", tool.name if tool else "", tool.input if tool else None, cwd)
    if output is not None:
        call = replace(call, ok=not has_failed(output.text))
    return replace(_entry(ident, Role.ASSISTANT, Origin.SYNTHETIC, cwd), calls=(call,), time=each.time)


def _of(each: Heard, cwd: str) -> Entry:
    return replace(_entry(each.id, each.role, each.origin, cwd), text=each.text, time=each.time)


def _entry(ident: str, role: Role, origin: Origin, cwd: str) -> Entry:
    return Entry(id=ident, agent=AGENT, session=SESSION, role=role, origin=origin, cwd=cwd)
