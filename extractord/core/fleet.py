"""More than one machine: who belongs to which partition, and what the machines send one another."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta, timezone
from typing import Annotated, TypeVar
from urllib.parse import quote, unquote

import msgspec
import zstandard
from msgspec import Meta, Struct

from extractord.core.digesting import digest
from extractord.core.project import is_slug
from extractord.core.records import Entry, Exchange, Project, Window
from extractord.core.said import TOP
from extractord.core.survey import USER_ROOT

FLEET = f"{TOP}/fleet"
PACKED_BYTES = 1024 * 1024
"""A window is not longer on the wire."""
UNPACKED_BYTES = 8 * 1024 * 1024
PACKET_BYTES = PACKED_BYTES + 4096
"""With topic and header."""
ENTRIES = 20_000
ID_CHARACTERS = 32
_PERSON = re.compile(r"[a-z0-9][a-z0-9._@-]{0,63}")
_EXTRACTOR = re.compile(r"[0-9a-f]{16}")
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


class Receipt(Struct, frozen=True, kw_only=True, tag="fleet/receipt"):
    """These windows are on an extractor's volume, or it will never take them."""

    windows: Annotated[tuple[Id, ...], Meta(max_length=1000)] = ()
    refused: dict[Id, Name] = {}
    """Why not."""


class Roots(Struct, frozen=True, kw_only=True, tag="fleet/roots"):
    """All memories of one root, so that a mirror drops what it missed being forgotten; retained."""

    paths: tuple[str, ...]


class Generation(Struct, frozen=True, kw_only=True, tag="fleet/generation"):
    """How far an extractor had published when it last looked; retained: a broker that forgot says less."""

    number: Annotated[int, Meta(ge=0, le=2**63 - 1)]


class Claim(Struct, frozen=True, kw_only=True, tag="fleet/claim"):
    """Whose partitions these are, as long as that extractor is there; retained, and taken back at its end."""

    name: Annotated[str, Meta(pattern=r"^[\w.@-]{1,64}$")]
    """As its runs are said: `mqtt.name`."""
    partitions: frozenset[Annotated[int, Meta(ge=0, le=255)]]
    since: Annotated[datetime, Meta(tz=True)]
    """When it began: of two the later gives way."""


Word = TypeVar("Word", bound=Struct)


class Refused(Struct, frozen=True):
    """What came is no window, and why."""

    reason: str


def is_person(name: str) -> bool:
    """True for a name that is a folder and a topic's level: small letters, digits, `. _ @ -`, at most 64."""
    return _PERSON.fullmatch(name) is not None


def partition_of(person: str, partitions: int) -> int:
    """Given a person, return the partition: the first byte of the name's SHA-256, modulo."""
    return hashlib.sha256(person.encode()).digest()[0] % partitions


def windows_topic(person: str, partitions: int) -> str:
    """Where a person's windows go."""
    return f"{FLEET}/windows/{partition_of(person, partitions)}/{person}"


def partition_topic(partition: int) -> str:
    """What an extractor of a partition hears."""
    return f"{FLEET}/windows/{partition}/+"


def sender_of(topic: str, partitions: int) -> str | None:
    """Given the topic of a window, return whose it is; None where it is not that person's partition."""
    _, _, place = topic.partition(f"{FLEET}/windows/")
    partition, _, person = place.partition("/")
    if not is_person(person) or partition != str(partition_of(person, partitions)):
        return None
    return person


def receipts_topic(person: str) -> str:
    """Where receipts for a person's windows are."""
    return f"{FLEET}/receipts/{person}"


def memory_topic(person: str, root: str, path: str = "") -> str:
    """Where a memory is retained, its path percent-encoded; without a path, all of the root's."""
    return f"{FLEET}/memories/{person}/{quote(root)}/{quote(path)}"


def roots_topic(person: str, root: str) -> str:
    """Where the list of a root is retained."""
    return f"{FLEET}/roots/{person}/{quote(root)}"


def root_in(topic: str, kind: str, person: str) -> tuple[str, str] | None:
    """Given a topic of `memories` or `roots`, return the root and the path below it; None for others."""
    before = f"{FLEET}/{kind}/{person}/"
    if not topic.startswith(before):
        return None
    parts = topic.removeprefix(before).split("/")
    length = 1 if parts[0] == USER_ROOT else 2
    root, path = (unquote("/".join(some)) for some in (parts[:length], parts[length:]))
    if root != USER_ROOT and not (root.startswith("projects/") and is_slug(root.removeprefix("projects/"))):
        return None
    return root, path


def said(payload: bytes, kind: type[Word]) -> Word | None:
    """Given what the broker brought, return it as what it should be, or None. Never raises."""
    try:
        return msgspec.json.decode(payload, type=kind)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None


def generation_topic(extractor: str) -> str:
    """Where an extractor's generation is retained."""
    return f"{FLEET}/extractors/{extractor}"


def claim_topic(extractor: str) -> str:
    """Where an extractor's claim is retained."""
    return f"{FLEET}/claims/{extractor}"


def claims_topics() -> str:
    """Where all of them are."""
    return claim_topic("+")


def is_claim_topic(topic: str) -> bool:
    """True for a topic on which an extractor may claim."""
    return _EXTRACTOR.fullmatch(topic.removeprefix(claim_topic(""))) is not None


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
