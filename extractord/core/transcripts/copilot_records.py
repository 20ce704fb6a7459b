"""What stands in the events of Copilot CLI."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

from extractord.core.transcripts.decoding import decoder


class Request(Struct):
    """A call that the model asks for."""

    toolCallId: str | None = None  # noqa: N815 - the record's own name
    name: str | None = None
    arguments: Any = None


class Place(Struct):
    """Where a session works."""

    cwd: str | None = None
    branch: str | None = None


class Result(Struct):
    """What a call gave."""

    content: str | None = None


class Body(Struct):
    """What an event's `data` holds, whichever event it is."""

    sessionId: str | None = None  # noqa: N815
    copilotVersion: str | None = None  # noqa: N815
    context: Place | None = None
    content: str | None = None
    source: str | None = None
    isAutopilotContinuation: Any = None  # noqa: N815
    toolRequests: list[Request] | None = None  # noqa: N815
    toolCallId: str | None = None  # noqa: N815
    parentToolCallId: str | None = None  # noqa: N815
    answer: str | None = None
    wasFreeform: Any = None  # noqa: N815
    feedback: str | None = None
    success: Any = None
    result: Result | None = None
    error: Any = None
    message: str | None = None
    summaryContent: str | None = None  # noqa: N815


class Event(Struct):
    """A line; an `agentId` where a sub-agent did it."""

    type: str = ""
    id: str | None = None
    parentId: str | None = None  # noqa: N815
    timestamp: Any = None
    agentId: str | None = None  # noqa: N815
    data: Body = field(default_factory=Body)


EVENT = decoder(Event)
