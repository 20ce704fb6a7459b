"""A fleet under fire: workstations, extractors and a broker, killed in turn; `python tests/fleeting.py`.

The workstations are simulated: each has a forwarder's whole way of sending, a ledger and a line of its
own, and a session's window in place of transcripts; all in one process. The extractors are real
processes, killed with SIGKILL and started again on their volumes, and so is mosquitto.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple, cast

import msgspec
from aiohttp import web
from broking import Mosquitto
from standin import openai_reply

from extractord.accounts import Accounts
from extractord.config.broker import broker_of
from extractord.config.settings import Fleet, Mqtt, Settings
from extractord.core.fleet import partition_of
from extractord.core.project import slug_of
from extractord.core.records import Entry, Exchange, Origin, Outcome, Project, Role, Snapshot, Window
from extractord.edges.ledger import Ledger
from extractord.edges.redaction import Redaction
from extractord.fleet.forwarding import Forwarding
from extractord.house import House

FACTS = (
    "We deploy only on Tuesdays.",
    "In this repository we indent with four spaces.",
    "Always write commit messages in English.",
    "We use PostgreSQL, not MySQL.",
    "Never push to the main branch.",
    "Remember that the staging server is called heron.",
    "We pin every dependency to an exact version.",
    "I prefer tables over long lists.",
)
PARTITIONS = 16
AGAIN_S = 2.0
ROOT = "root"
Brokers = Callable[[Path, Sequence[str]], Mosquitto]
"""Makes a broker in a folder, for clients of these names."""
_BACK_S = 1.0
_BIN_S = 5.0


def keeping(folder: Path, _names: Sequence[str]) -> Mosquitto:
    """A broker that keeps what it has over a kill."""
    often = ("persistence true", "autosave_on_changes true", "autosave_interval 1")
    return Mosquitto(folder, more=[*often, "max_queued_messages 0"])


def forgetful(folder: Path, _names: Sequence[str]) -> Mosquitto:
    """A broker that keeps nothing over a kill."""
    return Mosquitto(folder, more=["max_queued_messages 0"])


def now() -> datetime:
    return datetime.now(UTC)


class Desk:
    """A workstation: what is said there goes to the broker, one session after another."""

    def __init__(self, folder: Path, person: str, broker: Mosquitto, redaction: Redaction) -> None:
        self.person = person
        self.sent: dict[str, datetime] = {}
        self.bytes: list[int] = []
        self._folder = folder / person
        self.ledger = Ledger.open(self._folder)
        self._project = Project(slug=slug_of(f"/home/{person}/shop"), identity=person, directory="/shop")
        settings = Settings(
            mqtt=_mqtt(broker, person), fleet=Fleet(person=person, partitions=PARTITIONS, again_s=AGAIN_S)
        )
        self._broker = broker_of(settings.mqtt)
        accounts = Accounts(ledger=self.ledger, owner=self.ledger.present(), model="", confinement="")
        house = SimpleNamespace(
            settings=settings,
            state=SimpleNamespace(identity=SimpleNamespace(id=f"{abs(hash(person)):016x}"[:16])),
            ledger=self.ledger,
            extraction=SimpleNamespace(accounts=accounts),
            means=SimpleNamespace(redaction=redaction),
            clock=now,
        )
        self.log: list[str] = []
        self.forwarding = Forwarding(cast("House", house), person, lambda said: self.log.append(str(said)))

    async def live(self) -> None:
        assert self._broker is not None
        await self.forwarding.live(self._broker)

    async def say(self, facts: Sequence[str], rest_s: float) -> None:
        """Say one fact a session, each when the broker has the one before."""
        for number, fact in enumerate(facts):
            snapshot = Snapshot(window=self._window(f"{self.person}-{number:03d}", fact))
            while True:
                row = await self.forwarding.run(snapshot) if self.forwarding.is_ready else None
                if row is not None and row.outcome == Outcome.FORWARDED:
                    break
                await asyncio.sleep(0.2)
            self.sent[snapshot.window.session] = now()
            await asyncio.sleep(rest_s)

    def _window(self, session: str, fact: str) -> Window:
        def entry(number: int, role: Role, origin: Origin, text: str) -> Entry:
            ident = f"{session}-{number}"
            return Entry(
                id=ident, agent="codex", session=session, role=role, origin=origin, text=text, time=now()
            )

        entries = (
            entry(1, Role.USER, Origin.HUMAN, fact),
            entry(2, Role.ASSISTANT, Origin.SYNTHETIC, "Noted."),
        )
        exchange = Exchange(agent="codex", session=session, key=entries[0].id, entries=entries, ended=True)
        return Window(agent="codex", session=session, project=self._project, exchanges=(exchange,))

    @property
    def is_confirmed(self) -> bool:
        return self.ledger.windows.under_way() == (0, 0)


def _mqtt(broker: Mosquitto, user: str) -> Mqtt:
    given = broker.settings(user if broker.users else "")
    return msgspec.convert({key.rpartition("__")[2].lower(): value for key, value in given.items()}, Mqtt)


class Ran(NamedTuple):
    """A session as an extractor's ledger has it."""

    person: str
    project: str
    session: str
    ended: float
    times: int
    """How many of its runs came to an outcome."""


class Extractor:
    """A real process with a volume of its own."""

    def __init__(self, home: Path, broker: Mosquitto, partitions: str, more: Mapping[str, str]) -> None:
        home.mkdir(parents=True)
        (home / "config.toml").touch()
        self.home = home
        self._partitions = partitions
        self._process: subprocess.Popen[bytes] | None = None
        self._environ = {
            "HOME": str(home),
            "EXTRACTORD_CONFIG": str(home / "config.toml"),
            "EXTRACTORD_DATA_DIR": str(home / "data"),
            "EXTRACTORD_STATE_DIR": str(home / "state"),
            "EXTRACTORD_FLEET__PARTITIONS": str(PARTITIONS),
            **{f"EXTRACTORD_BUDGET__DAY_{what}": "unlimited" for what in ("REQUESTS", "TOKENS", "DOLLARS")},
            **broker.settings(home.name if broker.users else ""),
            "EXTRACTORD_MQTT__NAME": home.name,
            **more,
        }

    def start(self) -> None:
        command = [sys.executable, "-m", "extractord", "run", "--role", "extractor"]
        with (self.home / "log").open("a") as log:
            self._process = subprocess.Popen(
                [*command, "--partitions", self._partitions], env=self._environ, stderr=log
            )

    def stop(self, number: int = signal.SIGTERM) -> None:
        if self._process is not None:
            self._process.send_signal(number)
            self._process.wait(120)
            self._process = None

    async def ready(self) -> None:
        for _ in range(600):
            if "fleet's broker is there" in (self.home / "log").read_text():
                return
            await asyncio.sleep(0.1)
        raise AssertionError((self.home / "log").read_text())

    def rows(self) -> list[Ran]:
        """Every session whose exchange is closed, with its last run, in the order of those runs.

        A run that was killed right after its commit has no outcome of its own, and its range, which
        the commit closed, has.
        """
        found = []
        for state in sorted((self.home / "state/persons").glob("*/ledger.db")):
            with contextlib.closing(sqlite3.connect(f"file:{state}?mode=ro", uri=True)) as ledger:
                made = "SELECT count(*) FROM sqlite_master WHERE name IN ('runs', 'ranges')"
                if ledger.execute(made).fetchone() != (2,):
                    continue  # it is being made
                asked = """SELECT session, project, max(started_at) AS began,
                                  max(coalesce(ended_at, started_at)),
                                  sum(outcome IN ('saved', 'nothing_to_save', 'held'))
                           FROM runs JOIN ranges USING (agent, session)
                           WHERE ranges.state = 'closed' GROUP BY session ORDER BY began"""
                found += [
                    Ran(state.parent.name, project, session, ended / 1000, times)
                    for session, project, _, ended, times in ledger.execute(asked)
                ]
        return found

    def memories(self) -> Counter[tuple[str, str]]:
        """Person and description of each memory's file."""
        found: Counter[tuple[str, str]] = Counter()
        below = self.home / "data/memory/persons"
        for place in below.rglob("*.md"):
            if place.name != "MEMORY.md":
                text = place.read_text()
                said = text.partition("description: ")[2].partition("\n")[0]
                found[place.relative_to(below).parts[0], said] += 1
        return found


@dataclass
class Came:
    """What became of all that was said."""

    windows: int
    wall_s: float
    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    disordered: list[str] = field(default_factory=list)
    lags_s: list[tuple[float, float]] = field(default_factory=list)
    """When a run ended, from the start, and how long after its window was sent."""
    kills: list[tuple[float, str]] = field(default_factory=list)
    retained: int = 0
    memories: int = 0

    @property
    def is_whole(self) -> bool:
        return not (self.lost or self.doubled or self.disordered) and self.retained == self.memories


@asynccontextmanager
async def fleet(
    folder: Path,
    desks: int,
    extractors: int,
    more: Mapping[str, str],
    persons: Sequence[str] = (),
    brokers: Brokers = keeping,
) -> AsyncIterator[tuple[Mosquitto, list[Desk], list[Extractor]]]:
    """A broker, extractors and workstations, all alive."""
    names = persons or [f"ann@desk-{number:03d}" for number in range(desks)]
    broker = brokers(folder / "broker", [*names, *(f"extractor-{n}" for n in range(extractors))])
    share = PARTITIONS // extractors
    async with AsyncExitStack() as stack:
        broker.start()
        stack.callback(broker.stop)
        made = [
            Extractor(folder / f"extractor-{n}", broker, f"{n * share}-{(n + 1) * share - 1}", more)
            for n in range(extractors)
        ]
        for extractor in made:
            extractor.start()
            stack.callback(extractor.stop)
        await asyncio.gather(*(extractor.ready() for extractor in made))
        redaction = Redaction()
        stack.push_async_callback(redaction.close)
        seats = [Desk(folder / "desks", name, broker, redaction) for name in names]
        lives = [asyncio.create_task(desk.live()) for desk in seats]
        try:
            yield broker, seats, made
        finally:
            for life in lives:
                life.cancel()
            await asyncio.gather(*lives, return_exceptions=True)
            for desk in seats:
                desk.ledger.close()


async def under_fire(
    folder: Path,
    desks: int,
    extractors: int,
    facts: Sequence[str],
    *,
    rest_s: float,
    every_s: float,
    brokers: Brokers = keeping,
) -> Came:
    """Say everything on every workstation while each extractor and the broker are killed in turn."""
    async with fleet(folder, desks, extractors, {}, brokers=brokers) as (broker, seats, made):
        began, at = time.monotonic(), time.time()
        saying = asyncio.gather(*(desk.say(facts, rest_s) for desk in seats))
        kills: list[tuple[float, str]] = []
        for name, victim in _victims(broker, made):
            await asyncio.sleep(every_s)
            await asyncio.to_thread(victim.stop, signal.SIGKILL)
            kills.append((time.monotonic() - began, name))
            await asyncio.sleep(_BACK_S)
            await asyncio.to_thread(victim.start)
        await saying
        came = await _settled(seats, made, len(seats) * len(facts), at)
        came.kills = kills
        came.wall_s = time.monotonic() - began
        came.memories = sum(sum(extractor.memories().values()) for extractor in made)
        came.retained = await _retained(broker, came.memories)
    return came


def _victims(broker: Mosquitto, made: Sequence[Extractor]) -> Iterable[tuple[str, Mosquitto | Extractor]]:
    for number, extractor in enumerate(made):
        yield f"extractor {number}", extractor
        if number % 2 == 0:
            yield "broker", broker


async def _settled(seats: Sequence[Desk], made: Sequence[Extractor], windows: int, at: float) -> Came:
    """Wait until every window was confirmed and run, or nothing happens any more; then count."""
    last, seen = time.monotonic(), -1
    while time.monotonic() - last < 90:
        rows = [row for extractor in made for row in extractor.rows()]
        unconfirmed = sum(not desk.is_confirmed for desk in seats)
        if len(rows) - unconfirmed != seen:
            last, seen = time.monotonic(), len(rows) - unconfirmed
        if len(rows) >= windows and not unconfirmed:
            break
        await asyncio.sleep(0.5)
    return _counted(seats, made, windows, at)


def _counted(seats: Sequence[Desk], made: Sequence[Extractor], windows: int, at: float) -> Came:
    came = Came(windows=windows, wall_s=0.0)
    closed = [row for extractor in made for row in extractor.rows()]
    sent = {session: moment for desk in seats for session, moment in desk.sent.items()}
    came.lost = sorted(sent.keys() - {row.session for row in closed})
    came.doubled = [row.session for row in closed if row.times > 1]
    memories = sum((extractor.memories() for extractor in made), Counter[tuple[str, str]]())
    came.doubled += [f"{person}: {said}" for (person, said), count in memories.items() if count > 1]
    order: dict[tuple[str, str], list[str]] = {}
    for row in closed:
        order.setdefault((row.person, row.project), []).append(row.session)
        came.lags_s.append((row.ended - at, row.ended - sent[row.session].timestamp()))
    came.disordered = [str(place) for place, sessions in order.items() if sessions != sorted(sessions)]
    return came


async def _retained(broker: Mosquitto, wanted: int) -> int:
    """How many memories the broker retains, when it has as many as there are, or after a while."""
    count, began = -1, time.monotonic()
    while count != wanted and time.monotonic() - began < 90:
        with broker.heard("extractord/v1/fleet/memories/#", user=ROOT if broker.users else "") as heard:
            await asyncio.sleep(2)
            count = len({topic for topic, payload, _ in heard.messages() if payload})
    return count


async def throughput(folder: Path, extractors: int, persons: Sequence[str], latency_s: float) -> float:
    """Windows a second over all that is said at once, where a request takes so long."""

    async def answer(request: web.Request) -> web.StreamResponse:
        await request.read()
        await asyncio.sleep(latency_s)
        return web.json_response(openai_reply("There is nothing to save."))

    application = web.Application(client_max_size=8 * 1024 * 1024)
    application.router.add_post("/{path:.*}", answer)
    runner = web.AppRunner(application, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    more = {
        "EXTRACTORD_MODEL__NAME": "openai/stand-in",
        "EXTRACTORD_MODEL__BASE_URL": f"http://127.0.0.1:{runner.addresses[0][1]}/v1",
        "OPENAI_API_KEY": "none",
    }
    try:
        async with fleet(folder, 0, extractors, more, persons) as (_, seats, made):
            await asyncio.gather(*(desk.say(FACTS[:1], 0) for desk in seats))
            at = time.time()
            came = await _settled(seats, made, len(seats), at)
            assert came.is_whole, came
            ends = sorted(ended for ended, _ in came.lags_s)
            # The model host is loaded within the first tenth: counted is what follows it.
            first = len(ends) // 10
            return (len(ends) - 1 - first) / (ends[-1] - ends[first])
    finally:
        await runner.cleanup()


def balanced(count: int, extractors: int) -> list[str]:
    """So many persons of whom each extractor has as many."""
    share = PARTITIONS // extractors
    found: dict[int, list[str]] = {n: [] for n in range(extractors)}
    for number in range(100 * count):
        name = f"ann@desk-{number:04d}"
        mine = found[partition_of(name, PARTITIONS) // share]
        if len(mine) < count // extractors:
            mine.append(name)
    return [name for names in found.values() for name in names]


def report(came: Came, rates: Mapping[int, float], asked: str) -> tuple[str, str]:
    """The report as Markdown and as a page with plots."""
    lags = [lag for _, lag in came.lags_s]
    whole = f"{len(came.lost)} lost, {len(came.doubled)} doubled, {len(came.disordered)} out of order"
    latest = f"95 % {statistics.quantiles(lags, n=20)[-1]:.1f} s, longest {max(lags):.1f} s"
    rows = [
        f"{came.windows} windows in {came.wall_s:.0f} s: {whole}",
        f"{came.memories} memories, {came.retained} retained by the broker",
        f"lag from broker to outcome: median {statistics.median(lags):.1f} s, {latest}",
        "killed: " + ", ".join(f"{name} at {moment:.0f} s" for moment, name in came.kills),
    ]
    if rates:
        ratio = rates[max(rates)] / rates[min(rates)]
        told = ", ".join(f"{rate:.2f} windows/s with {n}" for n, rate in sorted(rates.items()))
        rows.append(f"where the model's latency is the limit: {told}: {ratio:.1f} times")
    text = "\n".join(["# A fleet under fire", "", f"`{asked}`", "", *(f"- {row}" for row in rows), ""])
    page = ["<!doctype html><meta charset=utf-8><title>A fleet under fire</title><h1>A fleet under fire</h1>"]
    page += [f"<p><code>{asked}</code></p>", "<ul>", *(f"<li>{row}</li>" for row in rows), "</ul>"]
    page += _plots(came, rates)
    return text, "\n".join(page)


def _plots(came: Came, rates: Mapping[int, float]) -> Iterable[str]:
    from extractord.cli.plotting import bars, lines  # noqa: PLC0415 - its import hook is noisy in tests

    bins: dict[int, list[float]] = {}
    for ended, lag in came.lags_s:
        bins.setdefault(int(ended // _BIN_S), []).append(lag)
    numbers = range(max(bins) + 1)
    killed = {int(moment // _BIN_S): name for moment, name in came.kills}
    labels = [f"{n * _BIN_S:.0f} s" + (f" {killed[n]} killed" if n in killed else "") for n in numbers]
    lags = {
        "median lag": [statistics.median(bins[n]) if n in bins else None for n in numbers],
        "longest lag": [max(bins[n]) if n in bins else None for n in numbers],
    }
    yield lines("Lag from broker to outcome", labels, lags, unit="s")
    yield lines(
        "Throughput",
        labels,
        {"windows a second": [len(bins.get(n, ())) / _BIN_S for n in numbers]},
        unit="/s",
    )
    if rates:
        named = [f"{n} extractors" for n in sorted(rates)]
        yield bars(
            "Latency is the limit", named, {"windows a second": [rates[n] for n in sorted(rates)]}, unit="/s"
        )


async def _main(asked: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory(prefix="fleet-") as name:
        folder = Path(name)
        facts = FACTS[: asked.facts]
        came = await under_fire(
            folder / "fire", asked.desks, asked.extractors, facts, rest_s=asked.rest, every_s=asked.every
        )
        print(json.dumps({k: v for k, v in vars(came).items() if k != "lags_s"}, indent=1), flush=True)
        rates: dict[int, float] = {}
        for count in (1, asked.extractors) if asked.scale else ():
            persons = balanced(asked.scale, asked.extractors)
            rates[count] = await throughput(folder / f"scale-{count}", count, persons, asked.latency)
            print(f"{count} extractors: {rates[count]:.2f} windows/s", flush=True)
        text, page = report(came, rates, f"python tests/fleeting.py {' '.join(sys.argv[1:])}")
        print(text)
        if asked.out:
            asked.out.mkdir(parents=True, exist_ok=True)
            (asked.out / "fleet.md").write_text(text)
            (asked.out / "fleet.html").write_text(page)
        return 0 if came.is_whole else 1


def main() -> int:
    """Let a fleet work under fire; say what became of it."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--desks", type=int, default=100)
    parser.add_argument("--extractors", type=int, default=4)
    parser.add_argument("--facts", type=int, default=len(FACTS), help="that each workstation says")
    parser.add_argument("--rest", type=float, default=5.0, help="seconds between them")
    parser.add_argument("--every", type=float, default=6.0, help="seconds between kills")
    parser.add_argument("--scale", type=int, default=80, help="windows for the throughput; 0: none")
    parser.add_argument("--latency", type=float, default=4.0, help="of the stand-in model, in seconds")
    parser.add_argument("--out", type=Path, help="a folder for the report")
    return asyncio.run(_main(parser.parse_args()))


if __name__ == "__main__":
    raise SystemExit(main())
