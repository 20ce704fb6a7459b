"""Why a broker is gone or refuses, in words for a person."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from aiomqtt import MqttCodeError, MqttError
from paho.mqtt.reasoncodes import ReasonCode

from extractord.errors import BusError

LOST = "the broker is gone"
HUNG_UP = "it hangs up before it answers: does it ask for a certificate (`mqtt.cert_file`)?"
HANGS_UP = "it hung up"
_REASONS = {
    0x80: HANGS_UP,
    0x86: "it does not know this name and password: see `mqtt.user` and `mqtt.password_file`",
    0x87: "not authorized: it does not know this name and password, or its ACL does not list this name",
    0x8E: HANGS_UP,  # the session is taken over; not every broker says so
}


@contextmanager
def translated() -> Iterator[None]:
    """Say what the library and the system say as BusError."""
    try:
        yield
    except (MqttError, OSError, ValueError) as error:
        cause = error.__cause__ if type(error) is MqttError else None
        raise BusError(f"the broker: {worded(cause or error)}") from error


def farewell(gone: asyncio.Future[None]) -> str:
    """Given a line's end, return why it ended."""
    error = None if gone.cancelled() else gone.exception()
    return worded(error) if error else "it is gone"


def worded(error: BaseException) -> str:
    """Given what went wrong, return it in words that tell what to look at."""
    if isinstance(error, MqttCodeError) and isinstance(error.rc, ReasonCode):
        return _REASONS.get(error.rc.value) or error.rc.getName().lower()
    return str(error) or type(error).__name__
