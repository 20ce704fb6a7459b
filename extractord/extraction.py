"""One run: claim, brief, converse, commit, close; every way out is an outcome."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from extractord.accounts import Accounts, Under
from extractord.briefing import Briefing, Ground
from extractord.core import outcomes
from extractord.core.naming import RANDOM_BYTES, ulid
from extractord.core.ports import Child, RunRow
from extractord.core.records import Brief, Snapshot
from extractord.core.wire import Start
from extractord.edges.store import Context, Store, Writer
from extractord.errors import ExtractordError, ModelError
from extractord.spending import BudgetSpent, Spending


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """Turns a snapshot into memories, or says why not."""

    accounts: Accounts
    briefing: Briefing
    child: Child
    spending: Spending
    writer: Writer
    clock: Callable[[], datetime]
    mode: Literal["auto", "ask"]
    embedded: bool
    """The embedded model answers, in the child: nothing is asked of a provider."""
    turns: int
    parked_after: int

    @property
    def is_ready(self) -> bool:
        """A run can be made at any time."""
        return True

    async def run(self, snapshot: Snapshot) -> RunRow | None:
        """Given a snapshot, run it and return the run's row; None where somebody else has its range."""
        now, window = self.clock(), snapshot.window
        run_id, attempts = ulid(now, secrets.token_bytes(RANDOM_BYTES)), self.accounts.attempts(window)
        run = Under(run_id, window, attempts, snapshot.brief)
        row = self.accounts.opened(run.id, window, now)
        if row is None:
            return None
        try:
            await self._converse_at_length(run)
            await self._commit(run)
        except BudgetSpent as error:
            run.ended = outcomes.of_budget(str(error), error.until, run.attempts, self.clock())
        except ModelError as error:
            run.ended = outcomes.of_model(error, run.attempts, self.clock())
        except ExtractordError as error:
            run.ended = outcomes.failed(str(error), run.attempts, self.clock())
        finally:
            run.ended = outcomes.parked(run.ended, run.attempts, self.parked_after)
            row = self.accounts.closed(row, run, self.clock())
        return row

    async def _converse_at_length(self, run: Under) -> None:
        """Brief and converse; where the provider finds it too long, once more with half."""
        if not self.embedded:
            self.spending.check(run.id)
        ground = await self.writer.look(Ground.looked_at, run.window.project)
        if run.brief is not None:
            await self._converse(run, run.brief, ground)
            return
        drafted, tokens = await self.briefing.drafted(run.window, ground), self.briefing.tokens
        try:
            await self._converse(run, self.briefing.composed(drafted, tokens), ground)
        except ModelError as error:
            if error.fault != "too_long":
                raise
            await self._converse(run, self.briefing.composed(drafted, tokens // 2), ground)

    async def _converse(self, run: Under, brief: Brief, ground: Ground) -> None:
        run.brief = brief
        start = Start(
            brief=brief,
            known=ground.known,
            turns=self.turns,
            has_project=run.window.project.is_project,
            embedded=self.embedded,
        )
        asking = self.spending.of(run.id)
        run.conversation = await self.child.converse(start, ground.roots, asking)
        if asking.fault is not None:  # what was refused until then is kept
            raise asking.fault

    async def _commit(self, run: Under) -> None:
        """What the conversation came to goes to the one writer, whose verdict counts."""
        failed = outcomes.of_conversation(run.conversation, run.attempts, self.clock())
        if failed is not None:
            run.ended = failed
            return
        window = run.window
        context = Context(
            run=run.id,
            agent=window.agent,
            session=window.session,
            project=window.project,
            owner=self.accounts.owner,
            shown=run.brief.shown if run.brief else (),
            mode=self.mode,
            confinement=self.accounts.confinement,
        )

        def commit(store: Store) -> None:  # where nobody waits for it any more, it is noted all the same
            run.committed = done = store.commit(run.conversation.changes, context)
            run.ended = outcomes.of_commit(done.outcome, done.reason, run.attempts, self.clock())

        await self.writer.do(commit)
