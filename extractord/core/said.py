"""What is said on the bus, and where: topics and the retained status."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Literal

import msgspec
from msgspec import Struct

from extractord.core.events import Event

TOP = "extractord/v1"
_NOT_A_SEGMENT = re.compile(r"[^\w.@-]")
_SEGMENT_CHARACTERS = 64

Standing = Literal["online", "paused", "draining", "drained", "offline"]


class Status(Struct, frozen=True, kw_only=True):
    """How a daemon is; retained, so that whoever subscribes is told at once."""

    state: Standing
    """`offline` when it said good-bye, or the broker lost it (last will)."""
    at: datetime | None = None
    """Since when; absent in the last will."""
    version: str = ""
    waiting: int = 0
    """Events that were not said yet when the line was made."""
    dropped: int = 0
    """Events that were never said, since the outbox had no room for them, ever."""


LAST_WILL = Status(state="offline")


def segment(name: str) -> str:
    """Given any name, return it as one level of a topic: letters, digits, `_ . @ -`, at most 64."""
    return _NOT_A_SEGMENT.sub("-", name)[:_SEGMENT_CHARACTERS] or "-"


def status_topic(name: str) -> str:
    """Given a daemon's name, return where its status is."""
    return f"{TOP}/{segment(name)}/status"


def said_topic(name: str, event: Event) -> str:
    """Given a daemon's name and an event, return where it is said."""
    return f"{TOP}/{segment(name)}/said/{event.__struct_config__.tag}"


def heard_topics(name: str) -> str:
    """Given a daemon's name, return what it subscribes to."""
    return f"{TOP}/{segment(name)}/heard/+"


def encoded(said: Event | Status) -> bytes:
    """Given what is to be said, return its JSON."""
    return msgspec.json.encode(said)
