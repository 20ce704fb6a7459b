"""What happens below <memory> without us: people's edits, and what agents write there themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta

from extractord.config import Settings
from extractord.core.ports import Expired
from extractord.core.survey import place_of
from extractord.edges.store import Store, Writer
from extractord.errors import ConflictError, StoreError


class Heeding:
    """Has the store look, at the start and from time to time, and when a transcript shows a write."""

    def __init__(
        self, writer: Writer, settings: Settings, say: Callable[[str], None], clock: Callable[[], datetime]
    ) -> None:
        """`say` is told what a person should know; every root is looked at again after `run.rescan_s`."""
        self._writer = writer
        self._settings = settings
        self._say = say
        self._clock = clock
        self._due = self._expiry = clock()
        self._said: set[str] = set()
        self._unheard: set[str] = set()
        """What an agent wrote, and the store could not be told: it was busy."""

    def follow(self, settings: Settings) -> None:
        """From now on by these settings; what is still to be told stays."""
        self._settings = settings

    async def look(self) -> None:
        """Where it is time, look at every root: a root that cannot be used is said once, the others go on."""
        await self.witness(())
        now, rest = self._clock(), timedelta(seconds=self._settings.run.rescan_s)
        if now < self._due <= now + rest:  # a clock that was put back does not make it wait for longer
            return
        self._due = now + rest
        said: set[str] = set()
        for root in await self._writer.do(Store.names):
            try:
                said.update(await self._writer.do(Store.notice, [root]))
            except ConflictError:
                self._due = now  # another process writes: at the next tick
            except StoreError as error:
                said.add(str(error))
        await self._let_go(now)
        for warning in sorted(said - self._said):
            self._say(warning)
        self._said = said

    async def _let_go(self, now: datetime) -> None:
        """Once a day, of what is older than [keep] says."""
        if now < self._expiry or not any(self._settings.kept_since(now)):
            return
        try:
            gone = await self._writer.do(Store.expire, *self._settings.kept_since(now))
        except ConflictError:
            return
        self._expiry = now + timedelta(days=1)
        if gone != Expired():
            self._say(
                f"deleted {gone.versions:,} old versions, {gone.audit_rows:,} rows of the audit, "
                f"{gone.runs:,} runs and {gone.held:,} decisions"
            )

    async def witness(self, places: Iterable[str]) -> None:
        """A transcript shows that an agent wrote these files below <memory>.

        Where another process writes there, the store is told at the next look.
        """
        self._unheard.update(places)
        for root in sorted({place_of(place)[0] for place in self._unheard}):
            there = {place for place in self._unheard if place_of(place)[0] == root}
            try:
                await self._writer.do(Store.witness, there)
            except ConflictError:
                return
            except StoreError as error:
                self._say(str(error))
            self._unheard -= there
