"""The line to an MQTT broker; the only module that knows aiomqtt."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from aiomqtt import Client, Message, MqttCodeError, MqttError, ProtocolVersion
from aiomqtt import Will as _Will
from paho.mqtt.client import Client as Paho
from paho.mqtt.client import ConnectFlags, DisconnectFlags
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode
from paho.mqtt.subscribeoptions import SubscribeOptions
from tenacity import AsyncRetrying, retry_if_exception_type, wait_random_exponential

from extractord.core.broker import Broker, Calling, Came
from extractord.errors import BusError

if TYPE_CHECKING:
    from paho.mqtt.client import SocketLike  # it is there for type checkers alone

LONGEST_WAIT_S = 60.0
ANSWER_S = 20.0
_KEEPALIVE_S = 30
_REFUSED = 0x80
_NOBODY = 0x10
_LOST = "the broker is gone"
_HUNG_UP = "it hangs up before it answers: does it ask for a certificate (`mqtt.cert_file`)?"
_HANGS_UP = "it hung up"
_COPY = "again and again: does a copy of this state run elsewhere?"
_OFTEN = 3
_REASONS = {
    0x80: _HANGS_UP,
    0x86: "it does not know this name and password: see `mqtt.user` and `mqtt.password_file`",
    0x87: "not authorized: it does not know this name and password, or its ACL has not this name",
    0x8E: _HANGS_UP,  # the session is taken over; not every broker says so
}
_LOGGER = logging.getLogger("extractord.mqtt")
_LOGGER.addHandler(logging.NullHandler())
_LOGGER.propagate = False


class Line:
    """A line that stands; every method raises BusError where it does not any more."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._paho = client._client  # noqa: SLF001 - aiomqtt drops the broker's reasons, and acks at once
        self._answers: dict[int, asyncio.Future[ReasonCode]] = {}
        self._paho.on_connect = self._connected
        self._paho.on_disconnect = self._hung_up
        self._paho.on_publish = self._answered
        self._paho.on_socket_register_write = self._wants_to_write
        self._loop = asyncio.get_running_loop()
        self._paho.manual_ack_set(True)  # noqa: FBT003 - paho's
        self.longest: int | None = None
        """The longest packet that the broker takes, in bytes; None where it did not say."""

    async def publish(
        self, topic: str, payload: bytes, *, retain: bool = False, needed: bool = False
    ) -> None:
        """Say something and wait until the broker has it (QoS 1).

        `needed`: that nobody subscribes to it, and so nobody keeps it, is a refusal too. Raise
        BusError with the broker's reason.
        """
        info = self._paho.publish(topic, payload, qos=1, retain=retain)
        if info.rc != 0:
            raise BusError(_LOST)
        answer = self._answers[info.mid] = asyncio.get_running_loop().create_future()
        try:
            await self._first(answer)
        finally:
            self._answers.pop(info.mid, None)
        code = answer.result()
        if code.value >= _REFUSED or (needed and code.value == _NOBODY):
            raise BusError(f"the broker refuses {topic}: {code.getName().lower()}")

    async def subscribe(self, topics: Iterable[str], *, retained: bool = False) -> None:
        """Hear these topics from now on; with `retained` what is there already too."""
        options = SubscribeOptions(qos=1, retainHandling=0 if retained else 2)
        for topic in topics:
            with _translated():
                codes = await self._client.subscribe(topic, options=options)
            if refused := [code for code in codes if isinstance(code, ReasonCode) and code.value >= _REFUSED]:
                raise BusError(f"the broker lets us not hear {topic}: {refused[0].getName().lower()}")

    async def unsubscribe(self, topics: Iterable[str]) -> None:
        """Hear these no more: a session that lasts has them still."""
        with _translated():
            if wanted := list(topics):
                await self._client.unsubscribe(wanted)

    async def came(self) -> AsyncIterator[Came]:
        """Yield what comes, in order; each is the broker's until `ack`."""
        with _translated():
            async for message in self._client.messages:
                yield _came(message)

    async def batch(self, most: int) -> list[Came]:
        """Wait for a message, and return it with those that are here already, `most` at most."""
        with _translated():
            batch = [_came(await anext(self._client.messages))]
            while len(batch) < most and len(self._client.messages):
                batch.append(_came(await anext(self._client.messages)))
        return batch

    def ack(self, came: Came) -> None:
        """It is ours now: the broker need not send it again. In the order in which they came."""
        self._paho.ack(came.mid, 1)

    async def broken(self) -> None:
        """Wait until the line stands no more, and raise BusError: who only speaks would not notice."""
        gone = self._client._disconnected  # noqa: SLF001 - what its own calls wait for
        await asyncio.wait([gone])
        raise BusError(f"the broker: {_farewell(gone)}")

    async def _first(self, answer: asyncio.Future[ReasonCode]) -> None:
        """Wait for the answer, or until there can be none."""
        gone = self._client._disconnected  # noqa: SLF001 - what its own calls wait for
        ends: list[asyncio.Future[ReasonCode] | asyncio.Future[None]] = [answer, gone]
        await asyncio.wait(ends, timeout=ANSWER_S, return_when=asyncio.FIRST_COMPLETED)
        if not answer.done():
            why = (
                f"the broker: {_farewell(gone)}"
                if gone.done()
                else f"the broker does not answer within {ANSWER_S:g} s"
            )
            raise BusError(why)

    def _connected(
        self,
        client: Paho,
        userdata: object,
        flags: ConnectFlags,
        code: ReasonCode,
        properties: Properties | None,
    ) -> None:
        self.longest = getattr(properties, "MaximumPacketSize", None)
        self._client._on_connect(client, userdata, flags, code, properties)  # noqa: SLF001

    def _hung_up(
        self,
        client: Paho,
        userdata: object,
        flags: DisconnectFlags,
        code: ReasonCode,
        properties: Properties | None,
    ) -> None:
        """Before it answered, too: aiomqtt would wait for the answer until its time is up."""

        def fail() -> None:
            if not (connected := self._client._connected).done():  # noqa: SLF001
                connected.set_exception(MqttError(_HUNG_UP))

        self._loop.call_soon_threadsafe(fail)
        self._client._on_disconnect(client, userdata, flags, code, properties)  # noqa: SLF001

    def _wants_to_write(self, _client: Paho, _userdata: object, sock: SocketLike) -> None:
        """As aiomqtt does, but by the socket's number when it is looked at: it may be closed by then."""

        def watch() -> None:
            if sock.fileno() >= 0:
                self._loop.add_writer(sock.fileno(), self._write)

        self._loop.call_soon_threadsafe(watch)

    def _write(self) -> None:
        gone = self._client._disconnected  # noqa: SLF001
        try:
            self._paho.loop_write()
        except (OSError, ValueError) as error:
            if not gone.done():
                gone.set_exception(error)

    def _answered(
        self, _client: Paho, _userdata: object, mid: int, code: ReasonCode, _properties: Properties | None
    ) -> None:
        answer = self._answers.get(mid)
        if answer is not None and not answer.done():
            answer.set_result(code)


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
        max_inflight_messages=calling.unanswered,
        logger=_LOGGER,
    )
    line = Line(client)
    with _translated():
        await client.__aenter__()
    try:
        yield line
    finally:
        with contextlib.suppress(MqttError, OSError):
            await client.__aexit__(None, None, None)


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
            is_long = clock() - began > LONGEST_WAIT_S
            hung_up = 0 if is_long or _HANGS_UP not in str(error) else hung_up + 1
            lost(f"{error} {_COPY}" if hung_up >= _OFTEN else str(error))
            if is_long:
                return False
            raise
        return True

    calls = AsyncRetrying(
        wait=wait_random_exponential(multiplier=1, max=LONGEST_WAIT_S),
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


def _came(message: Message) -> Came:
    return Came(message.topic.value, bytes(message.payload), bool(message.retain), message.mid)


def _properties(calling: Calling) -> Properties:
    properties = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call]
    properties.SessionExpiryInterval = calling.session_s
    properties.MaximumPacketSize = calling.packet_bytes
    properties.ReceiveMaximum = calling.unanswered
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


@contextlib.contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except (MqttError, OSError, ValueError) as error:
        cause = error.__cause__ if type(error) is MqttError else None
        raise BusError(f"the broker: {_worded(cause or error)}") from error


def _farewell(gone: asyncio.Future[None]) -> str:
    """Given a line's end, return why it ended."""
    error = None if gone.cancelled() else gone.exception()
    return _worded(error) if error else "it is gone"


def _worded(error: BaseException) -> str:
    if isinstance(error, MqttCodeError) and isinstance(error.rc, ReasonCode):
        return _REASONS.get(error.rc.value) or error.rc.getName().lower()
    return str(error) or type(error).__name__
