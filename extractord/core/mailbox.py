"""Where one newest snapshot per session waits, and when it may run: a transition table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import assert_never

from extractord.core.records import Snapshot


class State(StrEnum):
    """What is the matter with one session of one project."""

    IDLE = "idle"
    WAITING = "waiting"
    RUNNING = "running"
    TRAILING = "trailing"
    """Running, and a newer snapshot waits."""


class Event(StrEnum):
    """What happens to it."""

    OFFER = "offer"
    """A window was frozen."""
    WITHDRAW = "withdraw"
    """Its window holds nothing any more."""
    TAKE = "take"
    """Project and concurrency are free, and its time has come."""
    FINISH = "finish"
    """The run closed its range."""
    RELEASE = "release"
    """The run gave its range back, and the window was computed again."""


class Effect(StrEnum):
    """What is done about it."""

    KEEP = "keep"
    """The snapshot waits, in place of the one that waited."""
    DROP = "drop"
    START = "start"
    FREE = "free"
    """The project is free again."""
    FREE_AND_KEEP = "free and keep"
    NOTHING = "nothing"


TRANSITIONS: Mapping[tuple[State, Event], tuple[State, Effect]] = {
    (State.IDLE, Event.OFFER): (State.WAITING, Effect.KEEP),
    (State.IDLE, Event.WITHDRAW): (State.IDLE, Effect.NOTHING),
    (State.WAITING, Event.OFFER): (State.WAITING, Effect.KEEP),
    (State.WAITING, Event.WITHDRAW): (State.IDLE, Effect.DROP),
    (State.WAITING, Event.TAKE): (State.RUNNING, Effect.START),
    (State.RUNNING, Event.OFFER): (State.TRAILING, Effect.KEEP),
    (State.RUNNING, Event.WITHDRAW): (State.RUNNING, Effect.NOTHING),
    (State.RUNNING, Event.FINISH): (State.IDLE, Effect.FREE),
    (State.RUNNING, Event.RELEASE): (State.WAITING, Effect.FREE_AND_KEEP),
    (State.TRAILING, Event.OFFER): (State.TRAILING, Effect.KEEP),
    (State.TRAILING, Event.WITHDRAW): (State.RUNNING, Effect.DROP),
    (State.TRAILING, Event.FINISH): (State.WAITING, Effect.FREE),
    (State.TRAILING, Event.RELEASE): (State.WAITING, Effect.FREE_AND_KEEP),
}
"""The whole machine; what is not in it cannot happen."""

Key = tuple[str, str, str]
"""Agent, session, project: a session that changes its directory has a window in each project."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    snapshot: Snapshot
    not_before: datetime | None


class Mailbox:
    """Snapshots that wait, and which of them run: one in a project, `concurrency` over all."""

    def __init__(self, concurrency: int) -> None:
        """Begin empty."""
        self._concurrency = concurrency
        self._states: dict[Key, State] = {}
        self._waiting: dict[Key, _Waiting] = {}
        self._busy: dict[str, Key] = {}
        self._stopped = False
        self._paused = False

    @property
    def waiting(self) -> int:
        """How many snapshots wait."""
        return len(self._waiting)

    @property
    def in_flight(self) -> int:
        """How many run."""
        return len(self._busy)

    def state(self, key: Key) -> State:
        """What is the matter with a session."""
        return self._states.get(key, State.IDLE)

    def offer(self, snapshot: Snapshot, not_before: datetime | None = None) -> None:
        """A newer snapshot takes the place, and the turn, of the one that waits; not to run before a time.

        One without exchanges withdraws it: they were closed or abandoned meanwhile.
        """
        if snapshot.window.exchanges:
            self._advance(key_of(snapshot), Event.OFFER, _Waiting(snapshot, not_before))
        else:
            self._advance(key_of(snapshot), Event.WITHDRAW)

    def take(self, now: datetime) -> Snapshot | None:
        """The snapshot that waited longest among those that may run now; it is in flight from here."""
        if self._stopped or self._paused or len(self._busy) >= self._concurrency:
            return None
        for key, waiting in self._waiting.items():
            is_due = waiting.not_before is None or waiting.not_before <= now
            if is_due and key[2] not in self._busy:
                self._advance(key, Event.TAKE)
                return waiting.snapshot
        return None

    def finish(self, snapshot: Snapshot) -> None:
        """Its run closed the range."""
        self._advance(key_of(snapshot), Event.FINISH)

    def release(self, snapshot: Snapshot, again: Snapshot, not_before: datetime | None = None) -> None:
        """Its run gave the range back; `again` is the window as it is now, not to run before a time."""
        key = key_of(snapshot)
        self._advance(key, Event.RELEASE, _Waiting(again, not_before))
        if not again.window.exchanges:
            self._advance(key, Event.WITHDRAW)

    def limit(self, concurrency: int) -> None:
        """From now on so many runs at once; those in flight go on."""
        self._concurrency = concurrency

    def stop(self) -> None:
        """Start nothing more; what waits is still open in the ledger, and is found at the next start."""
        self._stopped = True

    def pause(self, *, paused: bool) -> None:
        """Start nothing more until that is taken back; what is offered waits."""
        self._paused = paused

    def _advance(self, key: Key, event: Event, waiting: _Waiting | None = None) -> None:
        state, effect = TRANSITIONS[self.state(key), event]
        if state is State.IDLE:
            self._states.pop(key, None)
        else:
            self._states[key] = state
        if waiting is not None:
            self._waiting[key] = waiting
        match effect:
            case Effect.START:
                del self._waiting[key]
                self._busy[key[2]] = key
            case Effect.DROP:
                del self._waiting[key]
            case Effect.FREE | Effect.FREE_AND_KEEP:
                del self._busy[key[2]]
            case Effect.KEEP | Effect.NOTHING:
                pass
            case _:
                assert_never(effect)


def key_of(snapshot: Snapshot) -> Key:
    """Given a snapshot, return where it waits."""
    window = snapshot.window
    return window.agent, window.session, window.project.slug


def figure() -> str:
    """The table as a Mermaid state diagram, for the README."""
    arrows = [
        f"    {state} --> {after}: {event}" + ("" if effect is Effect.NOTHING else f" / {effect}")
        for (state, event), (after, effect) in TRANSITIONS.items()
    ]
    return "\n".join(["stateDiagram-v2", f"    [*] --> {State.IDLE}", *arrows])
