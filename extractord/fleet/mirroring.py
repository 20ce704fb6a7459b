"""A copy of a person's memories beside an agent: what the broker says is judged like any stranger's file."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from extractord.core.broker import Broker, Calling, Came
from extractord.core.changeset import INDEX
from extractord.core.digesting import digest
from extractord.core.events import Event
from extractord.core.fleet import Roots, memory_topic, root_in, roots_topic, said
from extractord.core.foreign import LAW, objection
from extractord.core.sending import PACKET_BYTES
from extractord.core.versions import Current
from extractord.edges.bus import Line, first_to_end, keep
from extractord.edges.store import Store, Writer
from extractord.edges.store.placing import Placement
from extractord.errors import ConfigError, ConflictError, StoreError
from extractord.policy.requests import Trust

_BY = "mirror"
_LOOK_EVERY_S = 60.0
_BUSY_S = 1.0
_TRIES = 30


class Mirroring:
    """Keeps `<memory>` as the broker has it; whatever else is written there is put right."""

    def __init__(
        self,
        writer: Writer,
        person: str,
        client: str,
        look_s: float,
        say: Callable[[Event | str], None],
    ) -> None:
        self._writer = writer
        self._person = person
        self._client = client
        self._look_s = min(look_s, _LOOK_EVERY_S)
        self._say = say
        self._retained: dict[tuple[str, str], str] = {}
        """What the broker has, by root and path: a SHA-256."""
        self._said: dict[str, str] = {}
        self._trouble = ""

    async def begin(self) -> None:
        """Raise ConfigError over memories that no mirror put there: a list of the broker's would end them."""
        if lost := await self._writer.look(_not_mirrored):
            raise ConfigError(
                f"`--role mirror`: {lost} is there and was never mirrored; a mirror deletes what the "
                "broker does not have: give it a `memory.dir` and a `state_dir` of its own"
            )

    async def live(self, broker: Broker) -> None:
        """Keep a line to the broker; each begins with all that it retains."""
        await keep(broker, Calling(client=self._client, packet_bytes=PACKET_BYTES), self._live, self._lost)

    async def _live(self, line: Line) -> None:
        self._retained.clear()
        await self._subscribe(line)
        self._trouble = ""
        self._say(f"mirroring {self._person}: the broker is there")
        await first_to_end(self._hear(line), self._look(line))

    async def _subscribe(self, line: Line) -> None:
        below = f"{memory_topic(self._person, 'user').removesuffix('user/')}#"
        lists = f"{roots_topic(self._person, 'user').removesuffix('user')}#"
        await line.subscribe([below, lists], retained=True)

    async def _hear(self, line: Line) -> None:
        async for came in line.came():
            line.ack(came)
            for _ in range(_TRIES):
                try:
                    await self._writer.do(self._take, came)
                    break
                except ConflictError:  # somebody else writes there: once more, from the bytes there then
                    await asyncio.sleep(_BUSY_S)
                except StoreError as error:
                    self._tell(came.topic, str(error))
                    break

    def _take(self, store: Store, came: Came) -> None:
        if (place := root_in(came.topic, "memories", self._person)) is not None:
            self._memory(store, *place, came)
        elif (place := root_in(came.topic, "roots", self._person)) is not None:
            self._list(store, place[0], came)

    def _memory(self, store: Store, root: str, path: str, came: Came) -> None:
        if not came.payload:
            self._retained.pop((root, path), None)
            self._drop(store, root, [path])
            return
        fault = _fault(root, path, came.payload)
        if fault:
            self._tell(came.topic, f"not mirrored: {fault}")
            return
        self._retained[root, path] = digest(came.payload)
        before = store.roots.raw(root, path)
        if before == came.payload:
            return
        current = Current(sha256=digest(came.payload), trust=Trust.INFERRED, foreign=True)
        store.place([Placement(root, path, before, came.payload, current)], _BY, "mirrored")

    def _list(self, store: Store, root: str, came: Came) -> None:
        """What a root's list does not name was forgotten while nobody heard."""
        listed = said(came.payload, Roots)
        if listed is None:
            self._tell(came.topic, "not as docs/events.md has it")
            return
        named = frozenset(listed.paths)
        if root in store.names():
            self._drop(store, root, [row.path for row in store.survey(root) if row.path not in named])

    def _drop(self, store: Store, root: str, paths: list[str]) -> None:
        """Let files go, and every earlier version of them that this machine kept."""
        for path in paths:
            if root not in store.names() or _name_fault(root, path):
                continue
            before = store.roots.raw(root, path)
            if before is not None:
                store.place([Placement(root, path, before, None, None)], _BY, "mirrored")
            store.ledger.versions.purge(root, path)

    async def _look(self, line: Line) -> None:
        """Where a file is not what the broker has, everything is asked for again."""
        while True:
            await asyncio.sleep(self._look_s)
            if await self._writer.look(self._is_another):
                await self._subscribe(line)

    def _is_another(self, store: Store) -> bool:
        """True where some file is not what the broker has."""
        there = {(root, row.path): row.sha256 for root in store.names() for row in store.survey(root)}
        return any(there.get(place) != sha256 for place, sha256 in self._retained.items())

    def _tell(self, topic: str, what: str) -> None:
        """Once, until it is another."""
        if self._said.get(topic) != what:
            self._said[topic] = what
            self._say(f"{topic}: {what}")

    def _lost(self, why: str) -> None:
        if why != self._trouble:
            self._say(f"{why}; reconnecting, and the copy stays as it is")
        self._trouble = why


def _fault(root: str, path: str, raw: bytes) -> str:
    """Why these bytes may not stand there; empty where they may."""
    if len(raw) > LAW.file_bytes:
        return f"more than {LAW.file_bytes} bytes"
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return "not UTF-8"
    return objection(root, path, text)


def _name_fault(root: str, path: str) -> str:
    return "the index is derived" if path == INDEX else objection(root, path, "")


def _not_mirrored(store: Store) -> str:
    """A memory of a directory in which no mirror ever was; empty where one was, or where nothing is."""
    first = ""
    for root in store.names():
        for row in store.survey(root):
            if any(version.by == _BY for version in store.ledger.versions.history(root, row.path)):
                return ""
            first = first or f"{root}/{row.path}"
    return first
