"""More than one machine: who belongs to which partition, whose each topic is, and what is said there."""

from __future__ import annotations

import hashlib
import re
from datetime import datetime
from typing import Annotated, TypeVar
from urllib.parse import quote, unquote

import msgspec
from msgspec import Meta, Struct

from extractord.core.project import is_slug
from extractord.core.said import TOP
from extractord.core.sending import Id, Name
from extractord.core.survey import USER_ROOT

FLEET = f"{TOP}/fleet"
_PERSON = re.compile(r"[a-z0-9][a-z0-9._@-]{0,63}")
_EXTRACTOR = re.compile(r"[0-9a-f]{16}")


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
