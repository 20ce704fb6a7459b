"""Joins a session that stands in many small JSON files into one document."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from extractord.core.transcripts.source import Tree
from extractord.errors import TranscriptError

_PLAIN = re.compile(r"[A-Za-z0-9_-]+")


class _Named(Struct):
    id: str = ""


_NAMED = msgspec.json.Decoder(_Named)


def joined(path: str, tree: Tree) -> bytes:
    """Given a session's file, return a JSON array of rows: the session, then its messages by id.

    A session's row has the ids of its messages as `parts`, a message's row its parts, each with
    `id` and `data`; `data` is always a file's own text. Files that go meanwhile are left out.
    Raise TranscriptError where the session's own file cannot be read.
    """
    place = Path(path)
    try:
        text = place.read_bytes()
    except OSError as error:
        raise TranscriptError(f"{path} cannot be read: {error.strerror}") from error
    session = _ident(place, text)
    messages = sorted(_files(place.parent, tree.messages, session))
    ids = [ident for ident, _ in messages]
    rows = [{"kind": "file", "id": session, "data": _shown(text), "parts": _dumped(ids)}]
    for ident, data in messages:
        parts = [
            {"id": part, "data": words} for part, words in sorted(_files(place.parent, tree.parts, ident))
        ]
        rows.append({"kind": "message", "id": ident, "data": data, "parts": _dumped(parts)})
    return msgspec.json.encode(rows)


def _files(folder: Path, pattern: str, ident: str) -> Iterator[tuple[str, str]]:
    """The files of a session or a message, each with its id and text; an odd id is no path."""
    if not _PLAIN.fullmatch(ident):
        return
    for file in folder.glob(pattern.replace("{id}", ident)):
        try:
            text = file.read_bytes()
        except OSError:
            continue
        yield _ident(file, text), _shown(text)


def _ident(file: Path, text: bytes) -> str:
    """The id in a file, else its name."""
    try:
        return _NAMED.decode(text).id or file.stem
    except msgspec.MsgspecError:
        return file.stem


def _shown(text: bytes) -> str:
    return text.decode("utf-8", "replace")


def _dumped(value: object) -> str:
    return msgspec.json.encode(value).decode()
