"""A run's row in the ledger: opened with the claim on its range, closed with its outcome."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime

import msgspec
from msgspec.structs import replace

from extractord.core.outcomes import Ended
from extractord.core.ports import Ledger, Owner, RunRow
from extractord.core.records import Brief, Conversation, Ending, Exchange, Outcome, ParkedRun, Window
from extractord.edges.store import Committed

_NO_CONVERSATION = Conversation(ending=Ending.FAILED)
_NOT_COMMITTED = Committed(outcome=Outcome.ABORTED)
_STOPPED = Ended(Outcome.ABORTED, "stopped")


@dataclass(slots=True)
class Under:
    """A run under way: what is known of it so far, however it ends."""

    id: str
    window: Window
    attempts: int = 0
    brief: Brief | None = None
    conversation: Conversation = _NO_CONVERSATION
    committed: Committed = _NOT_COMMITTED
    ended: Ended = _STOPPED


@dataclass(frozen=True, slots=True, kw_only=True)
class Accounts:
    """Opens and closes the rows of one process's runs."""

    ledger: Ledger
    owner: Owner
    model: str
    confinement: str
    is_told: bool = False
    """Each run is reported to somebody: its row is marked until that is done."""

    def attempts(self, window: Window) -> int:
        """How often the window's exchanges were attempted before."""
        states = self.ledger.ranges.states(window.agent, window.session)
        keys = [exchange.key for exchange in window.exchanges]
        return max((states[key].attempts for key in keys if key in states), default=0)

    def opened(self, run: str, window: Window, now: datetime) -> RunRow | None:
        """Claim the window for a run; None where some of it is closed or somebody else's."""
        row = RunRow(
            run=run,
            agent=window.agent,
            session=window.session,
            project=window.project.slug,
            model=self.model,
            started_at=now,
            confinement=self.confinement,
        )
        keys = [exchange.key for exchange in window.exchanges]
        with self.ledger.transaction():
            if not self.ledger.ranges.claim(window.agent, window.session, keys, run, self.owner, now):
                return None
            self.ledger.runs.start(row)
        return row

    def reaped(self, now: datetime) -> bool:
        """Release what runs held whose process ended, and close their rows; True if there were any.

        One that was committed, and whose process ended before it could say so, is what the commit says.
        """
        with self.ledger.transaction():
            gone = self.ledger.ranges.reap(now)
            for run in gone:
                row = self.ledger.runs.one(run)
                if row is not None and row.ended_at is None:
                    row = self.ledger.standing.as_left(row)
                    self.ledger.runs.finish(replace(row, ended_at=row.ended_at or now))
                    self.ledger.runs.leave_to_say(run)
        return bool(gone)

    def tell(self, told: Callable[[RunRow], None]) -> None:
        """Report each run that ended and was not reported: its process may have been killed first."""
        for row in self.ledger.runs.unsaid():
            told(row)
            self.ledger.runs.said(row.run)

    def to_retry(self) -> Iterator[tuple[Window, Brief]]:
        """Parked runs that are to be tried again, from what was kept of them."""
        for raw in self.ledger.runs.kept_open():
            kept = msgspec.msgpack.decode(raw, type=ParkedRun)
            agent, session = kept.brief.agent, kept.brief.session
            exchanges = tuple(
                Exchange(agent=agent, session=session, key=key, entries=(), ended=True) for key in kept.keys
            )
            window = Window(agent=agent, session=session, project=kept.project, exchanges=exchanges)
            yield window, kept.brief

    def closed(self, row: RunRow, run: Under, now: datetime) -> RunRow:
        """Close or release the range, audit what was refused, and return the row as it is kept.

        The brief of a run that is parked is kept for `runs retry`.
        """
        ledger, ended, committed, conversation = self.ledger, run.ended, run.committed, run.conversation
        requests, usage = ledger.runs.usage(row.run)
        row = replace(
            row,
            ended_at=now,
            outcome=ended.outcome,
            reason=ended.reason,
            written=committed.written,
            removed=committed.removed,
            held=committed.held,
            denied=conversation.denied + len(committed.refusals),
            requests=requests,
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
            dollars=usage.dollars,
            ms=int((now - row.started_at).total_seconds() * 1000),
        )
        with ledger.transaction():
            ledger.audit.refused(row.run, "child", conversation.refusals, self.confinement, now)
            if ended.closes:
                ledger.ranges.finish(row.run, ended.outcome, now)
            else:
                ledger.ranges.release(
                    row.run, attempted=ended.counted, retry_at=ended.retry_at, reason=ended.reason
                )
            if ended.outcome is Outcome.PARKED and run.brief is not None:
                keys = tuple(exchange.key for exchange in run.window.exchanges)
                kept = ParkedRun(brief=run.brief, project=run.window.project, keys=keys)
                ledger.runs.keep_brief(row.run, msgspec.msgpack.encode(kept))
            ledger.runs.finish(row)
            if self.is_told:
                ledger.runs.leave_to_say(row.run)
        return row
