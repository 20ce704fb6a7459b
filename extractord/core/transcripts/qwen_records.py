"""What stands in the lines of Qwen Code's sessions."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from extractord.core.transcripts.decoding import decoder
from extractord.core.transcripts.genai import Part


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
