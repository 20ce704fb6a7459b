"""What a session of Claude Code before 2.0 repeats of the one that it went on from."""

from __future__ import annotations

from datetime import timedelta

from extractord.core.transcripts.claude_records import Kind, Record
from extractord.core.transcripts.recorded import instant

_OLD = ("0.", "1.")
_AT_ONCE = timedelta(milliseconds=20)
"""No model answers as soon as that."""
_COPY = Kind(kind="copy")


class Copies:
    """Knows them by their times: `--continue` wrote all of them as of that moment, under new ids.

    So a prompt of which it is not known whether it is repeated waits for its answer. A session that
    does not begin with a copy holds none.
    """

    def __init__(self) -> None:
        self.is_copying = False
        self._is_open = False
        """What comes may be a copy."""
        self._waiting: list[Record] = []

    @property
    def is_undecided(self) -> bool:
        """True while a prompt waits for its answer."""
        return bool(self._waiting)

    def take(self, row: Record, *, is_first: bool) -> list[Record]:
        """Given a line of the conversation, return what can be folded now, copies marked as forked."""
        self._is_open = self._is_open or (is_first and _may_repeat(row))
        if self._waiting and _is_answer(row):
            self._is_open = self.is_copying = _is_at_once(self._asked(), row)
        elif self._is_open and (self._waiting or _is_prompt(row)):
            self._waiting.append(row)
            return []
        return [self._marked(each) for each in (*self.rest(), row)]

    def rest(self) -> list[Record]:
        """What waits, perhaps in vain."""
        waiting, self._waiting = self._waiting, []
        return waiting

    def _asked(self) -> Record:
        """The newest prompt that waits: what the program said since is no answer to it."""
        return next(row for row in reversed(self._waiting) if _is_prompt(row))

    def _marked(self, row: Record) -> Record:
        if self.is_copying:
            row.forked = _COPY
        return row


def _is_at_once(prompt: Record, answer: Record) -> bool:
    asked, answered = instant(prompt.timestamp), instant(answer.timestamp)
    if asked is None or answered is None or not asked.microsecond:
        return False  # whole seconds are no clock's, but somebody's who wrote the record by hand
    return abs(answered - asked) < _AT_ONCE


def _may_repeat(row: Record) -> bool:
    is_root = row.parent is None and not row.is_sidechain
    return is_root and _is_prompt(row) and (row.version or "").startswith(_OLD)


def _is_answer(row: Record) -> bool:
    """True if it is the model's: what the program says itself stands there at once."""
    is_models = row.message is None or row.message.model != "<synthetic>"
    return row.type == "assistant" and not row.is_error and is_models


def _is_prompt(row: Record) -> bool:
    """True unless it is the agent's, or a tool's."""
    blocks = row.message.blocks() if row.message is not None else []
    return row.type == "user" and not any(block.type == "tool_result" for block in blocks)
