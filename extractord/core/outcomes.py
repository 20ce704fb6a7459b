"""What each way out of a run does to its range: the table of DESIGN §7, as functions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from extractord.core.records import Conversation, Ending, Outcome
from extractord.errors import ModelError

FIRST_WAIT = timedelta(minutes=1)
LONGEST_WAIT = timedelta(hours=4)
BUSY_WAIT = timedelta(seconds=5)
AFTER_AUTH = timedelta(hours=1)
"""Nobody mends a key sooner; a restart asks at once."""

CLOSING = frozenset({Outcome.SAVED, Outcome.NOTHING_TO_SAVE, Outcome.HELD, Outcome.PARKED, Outcome.FORWARDED})
"""The outcomes that close the range; the others release it."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run ended; `retry_at` is when its exchanges may run again, None at once."""

    outcome: Outcome
    reason: str = ""
    retry_at: datetime | None = None
    counted: bool = False
    """It was an attempt: so many of them park the exchanges."""

    @property
    def closes(self) -> bool:
        """The range is closed; else it is released."""
        return self.outcome in CLOSING


def failed(reason: str, attempts: int, now: datetime) -> Ended:
    """Given a reason and the attempts before, return a failure that waits four times as long each time."""
    wait = min(FIRST_WAIT * 4**attempts, LONGEST_WAIT)
    return Ended(Outcome.FAILED, reason, now + wait, counted=True)


def of_conversation(conversation: Conversation, attempts: int, now: datetime) -> Ended | None:
    """Given how a conversation ended, return the failure that it is; None where it can be committed."""
    match conversation.ending:
        case Ending.FAILED:
            return failed(conversation.reason or "child", attempts, now)
        case Ending.NO_CALL:
            return failed("no_call", attempts, now)
        case Ending.FINISHED | Ending.SAID | Ending.TURNS:
            return None


def of_model(error: ModelError, attempts: int, now: datetime) -> Ended:
    """Given why there is no reply, return what that means: quota and auth stop, the rest is tried again."""
    match error.fault:
        case "quota":
            return Ended(Outcome.DEFERRED, f"quota: {error}", now + _wish(error, AFTER_AUTH))
        case "auth":
            return Ended(Outcome.DEFERRED, f"auth: {error}", now + AFTER_AUTH)
        case "rate_limit" | "transient" | "too_long" | "refused":
            ended = failed(f"{error.fault}: {error}", attempts, now)
            wish = now + _wish(error, timedelta())
            return replace(ended, retry_at=max(wish, ended.retry_at or wish))


def of_commit(outcome: Outcome, reason: str, attempts: int, now: datetime) -> Ended:
    """Given the store's answer, return the ending: a conflict is rerun at once, a busy lock uncounted."""
    match outcome:
        case Outcome.CONFLICT:
            return Ended(outcome, reason, counted=True)
        case Outcome.FAILED if reason == "busy":
            return Ended(outcome, reason, now + BUSY_WAIT)
        case Outcome.FAILED:
            return failed(reason, attempts, now)
        case _:
            return Ended(outcome, reason)


def of_budget(reason: str, until: datetime | None, attempts: int, now: datetime) -> Ended:
    """Given a limit that is reached, return a wait for the day's end, or a failure where it is the run's."""
    if until is None:
        return failed(reason, attempts, now)
    return Ended(Outcome.DEFERRED, reason, until)


def parked(ended: Ended, attempts: int, limit: int) -> Ended:
    """Given an ending and the attempts before it, return it parked where they are spent."""
    if ended.counted and attempts + 1 >= limit:
        return Ended(Outcome.PARKED, ended.reason)
    return ended


def _wish(error: ModelError, otherwise: timedelta) -> timedelta:
    return otherwise if error.retry_after_s is None else timedelta(seconds=error.retry_after_s)
