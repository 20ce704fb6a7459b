"""What a forwarder does with a snapshot: what a brief needs of it, redacted, goes to the broker."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime, timedelta

from msgspec import structs

from extractord.accounts import Under
from extractord.core import outcomes
from extractord.core.broker import Broker, Calling, Came
from extractord.core.events import Event
from extractord.core.fleet import Receipt, receipts_topic, said, windows_topic
from extractord.core.merging import whole
from extractord.core.naming import RANDOM_BYTES, ulid
from extractord.core.outcomes import Ended
from extractord.core.ports import RunRow
from extractord.core.records import Outcome, Snapshot, Window
from extractord.core.redact import marks_for
from extractord.core.redact import replace as put
from extractord.core.sending import PACKED_BYTES, Parcel, Sending, halves, id_of, pack
from extractord.core.tiers import Excerpt, by_exchange, fitted, leaned
from extractord.edges.bus import Line, first_to_end, keep
from extractord.edges.ledger.fleet import Sent
from extractord.errors import BusError, ExtractordError
from extractord.fleet import WEEK_S, broker_for, person_of
from extractord.house import House

_AGAIN_EVERY_S = 1.0
_AGAIN_AT_ONCE = 20
_HEADER_BYTES = 1024
_LEAST_TOKENS = 200
_RETRY = timedelta(seconds=10)


@asynccontextmanager
async def forwarding(house: House, say: Callable[[Event | str], None]) -> AsyncIterator[House]:
    """Given the open house, yield it with the broker in place of runs. Raise ConfigError."""
    broker, person = broker_for(house.settings), person_of(house.settings)
    made = Forwarding(house, person, say)
    living = asyncio.create_task(made.live(broker))
    say(f"forwarding as {person}, to {windows_topic(person, house.settings.fleet.partitions)}")
    try:
        yield replace(house, elsewhere=made)
    finally:
        living.cancel()
        await asyncio.gather(living, return_exceptions=True)


class Forwarding:
    """The port `Runner` whose runs are made elsewhere."""

    def __init__(self, house: House, person: str, say: Callable[[Event | str], None]) -> None:
        self._house = house
        self._person = person
        self._say = say
        self._forwarder = house.state.identity.id[:16]
        self._line: Line | None = None
        self._trouble = ""

    @property
    def is_ready(self) -> bool:
        """There is a line to the broker."""
        return self._line is not None

    async def live(self, broker: Broker) -> None:
        """Keep a line to the broker."""
        calling = Calling(client=f"extractord-forwarder-{self._forwarder}", session_s=WEEK_S)
        await keep(broker, calling, self._live, self._lost)

    async def run(self, snapshot: Snapshot) -> RunRow | None:
        """Given a snapshot, send its window; the range is closed when the broker has it."""
        accounts, window, now = self._house.extraction.accounts, snapshot.window, self._house.clock()
        row = accounts.opened(ulid(now, secrets.token_bytes(RANDOM_BYTES)), window, now)
        if row is None:
            return None
        row, run = structs.replace(row, model=""), Under(row.run, window)
        try:
            await self._forward(window)
            run.ended = Ended(Outcome.FORWARDED)
        except BusError as error:
            run.ended = Ended(Outcome.DEFERRED, str(error), now + _RETRY)
        except ExtractordError as error:
            run.ended = outcomes.failed(str(error), accounts.attempts(window), now)
        finally:
            row = accounts.closed(row, run, self._house.clock())
        return row

    async def _forward(self, window: Window) -> None:
        """Send it: in one, else in halves; a single exchange that is too long is cut deeper."""
        window = structs.replace(window, exchanges=tuple(map(whole, window.exchanges)))
        kept = await self._redacted(window)
        waiting = [_parcels(window, kept)]
        tokens = self._house.settings.model.context_tokens
        while waiting:
            part = waiting.pop(0)
            if await self._send(window, part):
                continue
            if len(part) > 1:
                waiting[:0] = halves(part)
                continue
            tokens //= 2
            if tokens < _LEAST_TOKENS:
                raise ExtractordError(f"the broker takes no exchange of {window.session}, however short")
            (alone,) = (each for each in window.exchanges if each.key == part[0].key)
            of_it = structs.replace(window, exchanges=(alone,))
            waiting.insert(0, _parcels(of_it, fitted(await self._redacted(of_it), tokens)))

    async def _redacted(self, window: Window) -> tuple[Excerpt, ...]:
        """What a brief could show, without secrets: nothing else leaves this machine."""
        lean = await asyncio.to_thread(leaned, window, self._house.settings.model.context_tokens)
        hits = await self._house.means.redaction.find([excerpt.entry.text for excerpt in lean])
        clean = []
        for excerpt, found in zip(lean, hits, strict=True):
            text, pastes = put(excerpt.entry.text, marks_for(found), excerpt.entry.pastes)
            clean.append(
                structs.replace(excerpt, entry=structs.replace(excerpt.entry, text=text, pastes=pastes))
            )
        return tuple(clean)

    async def _send(self, window: Window, parcels: Sequence[Parcel]) -> bool:
        """Send exchanges of a window and note that the broker has them; False where they are too long."""
        line, settings, windows = self._line, self._house.settings, self._house.ledger.windows
        if line is None:
            raise BusError("the broker is gone")
        offset = self._house.clock().utcoffset() or timedelta()
        packed = pack(
            Sending(
                forwarder=self._forwarder,
                previous=windows.tip(window.project.slug),
                agent=window.agent,
                session=window.session,
                slug=window.project.slug,
                is_project=window.project.is_project,
                minutes=int(offset.total_seconds() // 60),
                parcels=tuple(parcels),
            )
        )
        if len(packed) > min(PACKED_BYTES, (line.longest or PACKED_BYTES * 2) - _HEADER_BYTES):
            return False
        sent = Sent(
            id_of(self._person, packed), windows_topic(self._person, settings.fleet.partitions), packed
        )
        await line.publish(sent.topic, sent.payload, needed=True)
        again_at = self._house.clock() + timedelta(seconds=settings.fleet.again_s)
        windows.sent(window.project.slug, sent, again_at)
        return True

    async def _live(self, line: Line) -> None:
        await line.subscribe([receipts_topic(self._person)])
        self._line, self._trouble = line, ""
        self._say("the fleet's broker is there")
        try:
            await first_to_end(self._hear(line), self._send_again(line))
        finally:
            self._line = None

    async def _hear(self, line: Line) -> None:
        async for came in line.came():
            self._receive(came)
            line.ack(came)

    def _receive(self, came: Came) -> None:
        """An extractor has windows, or never will: both are no more than its word about ours."""
        receipt = said(came.payload, Receipt)
        if receipt is None:
            return
        self._house.ledger.windows.received(receipt.windows)
        for refused in self._house.ledger.windows.refused(receipt.refused):
            self._say(f"window {refused} is refused by its extractor: {receipt.refused[refused]}")

    async def _send_again(self, line: Line) -> None:
        """What nobody confirmed: a broker may lose what it acknowledged."""
        windows, first_s = self._house.ledger.windows, self._house.settings.fleet.again_s
        while True:
            now: datetime = self._house.clock()
            for sent in windows.due(now, _AGAIN_AT_ONCE):
                await line.publish(sent.topic, sent.payload, needed=True)
                windows.sent_again([sent.id], now, first_s)
            await asyncio.sleep(_AGAIN_EVERY_S)

    def _lost(self, why: str) -> None:
        if why != self._trouble:
            self._say(f"{why}; reconnecting, and windows wait meanwhile")
        self._trouble = why


def _parcels(window: Window, kept: Iterable[Excerpt]) -> tuple[Parcel, ...]:
    return tuple(Parcel(key=key, entries=entries) for key, entries in by_exchange(window, kept))
