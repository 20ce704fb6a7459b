"""What stands in Pi's records."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

from extractord.core.transcripts.decoding import decoder


class Part(Struct):
    """One part of a content."""

    type: str = ""
    text: str | None = None
    id: str | None = None
    name: str | None = None
    arguments: Any = None


class Nested(Struct):
    """A call that a tool made while it ran, as a program of the model's does."""

    id: str | None = None
    name: str | None = None
    arguments: Any = None
    status: str | None = None


class NestedCalls(Struct):
    """Those that are recorded of them."""

    calls: list[Nested] | None = None


class Message(Struct):
    """What somebody said, whoever it was."""

    role: str = ""
    content: str | list[Part] | None = None
    stopReason: str | None = None  # noqa: N815 - the record's own name
    toolCallId: str | None = None  # noqa: N815
    toolName: str | None = None  # noqa: N815
    isError: Any = None  # noqa: N815
    nestedCalls: NestedCalls | None = None  # noqa: N815
    command: str | None = None
    output: str | None = None
    summary: str | None = None
    timestamp: Any = None
    provenance: Any = None
    openclaw: Any = field(name="__openclaw", default=None)


class Record(Struct):
    """A line, whichever kind."""

    type: str = ""
    id: str | None = None
    parentId: str | None = None  # noqa: N815
    timestamp: Any = None
    cwd: str | None = None
    parentSession: Any = None  # noqa: N815
    branchedFrom: Any = None  # noqa: N815
    message: Message | None = None
    content: str | list[Part] | None = None
    summary: str | None = None


RECORD = decoder(Record)


def text_in(content: str | list[Part] | None) -> str:
    """The text of a message's content, without thinking and images."""
    if content is None or isinstance(content, str):
        return content or ""
    return "\n".join(part.text for part in content if part.type in ("text", "") and part.text)


def calls_in(content: str | list[Part] | None) -> list[Part]:
    """The calls in a message's content."""
    return [part for part in content if part.type == "toolCall"] if isinstance(content, list) else []
