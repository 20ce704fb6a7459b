"""A line to a broker that stands: what is said and heard on it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import TYPE_CHECKING

from aiomqtt import Client, Message, MqttError
from paho.mqtt.client import Client as Paho
from paho.mqtt.client import ConnectFlags, DisconnectFlags
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode
from paho.mqtt.subscribeoptions import SubscribeOptions

from extractord.core.broker import Came
from extractord.edges.bus.cancelling import Cancellations
from extractord.edges.bus.reasons import HUNG_UP, LOST, farewell, translated
from extractord.errors import BusError

if TYPE_CHECKING:
    from paho.mqtt.client import SocketLike  # it is there for type checkers alone

ANSWER_S = 20.0
_REFUSED = 0x80
_NOBODY = 0x10


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
            raise BusError(LOST)
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
        cancellations = Cancellations()
        for topic in topics:
            with translated():
                codes = await self._client.subscribe(topic, options=options)
            cancellations.heed()
            if refused := [code for code in codes if isinstance(code, ReasonCode) and code.value >= _REFUSED]:
                raise BusError(f"the broker does not let us hear {topic}: {refused[0].getName().lower()}")

    async def unsubscribe(self, topics: Iterable[str]) -> None:
        """Hear these no more: a session that lasts has them still."""
        cancellations = Cancellations()
        with translated():
            if wanted := list(topics):
                await self._client.unsubscribe(wanted)
        cancellations.heed()

    async def came(self) -> AsyncIterator[Came]:
        """Yield what comes, in order; each is the broker's until `ack`."""
        with translated():
            async for message in self._client.messages:
                yield _came(message)

    async def batch(self, most: int) -> list[Came]:
        """Wait for a message, and return it with those that are here already, `most` at most."""
        with translated():
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
        raise BusError(f"the broker: {farewell(gone)}")

    async def _first(self, answer: asyncio.Future[ReasonCode]) -> None:
        """Wait for the answer, or until there can be none."""
        gone = self._client._disconnected  # noqa: SLF001 - what its own calls wait for
        ends: list[asyncio.Future[ReasonCode] | asyncio.Future[None]] = [answer, gone]
        await asyncio.wait(ends, timeout=ANSWER_S, return_when=asyncio.FIRST_COMPLETED)
        if not answer.done():
            why = (
                f"the broker: {farewell(gone)}"
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
                connected.set_exception(MqttError(HUNG_UP))

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


def _came(message: Message) -> Came:
    return Came(message.topic.value, bytes(message.payload), bool(message.retain), message.mid)
