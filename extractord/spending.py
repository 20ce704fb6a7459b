"""The one place where a request is made: redacted, within the budget, and a row in the ledger."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime

from msgspec.structs import replace

from extractord.core.budget import Limits, Stop, judge_spend
from extractord.core.ports import Host, Redactor, Runs, Spent
from extractord.core.records import Message, Reply, Tool, Usage
from extractord.core.wire import WireError
from extractord.errors import ExtractordError, ModelError

_TRIES = 20
"""A host that was turned may say what it likes: no more failed requests are counted at once."""
_PROMISED_PART = 10
"""One reply is promised at most a tenth of the requests that the day has left."""
_BYTES_A_TOKEN = 6
"""No tokenizer makes longer ones of prose on average."""


class BudgetSpent(ExtractordError):  # noqa: N818 - a state of the purse, not a fault
    """A limit is reached: of the day, `until` its end, or of the run (`until` None)."""

    def __init__(self, stop: Stop) -> None:
        self.until = stop.until
        super().__init__(stop.reason)


def least_tokens(messages: Sequence[Message], tools: Sequence[Tool]) -> int:
    """Given what is asked, return how many tokens it is at least: a message is not less than one."""
    size = sum(len(text.encode("utf-8", "replace")) for text in _texts(messages))
    described = sum(len(tool.description) for tool in tools)
    return len(messages) + (size + described) // _BYTES_A_TOKEN


def _counted(usage: Usage) -> Usage:
    """What a reply cost, never less than nothing."""
    return Usage(
        prompt_tokens=max(0, usage.prompt_tokens),
        completion_tokens=max(0, usage.completion_tokens),
        cached_tokens=max(0, usage.cached_tokens),
        dollars=max(0.0, usage.dollars),
    )


def _texts(messages: Sequence[Message]) -> Iterator[str]:
    for message in messages:
        yield message.content
        yield from (call.arguments for call in message.calls)


def _cleaned(message: Message, clean: Mapping[str, str]) -> Message:
    calls = tuple(replace(call, arguments=clean[call.arguments]) for call in message.calls)
    return replace(message, content=clean[message.content], calls=calls)


def _midnight(now: datetime) -> datetime:
    """When the day began."""
    return now.replace(hour=0, minute=0, second=0, microsecond=0)


class Spending:
    """Makes the requests of every run."""

    def __init__(
        self, runs: Runs, host: Host, redactor: Redactor, limits: Limits, clock: Callable[[], datetime]
    ) -> None:
        self._runs = runs
        self._host = host
        self._redactor = redactor
        self._limits = limits
        self._clock = clock
        self._promised = 0
        """Requests that replies under way may take besides those that have begun."""

    def check(self, run: str, asked_tokens: int = 0) -> None:
        """Raise BudgetSpent where not one more request fits; `asked_tokens` is what it is at least."""
        now = self._clock()
        requests, usage = self._runs.usage(run)
        tokens = usage.prompt_tokens + usage.completion_tokens
        of_run = Spent(requests=requests, tokens=tokens, dollars=usage.dollars)
        of_day = self._runs.spent(_midnight(now))
        of_day = replace(of_day, requests=of_day.requests + self._promised)
        verdict = judge_spend(self._limits, of_day, of_run, now, asked_tokens)
        if isinstance(verdict, Stop):
            raise BudgetSpent(verdict)

    def of(self, run: str) -> Asking:
        """Given a run, return what answers its child: nothing leaves unredacted or unpaid for."""
        return Asking(self, run)

    async def complete(
        self, run: str, clean: dict[str, str], messages: Sequence[Message], tools: Sequence[Tool]
    ) -> Reply:
        """Given a run and the texts that it had redacted before, ask once for it.

        Raise BudgetSpent, ModelError, or whatever the redactor raises: then nothing was sent.
        """
        self.check(run, least_tokens(messages, tools))
        request = self._runs.begin_request(run, self._clock())  # counted before it is made: none is unseen
        fresh = [text for text in dict.fromkeys(_texts(messages)) if text not in clean]
        try:
            clean.update(zip(fresh, await self._redactor.redact(fresh), strict=True))
        except BaseException:
            self._runs.withdraw_request(request)
            raise
        asked = [_cleaned(message, clean) for message in messages]
        more = self._more(run)
        self._promised += more
        try:
            reply, tries = await self._host.complete(asked, tools, 1 + more)
        except ModelError as error:
            self._runs.end_request(request, Usage(), error.fault)
            self._count(run, error.tries - 1, error.fault)
            raise
        except asyncio.CancelledError:
            self._runs.end_request(request, Usage(), "timeout")
            raise
        finally:
            self._promised -= more
        self._runs.end_request(request, _counted(reply.usage), None)
        self._count(run, tries - 1, "transient")
        return reply

    def _more(self, run: str) -> int:
        """How many requests a reply may take besides the one that has begun.

        What is promised counts as spent until the reply is there. So it is a small part of what the
        day has left: near its end other runs would be put off for tries that are never made.
        """
        more = [_TRIES]
        if self._limits.run_requests != "unlimited":
            more.append(self._limits.run_requests - self._runs.usage(run)[0])
        if self._limits.day_requests != "unlimited":
            today = self._runs.spent(_midnight(self._clock())).requests + self._promised
            more.append((self._limits.day_requests - today) // _PROMISED_PART)
        return max(0, min(more))

    def _count(self, run: str, requests: int, fault: str) -> None:
        """A request that failed is one that was made."""
        for _ in range(min(requests, _TRIES)):
            self._runs.spend(run, Usage(), self._clock(), fault)


class Asking:
    """What answers one run's child; it keeps why there was no reply.

    The child hears no more than that there is none, and its conversation ends as one that failed:
    with all that was refused in it.
    """

    def __init__(self, spending: Spending, run: str) -> None:
        self._spending = spending
        self._run = run
        self._clean: dict[str, str] = {}
        self.fault: ExtractordError | None = None

    async def __call__(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Reply:
        """Ask once. Raise WireError where there is no reply."""
        try:
            return await self._spending.complete(self._run, self._clean, messages, tools)
        except ExtractordError as error:
            self.fault = error
            raise WireError("it can have no reply") from error
