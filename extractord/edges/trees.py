"""Joins a session that stands in many small JSON files into one document."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from extractord.core.transcripts.source import Tree
from extractord.errors import TranscriptError

_PLAIN = re.compile(r"[A-Za-z0-9_-]+")


class _Named(Struct):
    id: str = ""
    time: Any = None


_NAMED = msgspec.json.Decoder(_Named)


def joined(path: str, tree: Tree) -> bytes:
    """Given a session's file, return a JSON array of rows: the session, then its messages by time.

    A session's row has the ids of its messages as `parts`, a message's row its parts, each with
    `id` and `data`; `data` is always a file's own text. Files that go meanwhile are left out.
    Raise TranscriptError where the session's own file cannot be read.
    """
    place = Path(path)
    try:
        text = place.read_bytes()
    except OSError as error:
        raise TranscriptError(f"{path} cannot be read: {error.strerror}") from error
    session = _named(place, text).id
    messages = list(_files(place.parent, tree.messages, session))
    ids = [message.id for message, _ in messages]
    rows = [{"kind": "file", "id": session, "data": _shown(text), "parts": _dumped(ids)}]
    for message, data in messages:
        parts = [
            {"id": part.id, "data": words} for part, words in _files(place.parent, tree.parts, message.id)
        ]
        rows.append({"kind": "message", "id": message.id, "data": data, "parts": _dumped(parts)})
    return msgspec.json.encode(rows)


def _files(folder: Path, pattern: str, ident: str) -> list[tuple[_Named, str]]:
    """The files of a session or a message in order, with their texts; an odd id is no path."""
    found: list[tuple[_Named, str]] = []
    if not _PLAIN.fullmatch(ident):
        return found
    for file in sorted(folder.glob(pattern.replace("{id}", ident))):
        try:
            text = file.read_bytes()
        except OSError:
            continue
        found.append((_named(file, text), _shown(text)))
    return sorted(found, key=lambda each: _created(each[0]))


def _created(named: _Named) -> float:
    at = named.time.get("created") if isinstance(named.time, dict) else None
    return at if isinstance(at, int | float) else 0


def _named(file: Path, text: bytes) -> _Named:
    """The id and times in a file; its name where there is no id."""
    try:
        named = _NAMED.decode(text)
    except (msgspec.MsgspecError, RecursionError):
        named = _Named()
    return named if named.id else _Named(id=file.stem)


def _shown(text: bytes) -> str:
    return text.decode("utf-8", "replace")


def _dumped(value: object) -> str:
    return msgspec.json.encode(value).decode()
