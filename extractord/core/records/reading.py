"""What is read of a session: entries, those that wait to be made, and exchanges of them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from enum import StrEnum

from msgspec import Struct


class Role(StrEnum):
    """Who an entry is from, as the watched agent's model saw it."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    CONTEXT = "context"


class Origin(StrEnum):
    """Where an entry's words come from, as far as the record tells."""

    HUMAN = "human"
    """Typed by a person in a session that a person drives."""
    HEADLESS = "headless"
    """A prompt that a program gave (`claude -p`, `codex exec`)."""
    SYNTHETIC = "synthetic"
    """Written by the agent, its model, its tools or its harness."""
    SUBAGENT = "subagent"
    """Of a session that the agent's own model prompts."""
    RECALLED = "recalled"
    """A compaction summary, or memory that was injected: never evidence."""
    COPIED = "copied"
    """Repeated from another session by a fork, resume or branch: never evidence twice."""


class ToolCall(Struct, frozen=True, kw_only=True, gc=False):
    """A tool call of the watched agent."""

    id: str
    name: str
    paths: tuple[str, ...] = ()
    """The files it names: absolute where the record's cwd allows, `~/…` kept, `..` folded."""
    writes: bool = False
    """It would change those files."""
    ok: bool | None = None
    """True where a result says that it was done, False where refused or failed, None unknown."""


class Entry(Struct, frozen=True, kw_only=True, gc=False):
    """One thing said or done in a session of the watched agent.

    The same `id` again with a higher `revision` replaces the entry.
    """

    id: str
    agent: str
    session: str
    role: Role
    origin: Origin
    text: str = ""
    parent: str | None = None
    revision: int = 0
    calls: tuple[ToolCall, ...] = ()
    time: datetime | None = None
    """Aware, UTC; absent where the record has none."""
    cwd: str | None = None
    branch: str | None = None
    """The git branch that the record names."""
    turn_end: bool = False
    """The watched agent's turn, and so the exchange, ends with this entry."""
    active: bool = True
    """False on a branch that a rewind abandoned."""
    pastes: tuple[tuple[int, int], ...] = ()
    """Stretches of `text`, as offsets, that the record itself marks as pasted."""
    ordinal: int | None = None
    """The record's own running number where the agent writes one (Codex)."""


class Voided(Struct, frozen=True, kw_only=True, gc=False):
    """Entries that a rewind put on an abandoned branch, in whichever file they stand.

    Either `ids`, or every entry of the session in *other* files whose ordinal is at least
    `from_ordinal`. Those of `again` were, and are no more: each is told anew after this.
    """

    session: str
    ids: tuple[str, ...] = ()
    from_ordinal: int | None = None
    again: tuple[str, ...] = ()


Seen = Entry | Voided
"""What a reader makes of a record."""


class Deferred(Struct, frozen=True, gc=False):
    """An assistant's or a tool's record, kept as it came: its entries are made when they are needed."""

    session: str
    id: str
    """The record's, unique in its transcript; not always that of the entry."""
    record: bytes
    calls: bool = False
    """It may hold tool calls."""
    ends: bool = False
    """The watched agent's turn, and so the exchange, ends with it."""
    cwd: str | None = None
    """The working directory, where the record itself does not tell."""
    about: object = None
    """What else its adapter has to know to make the entries."""


class Thawed(Struct, frozen=True, gc=False):
    """The entries of a record that went out deferred, wanted before its exchange is."""

    session: str
    id: str
    entries: tuple[Entry, ...]


Kept = Entry | Deferred
"""What an exchange is made of."""
Thaw = Callable[[tuple[Kept, ...]], tuple[Entry, ...]]
"""Given all that is kept of an exchange, in order, return its entries, as if none had been deferred."""


class Exchange(Struct, frozen=True, kw_only=True):
    """A person's prompt and all that follows until the watched agent's turn ends."""

    agent: str
    session: str
    key: str
    """The id of the entry that opens it."""
    entries: tuple[Entry, ...]
    """All of them, or where something is deferred those that are made: its prompt always is."""
    ended: bool
    cwd: str | None = None
    branch: str | None = None
    kept: tuple[Kept, ...] = ()
    """Where something is deferred: everything, in order."""
    thaw: Thaw | None = None
    """Where something is deferred: makes entries of `kept`."""
