"""What is heard, sifted: most of what a stranger sends is not looked at, and nothing of it is believed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime

from extractord.core.broker import Came
from extractord.core.events import Unheeded
from extractord.core.heard import A_MINUTE, Bucket, Heard, Unusable, understood

_SAID_EVERY_S = 60.0
_TOO_MANY = Unusable("too many wait for the one that is being done")


class Sieve:
    """Lets requests through, `A_MINUTE` at most; the rest is counted, and said once a minute."""

    def __init__(self, clock: Callable[[], datetime], say: Callable[[Unheeded], None]) -> None:
        self._clock = clock
        self._say = say
        self._bucket = Bucket(A_MINUTE, clock())
        self._count = 0
        self._reason = ""
        self._silence: asyncio.TimerHandle | None = None

    def sifted(self, came: Came, *, is_full: bool = False) -> Heard | Unusable:
        """Given what came, return the request that it is, or why it is none. With `is_full` it is none."""
        heard = _TOO_MANY if is_full else self._looked_at(came)
        if isinstance(heard, Unusable):
            self._count += 1
            self._reason = heard.reason
            if self._silence is None:
                self._tell()
        return heard

    def _looked_at(self, came: Came) -> Heard | Unusable:
        if came.is_retained:
            return Unusable("it was retained: a request is for now")
        if not self._bucket.lets_pass(self._clock()):
            return Unusable(f"more than {A_MINUTE} messages a minute")
        return understood(came.topic, came.payload)

    def _tell(self) -> None:
        self._silence = None
        if self._count:
            count, self._count = self._count, 0
            self._silence = asyncio.get_running_loop().call_later(_SAID_EVERY_S, self._tell)
            self._say(Unheeded(at=self._clock(), messages=count, reason=self._reason))
