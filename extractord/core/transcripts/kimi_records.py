"""What stands in the wires of Kimi Code and Kimi CLI."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from extractord.core.transcripts.chat import Function
from extractord.core.transcripts.decoding import decoder


class By(Struct):
    """Who gave an input; a person may have loaded skills for it, or given a command words of their own."""

    kind: str | None = None
    trigger: str | None = None
    skillArgs: str | None = None  # noqa: N815 - the record's own name
    commandArgs: str | None = None  # noqa: N815
    skillActivations: list[Any] | None = None  # noqa: N815


class Part(Struct):
    """A part of what the model says."""

    type: str = ""
    text: str | None = None


class Event(Struct):
    """What happened in the loop."""

    type: str = ""
    uuid: str | None = None
    part: Part | None = None
    toolCallId: str | None = None  # noqa: N815
    name: str | None = None
    args: Any = None
    result: Any = None
    finishReason: str | None = None  # noqa: N815


class Payload(Struct):
    """What an old event carries."""

    type: str | None = None
    text: str | None = None
    user_input: Any = None
    id: str | None = None
    function: Function | None = None
    tool_call_id: str | None = None
    return_value: Any = None
    output: Any = None
    is_error: Any = None
    feedback: Any = None


class Message(Struct):
    """A message of the context, or an old event."""

    role: str = ""
    id: str | None = None
    content: Any = None
    origin: By | None = None
    type: str = ""
    payload: Payload | None = None


class Disclosed(Struct):
    """What the model was told of its place."""

    cwd: str | None = None


class Record(Struct):
    """Any line: which it is shows in its type."""

    type: str = ""
    role: str = ""
    time: Any = None
    timestamp: Any = None
    protocol_version: str | None = None
    cwd: str | None = None
    environmentDisclosure: Disclosed | None = None  # noqa: N815
    input: Any = None
    promptId: str | None = None  # noqa: N815
    result: Any = None
    origin: By | None = None
    message: Message | None = None
    event: Event | None = None
    count: Any = None
    summary: str | None = None


class State(Struct):
    """What the session's own file says."""

    workDir: str | None = None  # noqa: N815
    cwd: str | None = None
    forkedFrom: str | None = None  # noqa: N815


RECORD = decoder(Record)
STATE = decoder(State)
