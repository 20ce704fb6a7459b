"""A window on its way from a workstation to an extractor: packed, bounded, and lawful or refused."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import timedelta, timezone
from typing import Annotated

import msgspec
import zstandard
from msgspec import Meta, Struct

from extractord.core.digesting import digest
from extractord.core.project import is_slug
from extractord.core.records import Entry, Exchange, Project, Window

PACKED_BYTES = 1024 * 1024
"""A window is not longer on the wire."""
UNPACKED_BYTES = 8 * 1024 * 1024
PACKET_BYTES = PACKED_BYTES + 4096
"""With topic and header."""
ENTRIES = 20_000
ID_CHARACTERS = 32
_AGENT = re.compile(r"[a-z0-9-]{1,32}")
_YEARS = range(1971, 9998)
_LEVEL = 3

Id = Annotated[str, Meta(pattern="^[0-9a-f]{32}$")]
Name = Annotated[str, Meta(min_length=1, max_length=300)]


class Parcel(Struct, frozen=True, kw_only=True):
    """Exchanges of one key each: what a run needs of them, redacted and cut, and no more."""

    key: Name
    entries: tuple[Entry, ...]


class Sending(Struct, frozen=True, kw_only=True):
    """A window on its way: MessagePack, compressed."""

    forwarder: Annotated[str, Meta(pattern="^[0-9a-f]{16}$")]
    """Of the state that it comes from."""
    previous: Annotated[str, Meta(pattern="^([0-9a-f]{32})?$")]
    """The window before it of the same project from there; empty for the first."""
    agent: Name
    session: Name
    slug: Name
    is_project: bool
    minutes: Annotated[int, Meta(ge=-1000, le=1000)]
    """The person's clock, east of UTC."""
    parcels: Annotated[tuple[Parcel, ...], Meta(min_length=1, max_length=1000)]

    @property
    def window(self) -> Window:
        """The window as a run takes it."""
        exchanges = tuple(
            Exchange(
                agent=self.agent, session=self.session, key=parcel.key, entries=parcel.entries, ended=True
            )
            for parcel in self.parcels
        )
        project = Project(slug=self.slug, identity=self.slug, directory="", is_project=self.is_project)
        return Window(agent=self.agent, session=self.session, project=project, exchanges=exchanges)

    @property
    def zone(self) -> timezone:
        """The person's."""
        return timezone(timedelta(minutes=self.minutes))


class Refused(Struct, frozen=True):
    """What came is no window, and why."""

    reason: str


def id_of(person: str, packed: bytes) -> str:
    """Given whose a window is and its bytes on the wire, return its id: the same bytes, the same window."""
    return digest(person.encode() + b"\0" + packed)[:ID_CHARACTERS]


def pack(sending: Sending) -> bytes:
    """Given a window, return it as it is sent."""
    return zstandard.ZstdCompressor(level=_LEVEL).compress(msgspec.msgpack.encode(sending))


def unpack(packed: bytes) -> Sending | Refused:
    """Given what came, return the window that it is, bounded and lawful. Never raises."""
    if len(packed) > PACKED_BYTES:
        return Refused(f"more than {PACKED_BYTES} bytes")
    try:
        reader = zstandard.ZstdDecompressor(max_window_size=UNPACKED_BYTES).stream_reader(packed)
        raw = reader.read(UNPACKED_BYTES + 1)
    except (zstandard.ZstdError, MemoryError):
        return Refused("not compressed as windows are")
    if len(raw) > UNPACKED_BYTES:
        return Refused(f"more than {UNPACKED_BYTES} bytes, unpacked")
    try:
        sending = msgspec.msgpack.decode(raw, type=Sending)
    except (msgspec.MsgspecError, UnicodeError, RecursionError, ValueError):
        return Refused("not a window")
    fault = next(_faults(sending), None)
    return Refused(fault) if fault else sending


def _faults(sending: Sending) -> Iterator[str]:
    if not is_slug(sending.slug):
        yield "the project is no folder's name"
    if not _AGENT.fullmatch(sending.agent) or not sending.session.isprintable():
        yield "agent or session is no name"
    if len({parcel.key for parcel in sending.parcels}) != len(sending.parcels):
        yield "an exchange stands twice in it"
    entries = [entry for parcel in sending.parcels for entry in parcel.entries]
    if len(entries) > ENTRIES:
        yield f"more than {ENTRIES} entries"
    if not all(_is_of(entry, sending) for entry in entries):
        yield "an entry is another session's, or has a time or a paste that cannot be"


def _is_of(entry: Entry, sending: Sending) -> bool:
    if (entry.agent, entry.session) != (sending.agent, sending.session):
        return False
    if entry.time is not None and (entry.time.tzinfo is None or entry.time.year not in _YEARS):
        return False
    return all(0 <= start <= end <= len(entry.text) for start, end in entry.pastes)


def halves(parcels: Sequence[Parcel]) -> tuple[tuple[Parcel, ...], tuple[Parcel, ...]]:
    """Given exchanges that are too long together, return them in two, in order."""
    middle = (len(parcels) + 1) // 2
    return tuple(parcels[:middle]), tuple(parcels[middle:])
