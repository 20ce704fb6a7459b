"""What stands in the lines of Qwen Code's sessions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct

from extractord.core.transcripts.decoding import decoder
from extractord.core.transcripts.genai import Part

_BEGINS = b'{"uuid":'
_GLUED = 64
_GOES_ON = re.compile(r"\s*(?:\Z|" + re.escape(_BEGINS.decode()) + ")")
"""What comes after a record on its line: nothing, or the next."""
_JSON = json.JSONDecoder()


class Message(Struct):
    """What was said."""

    role: str | None = None
    parts: list[Part] | None = None


class Payload(Struct):
    """What a system record carries."""

    displayText: str | None = None  # noqa: N815
    sourceType: str | None = None  # noqa: N815
    compressedHistory: list[Message] | None = None  # noqa: N815


class Result(Struct):
    """How a call ended, as the harness says."""

    callId: str | None = None  # noqa: N815
    status: str | None = None


class Record(Struct):
    """A line."""

    uuid: str | None = None
    parentUuid: str | None = None  # noqa: N815
    sessionId: str | None = None  # noqa: N815
    timestamp: Any = None
    type: str = ""
    subtype: str | None = None
    provenance: str | None = None
    cwd: str | None = None
    version: str | None = None
    gitBranch: str | None = None  # noqa: N815
    message: Message | None = None
    toolCallResult: Result | None = None  # noqa: N815
    systemPayload: msgspec.Raw = msgspec.Raw()  # noqa: N815
    isSidechain: Any = None  # noqa: N815
    forkedFrom: Any = None  # noqa: N815


DECODER = decoder(Record)
PAYLOAD = decoder(Payload)


def glued(record: bytes, session: str | None) -> Iterator[bytes]:
    """Given a line that is no record, yield those of the session that stand whole on it.

    Before them, one may have been cut off: what that holds may look like a record, but does not end
    where another begins.
    """
    if record.count(_BEGINS) < 2 or DECODER(record) is not None:  # noqa: PLR2004 - glued are two, or more
        return
    text = record.decode("utf-8", "replace")
    start = told = 0
    for _ in range(_GLUED):
        start = text.find(_BEGINS.decode(), start)
        if start < 0:
            return
        try:
            _, end = _JSON.raw_decode(text, start)
        except (ValueError, RecursionError):
            start += 1
            continue
        found = text[start:end].encode()
        if start == told or (_GOES_ON.match(text, end) and _is_of(session, found)):
            yield found
            told = end
        start = end


def _is_of(session: str | None, record: bytes) -> bool:
    line = DECODER(record)
    return line is not None and line.sessionId is not None and session in (None, line.sessionId)
