"""Where a broker is, and how a line to it is made."""

from __future__ import annotations

from msgspec import Struct


class Broker(Struct, frozen=True, kw_only=True):
    """Where a broker is, and who we are to it; its files are read anew for each line."""

    host: str
    port: int
    is_secure: bool
    user: str | None = None
    password_file: str | None = None
    ca_file: str | None = None
    cert_file: str | None = None
    key_file: str | None = None


class Will(Struct, frozen=True, kw_only=True):
    """What the broker says for us, retained, when it has lost us."""

    topic: str
    payload: bytes


class Calling(Struct, frozen=True, kw_only=True):
    """As whom a line is made, and what it carries at most."""

    client: str
    """The client's id: one line at a time has it."""
    will: Will | None = None
    session_s: int = 0
    """So long the broker keeps our subscriptions, and what comes for them, without a line."""
    packet_bytes: int = 8192
    """The broker sends nothing longer."""


class Came(Struct, frozen=True):
    """A message that came."""

    topic: str
    payload: bytes
    is_retained: bool
    """It was there before we subscribed."""
    mid: int
