"""What stands in Goose's rows and lines."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from extractord.core.transcripts.decoding import decoder


class Value(Struct):
    """What was called, or what came of it."""

    name: str | None = None
    arguments: Any = None
    content: Any = None
    isError: Any = None  # noqa: N815 - the record's own name


class Outcome(Struct):
    """A call or a result, unless there was an error instead."""

    status: str | None = None
    value: Value | list[Any] | None = None
    error: Any = None


class Block(Struct):
    """One part of a message, whichever kind."""

    type: str = ""
    text: str | None = None
    id: str | None = None
    toolCall: Outcome | None = None  # noqa: N815
    toolResult: Outcome | None = None  # noqa: N815


class Metadata(Struct):
    """Who gets to see a message; a compaction hides the old ones from the model."""

    userVisible: Any = None  # noqa: N815
    agentVisible: Any = None  # noqa: N815


class Record(Struct):
    """A row, a line of an old file, or an export; content is text in the first, else a list."""

    kind: str | None = None
    id: str | None = None
    session_type: str | None = None
    working_dir: str | None = None
    role: str | None = None
    created: Any = None
    content: str | list[Block] | None = None
    metadata: str | Metadata | None = None
    conversation: list[Record] | None = None


RECORD = decoder(Record)
BLOCKS = decoder(list[Block])
METADATA = decoder(Metadata)
