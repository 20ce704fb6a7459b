"""One run: claim, brief, converse, commit, close; every way out is an outcome."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

import msgspec
from msgspec.structs import replace

from extractord.core import outcomes
from extractord.core.brief import Draft, compose, draft
from extractord.core.manifest import Remembered, remembered
from extractord.core.naming import RANDOM_BYTES, ulid
from extractord.core.outcomes import Ended
from extractord.core.ports import Child, Ledger, Owner, RunRow
from extractord.core.prompting import Prompt
from extractord.core.records import Brief, Conversation, Ending, Outcome, Snapshot, Tool, Window
from extractord.core.survey import kinds_of, root_of
from extractord.core.wire import Start
from extractord.edges.redaction import Redaction
from extractord.edges.store import Committed, Context, Store
from extractord.errors import ExtractordError, ModelError
from extractord.policy.secret import Hit
from extractord.spending import BudgetSpent, Spending


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What every run of an installation has in common; `tokens` is the longest brief's."""

    model: str
    system: str
    tools: tuple[Tool, ...]
    prompts: Mapping[str, Prompt]
    tokens: int
    turns: int
    attempts: int
    mode: Literal["auto", "ask"]
    confinement: str

    @property
    def embedded(self) -> bool:
        """The embedded model answers, in the child: nothing is asked of a provider."""
        return self.model == "heuristic"


_NO_CONVERSATION = Conversation(ending=Ending.FAILED)
_NOT_COMMITTED = Committed(outcome=Outcome.ABORTED)
_STOPPED = Ended(Outcome.ABORTED, "stopped")


@dataclass(slots=True)
class _Under:
    """A run under way: what is known of it so far, however it ends."""

    id: str
    window: Window
    attempts: int
    brief: Brief | None = None
    conversation: Conversation = _NO_CONVERSATION
    committed: Committed = _NOT_COMMITTED
    ended: Ended = _STOPPED


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """Turns a snapshot into memories, or says why not."""

    ledger: Ledger
    store: Store
    child: Child
    redaction: Redaction
    spending: Spending
    terms: Terms
    owner: Owner
    clock: Callable[[], datetime]

    async def run(self, snapshot: Snapshot) -> RunRow | None:
        """Given a snapshot, run it and return the run's row; None where somebody else has its range."""
        window, began = snapshot.window, self.clock()
        keys = [exchange.key for exchange in window.exchanges]
        states = self.ledger.ranges.states(window.agent, window.session)
        attempts = max((states[key].attempts for key in keys if key in states), default=0)
        run = _Under(ulid(began, secrets.token_bytes(RANDOM_BYTES)), window, attempts)
        if not self.ledger.ranges.claim(window.agent, window.session, keys, run.id, self.owner, began):
            return None
        row = RunRow(
            run=run.id,
            agent=window.agent,
            session=window.session,
            project=window.project.slug,
            model=self.terms.model,
            started_at=began,
            confinement=self.terms.confinement,
        )
        self.ledger.runs.start(row)
        try:
            await self._converse_at_length(run)
            self._commit(run)
        except BudgetSpent as error:
            run.ended = outcomes.of_budget(str(error), error.until, attempts, self.clock())
        except ModelError as error:
            run.ended = outcomes.of_model(error, attempts, self.clock())
        except ExtractordError as error:
            run.ended = outcomes.failed(str(error), attempts, self.clock())
        finally:
            row = self._close(run, row)
        return row

    async def _converse_at_length(self, run: _Under) -> None:
        """Brief and converse; where the provider finds it too long, once more with half."""
        if not self.terms.embedded:
            self.spending.check(run.id)
        drafted = draft(run.window, self._remembered(run.window), self.terms.tokens)
        hits = await self.redaction.find(drafted.texts)
        try:
            await self._converse(run, drafted, hits, self.terms.tokens)
        except ModelError as error:
            if error.fault != "too_long":
                raise
            await self._converse(run, drafted, hits, self.terms.tokens // 2)

    async def _converse(
        self, run: _Under, drafted: Draft, hits: Sequence[Sequence[Hit]], tokens: int
    ) -> None:
        terms, project = self.terms, run.window.project
        run.brief = compose(
            drafted,
            hits,
            system=terms.system,
            tools=terms.tools,
            prompts=terms.prompts,
            tokens=tokens,
            now=self.clock(),
        )
        start = Start(
            brief=run.brief,
            known=self.store.known(project),
            turns=terms.turns,
            has_project=project.is_project,
            embedded=terms.embedded,
        )
        roots = [self.store.roots.folder(root_of(kind, project)).fileno() for kind in kinds_of(project)]
        run.conversation = await self.child.converse(start, roots, self.spending.of(run.id))

    def _commit(self, run: _Under) -> None:
        """What the conversation came to goes to the one writer, whose verdict counts."""
        ended = outcomes.of_conversation(run.conversation, run.attempts, self.clock())
        if ended is not None:
            run.ended = ended
            return
        assert run.brief is not None  # noqa: S101 - a conversation has one
        context = Context(
            run=run.id,
            agent=run.window.agent,
            session=run.window.session,
            project=run.window.project,
            owner=self.owner,
            shown=run.brief.shown,
            mode=self.terms.mode,
            confinement=self.terms.confinement,
        )
        run.committed = self.store.commit(run.conversation.changes, context)
        run.ended = outcomes.of_commit(
            run.committed.outcome, run.committed.reason, run.attempts, self.clock()
        )

    def _close(self, run: _Under, row: RunRow) -> RunRow:
        """Last of all: the range, the audit of refusals, the row."""
        now, ledger, committed = self.clock(), self.ledger, run.committed
        ended = outcomes.parked(run.ended, run.attempts, self.terms.attempts)
        requests, usage = ledger.runs.usage(run.id)
        row = replace(
            row,
            ended_at=now,
            outcome=ended.outcome,
            reason=ended.reason,
            written=committed.written,
            removed=committed.removed,
            held=committed.held,
            denied=run.conversation.denied + len(committed.refusals),
            requests=requests,
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
            dollars=usage.dollars,
            ms=int((now - row.started_at).total_seconds() * 1000),
        )
        with ledger.transaction():
            ledger.audit.refused(run.id, "child", run.conversation.refusals, self.terms.confinement, now)
            if ended.closes:
                ledger.ranges.finish(run.id, ended.outcome, now)
            else:
                ledger.ranges.release(
                    run.id, attempted=ended.counted, retry_at=ended.retry_at, reason=ended.reason
                )
            if ended.outcome is Outcome.PARKED and run.brief is not None:
                ledger.runs.keep_brief(run.id, msgspec.msgpack.encode(run.brief))
            ledger.runs.finish(row)
        return row

    def _remembered(self, window: Window) -> Sequence[Remembered]:
        """The memories of the run's roots; only of the newest the text is read."""
        rows = [
            (kind, row)
            for kind in kinds_of(window.project)
            for row in self.store.survey(root_of(kind, window.project))
        ]
        return remembered(
            rows, lambda kind, path: self.store.roots.text(root_of(kind, window.project), path) or ""
        )
