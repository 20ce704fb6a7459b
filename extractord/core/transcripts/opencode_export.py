"""A session as `opencode export` writes it, one document, to rows as its database has them."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from msgspec import Raw, Struct, field

from extractord.core.transcripts.decoding import decoder
from extractord.core.transcripts.opencode_rows import Row, SessionFile


class _Named(Struct):
    id: str = ""


class _Session(SessionFile):
    id: str = ""


class _Message(Struct):
    info: Raw = field(default_factory=Raw)
    parts: list[Raw] = field(default_factory=list)


class _Export(Struct):
    info: _Session | None = None
    messages: list[_Message] | None = None


_EXPORT = decoder(_Export)
_NAMED = decoder(_Named)


def exported(document: str) -> Iterator[Row]:
    """Given a document, yield the session's row and its messages'; nothing where it is no export."""
    found = _EXPORT(document.encode()) if '"messages"' in document else None
    if found is None or found.info is None or found.messages is None:
        return
    messages = [(_id(bytes(each.info)), each) for each in found.messages]
    yield session_row(
        found.info, found.info.id, msgspec.json.encode([ident for ident, _ in messages]).decode()
    )
    for ident, each in messages:
        parts = [{"id": _id(bytes(part)), "data": _text(bytes(part))} for part in each.parts]
        yield Row(
            kind="message",
            id=ident,
            data=_text(bytes(each.info)),
            parts=msgspec.json.encode(parts).decode(),
        )


def session_row(found: SessionFile, ident: str, messages: str | None) -> Row:
    """Given what stands in a session's file, and the ids of its messages, return its row."""
    return Row(
        kind="session",
        id=ident,
        parent_id=found.parentID,
        directory=found.directory,
        version=found.version,
        revert=msgspec.json.encode(found.revert).decode() if found.revert else None,
        data=messages,
    )


def _id(record: bytes) -> str:
    return (_NAMED(record) or _Named()).id


def _text(record: bytes) -> str:
    return record.decode("utf-8", "replace")
