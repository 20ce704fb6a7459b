"""What a thread of Codex has come to: what its entries are made of besides their own records."""

from __future__ import annotations

import re
from copy import copy

from msgspec import Struct

from extractord.core.records import Origin
from extractord.core.transcripts.codex_records import CALLS, ENDS, OUTPUTS, Line, Payload
from extractord.core.transcripts.recorded import instant

_ORDERED = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7")
_IMPORTED = "external-import-turn-"
"""How turns are named that were taken over from another agent's transcripts: those are read themselves."""
_COPY_S = 1.0
"""A fork writes what it copies at once: within this of its own first line, in seconds."""


class Standing(Struct, gc=False):
    """Where a thread stands between two of its records."""

    session: str | None = None
    began: float | None = None
    """When the session did, in seconds since the epoch."""
    origin: Origin = Origin.HUMAN
    scope: str = ""
    """What ids are made of where no turn is told."""
    cwd: str | None = None
    branch: str | None = None
    turn: str | None = None
    turn_is_prompted: bool = False
    is_copying: bool = False
    """What comes may be the parent's, repeated by a fork."""
    ids: list[str] = []
    """Of what this turn brought."""
    waiting: tuple[tuple[Line, Payload], ...] = ()
    """Prompts that events told, and that may still come as items."""

    def now(self) -> Standing:
        """The same, apart from what comes of this one."""
        return copy(self)

    def begin(self, meta: Payload, began: float | None) -> None:
        """A session begins; one file may hold several, one after the other."""
        self.origin = Origin.HUMAN
        if meta.is_subagent():
            self.origin = Origin.SUBAGENT
        elif meta.is_headless():
            self.origin = Origin.HEADLESS
        self.began, self.scope = began, self.session or ""
        self.cwd, self.branch = meta.cwd, meta.git.branch if meta.git else None
        self.turn, self.turn_is_prompted = None, False
        self.is_copying, self.waiting = False, ()

    def enter(self, turn: str | None) -> None:
        """What comes now is of this turn, where it is said."""
        if turn and turn != self.turn:
            self.turn = turn
            self.turn_is_prompted = False

    @property
    def is_imported(self) -> bool:
        """True if this turn was taken over from another agent's transcript."""
        return (self.turn or "").startswith(_IMPORTED)

    def is_copy(self, line: Line) -> bool:
        """True if it was taken over: by a fork from its parent, where its turn began before the fork did.

        Ids of turns and threads are UUIDs of version 7, which sort by time. Where there are none,
        what was written at once with the fork's first line is a copy.
        """
        if not self.is_copying:
            return self.is_imported
        session = self.session or ""
        if self.turn and _ORDERED.match(self.turn) and _ORDERED.match(session):
            self.is_copying = self.turn < session
        else:
            at = instant(line.timestamp)
            self.is_copying = at is None or self.began is None or at.timestamp() - self.began < _COPY_S
        if not self.is_copying:
            self.scope = session
        return self.is_copying


def acts(line: Line, payload: Payload) -> bool:
    """True for what comes after a prompt: what the agent does, the turn's end, its taking back."""
    if line.type == "event_msg":
        return payload.type in ENDS or payload.type == "thread_rolled_back"
    is_agents = payload.type in CALLS or payload.type in OUTPUTS or payload.role == "assistant"
    return line.type == "compacted" or (line.type == "response_item" and is_agents)
