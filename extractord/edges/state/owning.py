"""The identity of a state directory, and the memory directory that is marked as its own."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

import msgspec
from msgspec import Struct

from extractord.edges.state.files import beside, in_words, read, write_once
from extractord.errors import ConfigError, StoreError

MARKER = ".extractord"


class Identity(Struct, frozen=True, kw_only=True):
    """Who owns a memory directory: an id to be seen, and a key that is never shown."""

    id: str
    """32 hex digits."""
    key: bytes
    """32 bytes; evidence is keyed with it."""


def identity_at(path: Path) -> Identity:
    """Given its path, return the identity, made where there is none. Raise ConfigError for a damaged one."""
    fresh = Identity(id=secrets.token_hex(16), key=secrets.token_bytes(32))
    write_once(path, msgspec.json.encode(fresh) + b"\n")
    return _known(path)


def _known(path: Path) -> Identity:
    content = read(path, ConfigError)
    if path.lstat().st_mode & 0o077:
        raise ConfigError(f"{path} holds a key and can be read by others: run `chmod 600 {path}`")
    try:
        return msgspec.json.decode(content, type=Identity)
    except msgspec.DecodeError as error:
        raise ConfigError(
            f"{path} is damaged ({error}) and was left as it is: put it back from a backup; without one, "
            f"move it aside, start again, and run `extractord project adopt`"
        ) from error


def claim(memory: Path, identity: Identity) -> None:
    """Given the memory directory, mark it as this identity's, or find that it is.

    Raise StoreError where it is another one's.
    """
    with in_words(memory, StoreError):
        memory.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_once(memory / MARKER, _mark(identity))
        owner = read(memory / MARKER, StoreError).decode("ascii", "replace").strip()
    if owner != identity.id:
        raise StoreError(
            f"{memory} belongs to the state {owner[:8]}, and this one is {identity.id[:8]}: a "
            f"memory directory has one ledger; run `extractord project adopt` to make it this one's"
        )


def adopt(memory: Path, identity: Identity) -> None:
    """Given the memory directory, make it this identity's, whosever it was."""
    with in_words(memory, StoreError):
        memory.mkdir(mode=0o700, parents=True, exist_ok=True)
        with beside(memory / MARKER, _mark(identity)) as made:
            made.replace(memory / MARKER)


def owner_of(directory: Path, memory: Path) -> tuple[str, str]:
    """Given both directories, return the ids of the state and of the memory's owner, empty where none is.

    Makes and changes nothing. Raise ConfigError or StoreError where one cannot be read.
    """
    ours = theirs = ""
    if os.path.lexists(directory / "identity"):
        with in_words(directory / "identity", ConfigError):
            ours = _known(directory / "identity").id
    if os.path.lexists(memory / MARKER):
        with in_words(memory / MARKER, StoreError):
            theirs = read(memory / MARKER, StoreError).decode("ascii", "replace").strip()
    return ours, theirs


def _mark(identity: Identity) -> bytes:
    return f"{identity.id}\n".encode()
