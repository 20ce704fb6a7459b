"""What is heard on the bus: typed, bounded, and never more than a request that the law lets pass."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

HEARD_BYTES = 4096
"""A longer message is not looked at."""
A_MINUTE = 30
"""So many messages are looked at a minute, whatever they say."""

Name = Annotated[str, Meta(min_length=1, max_length=200)]
Place = Annotated[str, Meta(min_length=1, max_length=2048)]


class Extract(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="extract"):
    """Read one transcript whole, what was there before the first start included.

    Either `path`, or `agent` and `session`. It has to be a known agent's own file, in a folder of
    that agent's that is watched; runs are counted against the day's budget like any others.
    """

    path: Place | None = None
    agent: Name | None = None
    session: Name | None = None

    def __post_init__(self) -> None:
        """Raise ValueError where it names both or neither."""
        by_session = (self.agent is not None, self.session is not None)
        if by_session != (self.path is None, self.path is None):
            raise ValueError("give `path`, or `agent` and `session`")


class Pause(Struct, frozen=True, forbid_unknown_fields=True, tag="pause"):
    """Begin no more runs; transcripts are read on, and what comes of them waits."""


class Resume(Struct, frozen=True, forbid_unknown_fields=True, tag="resume"):
    """Begin runs again."""


class Drain(Struct, frozen=True, forbid_unknown_fields=True, tag="drain"):
    """Begin no more runs, let those in flight end within `run.drain_s`, then end them.

    The status says `draining`, then `drained`, until `resume`.
    """


Heard = Extract | Pause | Resume | Drain
WORDS: Mapping[str, type[Heard]] = {"extract": Extract, "pause": Pause, "resume": Resume, "drain": Drain}


EITHER = {"extract": {"oneOf": [{"required": ["path"]}, {"required": ["agent", "session"]}]}}
"""What a schema made from the types does not say of a request."""


class Unusable(Struct, frozen=True):
    """A message that is no request, and why: never a word of what it holds."""

    reason: str


def understood(topic: str, payload: bytes) -> Heard | Unusable:
    """Given a topic and what came there, return the request that it is. Never raises.

    An empty payload is an empty object.
    """
    word = topic.rpartition("/")[2]
    kind = WORDS.get(word)
    if kind is None:
        return Unusable("nothing is heard on this topic")
    if len(payload) > HEARD_BYTES:
        return Unusable(f"more than {HEARD_BYTES} bytes")
    try:
        fields = msgspec.json.decode(payload or b"{}", type=dict[str, object])
        return msgspec.convert({"type": word, **fields}, kind)
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        return Unusable(f"not as docs/events.md has `{word}`")


class Bucket:
    """Lets `a_minute` through, evenly, after as many at once."""

    def __init__(self, a_minute: int, now: datetime) -> None:
        """Begin full."""
        self._a_minute = a_minute
        self._left = float(a_minute)
        self._at = now

    def lets_pass(self, now: datetime) -> bool:
        """True if one more may pass now; a clock that was set back gives nothing."""
        gained = max((now - self._at).total_seconds(), 0.0) * self._a_minute / 60
        self._left, self._at = min(self._left + gained, float(self._a_minute)), now
        if self._left < 1:
            return False
        self._left -= 1
        return True
