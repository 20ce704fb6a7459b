"""How a broker is called, and called again where the line breaks."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path

from aiomqtt import Client, MqttError, ProtocolVersion
from aiomqtt import Will as _Will
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from tenacity import AsyncRetrying, retry_if_exception_type, wait_random_exponential

from extractord.core.broker import Broker, Calling
from extractord.edges.bus.cancelling import Cancellations
from extractord.edges.bus.line import ANSWER_S, Line
from extractord.edges.bus.reasons import HANGS_UP, translated
from extractord.errors import BusError

_LONGEST_WAIT_S = 60.0
_KEEPALIVE_S = 30
_UNANSWERED = 100
"""So many messages at most may be here, or there, without an acknowledgement."""
_COPY = "again and again: does a copy of this state run elsewhere?"
_OFTEN = 3
_LOGGER = logging.getLogger("extractord.mqtt")
_LOGGER.addHandler(logging.NullHandler())
_LOGGER.propagate = False


@asynccontextmanager
async def line_to(broker: Broker, calling: Calling) -> AsyncIterator[Line]:
    """Given a broker and as whom we call, yield a line to it. Raise BusError where there is none."""
    client = Client(
        broker.host,
        broker.port,
        identifier=calling.client,
        protocol=ProtocolVersion.V5,
        username=broker.user,
        password=_password(broker),
        tls_context=_tls(broker) if broker.is_secure else None,
        will=_Will(calling.will.topic, calling.will.payload, qos=1, retain=True) if calling.will else None,
        clean_start=calling.session_s == 0,
        properties=_properties(calling),
        keepalive=_KEEPALIVE_S,
        timeout=ANSWER_S,
        max_inflight_messages=_UNANSWERED,
        logger=_LOGGER,
    )
    line, cancellations = Line(client), Cancellations()
    with translated():
        await client.__aenter__()
    try:
        cancellations.heed()
        yield line
    finally:
        leaving = Cancellations()
        with contextlib.suppress(MqttError, OSError):
            await client.__aexit__(None, None, None)
        leaving.heed()


async def keep(
    broker: Broker,
    calling: Calling,
    live: Callable[[Line], Awaitable[None]],
    lost: Callable[[str], None],
) -> None:
    """Call the broker and live on the line until `live` returns; where the line breaks, call again.

    The wait grows to a minute, with jitter, so that not all call at once; after a line that stood
    for longer it begins anew. `lost` is told why, each time.
    """
    clock = asyncio.get_running_loop().time
    hung_up = 0

    async def lived() -> bool:
        nonlocal hung_up
        began = clock()
        try:
            async with line_to(broker, calling) as line:
                await live(line)
        except BusError as error:
            is_long = clock() - began > _LONGEST_WAIT_S
            hung_up = 0 if is_long or HANGS_UP not in str(error) else hung_up + 1
            lost(f"{error} {_COPY}" if hung_up >= _OFTEN else str(error))
            if is_long:
                return False
            raise
        return True

    calls = AsyncRetrying(
        wait=wait_random_exponential(multiplier=1, max=_LONGEST_WAIT_S),
        retry=retry_if_exception_type(BusError),
    )
    is_over = False
    while not is_over:
        is_over = await calls(lived)


async def first_to_end(*parts: Coroutine[object, object, None]) -> None:
    """Do these at once, until the first one ends or fails; the others end with it."""
    tasks = [asyncio.create_task(part) for part in parts]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _properties(calling: Calling) -> Properties:
    properties = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call]
    properties.SessionExpiryInterval = calling.session_s
    properties.MaximumPacketSize = calling.packet_bytes
    properties.ReceiveMaximum = _UNANSWERED
    return properties


def _password(broker: Broker) -> str | None:
    if broker.password_file is None:
        return None
    try:
        return Path(broker.password_file).read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise BusError(f"{broker.password_file} cannot be read: {error}") from error


def _tls(broker: Broker) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=broker.ca_file)
        if broker.cert_file is not None:
            context.load_cert_chain(broker.cert_file, broker.key_file)
    except OSError as error:
        raise BusError(f"a certificate or key for {broker.host} cannot be used: {error}") from error
    return context
