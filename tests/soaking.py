"""A week in minutes: the daemon with a stand-in model while everything around it fails in turn.

`python tests/soaking.py --sessions 1000 --minutes 8` prints what came of it; the test is shorter. The
daemon's wall clock is libfaketime's: it runs through a week, and jumps; nothing of ours knows.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import random
import re
import shutil
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiohttp import web
from broking import HAS_BROKER, Mosquitto
from standin import openai_reply, serving
from supervising import family, is_alive

FAKETIME = next(
    (
        str(path)
        for folder in ("/usr/lib", "/usr/local/lib", "/opt/homebrew/lib")
        for depth in ("", "*/")
        for path in sorted(Path(folder).glob(f"{depth}faketime/libfaketime.so.1"))
    ),
    "",
)
WEEK_S = 7 * 86_400.0
DAY_MS = 86_400_000
PROJECTS = 40
CAP_SHARE = 4
"""A day's cap of requests is this part of the sessions: on some days it binds."""
BLOWS = ("model", "broker", "jump", "hup", "rotate", "rotate")
"""What goes wrong besides restarts, or is mended."""
LOOK_S = 10.0
"""At the end, so often somebody looks at `status`."""
GROWTH_BYTES = 12 * 1024 * 1024
_PUT_OFF = """WITH ordered AS (
        SELECT outcome, reason, started_at,
          lead(started_at) OVER (PARTITION BY session ORDER BY rowid) AS next_at
        FROM runs)
    SELECT started_at, next_at FROM ordered WHERE outcome = 'deferred' AND reason LIKE 'budget%'
      AND next_at IS NOT NULL"""
"""When a run was put off by the day's cap, and when its session was run next."""
_FACT = re.compile(r"Service (s\d{5}) ")
_ENTRY = re.compile(r"\[(e\d+) user [^\]]*\][^\n]*\n([^\n]+)")


def fact(number: int) -> str:
    """A sentence that no other is like: near-equal facts are refused as duplicates."""
    chance = random.Random(number)  # noqa: S311 - the same each time
    words = [_word(chance) for _ in range(5)]
    return f"Service s{number:05d} keeps its {words[0]} {words[1]} on {words[2]} behind {words[3]} {words[4]}"


def _word(chance: random.Random) -> str:
    return "".join(chance.choice("bdfgklmnprstvz") + chance.choice("aeiou") for _ in range(3))


@dataclass
class Clock:
    """The daemon's wall clock: a week's time in the soak's, and what it jumped besides."""

    place: Path
    speed: float
    began: float = field(default_factory=time.monotonic)
    jumped_s: float = 0.0

    @property
    def ahead_s(self) -> float:
        """So much it is ahead of ours."""
        return (time.monotonic() - self.began) * (self.speed - 1) + self.jumped_s

    def tell(self) -> None:
        fresh = self.place.with_suffix(".new")
        fresh.write_text(f"{self.ahead_s:+.0f}\n")
        fresh.replace(self.place)

    def environ(self) -> dict[str, str]:
        return {
            "LD_PRELOAD": FAKETIME,
            "FAKETIME_TIMESTAMP_FILE": str(self.place),
            "FAKETIME_CACHE_DURATION": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "DONT_FAKE_MONOTONIC": "1",
            "NO_FAKE_STAT": "1",
        }


class Provider:
    """Remembers what a person said, as a model would; now and then it is away."""

    def __init__(self) -> None:
        self.trouble = 0
        self.asked: Counter[str] = Counter()

    def answer(self, body: Mapping[str, Any], _before: int) -> Any:
        if self.trouble:
            self.asked["refused"] += 1
            return web.json_response({"error": {"message": "away"}}, status=self.trouble)
        self.asked["answered"] += 1
        brief = "".join(str(message["content"]) for message in body["messages"])
        calls = []
        for label, said in _ENTRY.findall(brief):
            if found := _FACT.search(said):
                name = found[1]
                text = f"---\nname: {name}\ndescription: {said}\nmetadata:\n  type: project\n---\n{said}\n"
                given = {"file_path": f"/memory/project/{name}.md", "content": text,
                         "evidence": [{"entry": label, "quote": said}]}  # fmt: skip
                calls.append(("Write", json.dumps(given)))
        return openai_reply(calls=(*calls, ("Finish", "{}")))


class Writer:
    """An agent with many sessions: each says one fact, some say more, some files are rotated."""

    def __init__(self, home: Path, sessions: int, chance: random.Random) -> None:
        self.home = home
        self.sessions = sessions
        self.facts = 0
        self.rotated: Counter[str] = Counter()
        self._chance = chance
        self._counts: Counter[int] = Counter()
        self._places: dict[int, Path] = {}
        self._root = home / ".claude/projects"
        self._root.mkdir(parents=True)
        for project in range(PROJECTS):
            (home / f"p{project}/.git").mkdir(parents=True)

    def say(self, session: int) -> None:
        """One more fact in a session, torn in two pieces."""
        self.facts += 1
        project = session % PROJECTS
        place = self._places.setdefault(session, self._root / f"-p{project}" / f"{_name(session)}.jsonl")
        place.parent.mkdir(exist_ok=True)
        raw = self._exchange(session, project, fact(self.facts))
        cut = self._chance.randrange(1, len(raw))
        for piece in (raw[:cut], raw[cut:]):
            with place.open("ab", buffering=0) as file:
                file.write(piece)

    def rotate(self, session: int) -> None:
        """What happens to files: replaced by a copy, moved elsewhere, moved aside and begun anew."""
        place = self._places[session]
        match self._chance.choice(("copied", "moved")):
            case "copied":
                copy = place.with_suffix(".copy")
                shutil.copyfile(place, copy)
                copy.replace(place)
                self.rotated["copied"] += 1
            case "moved":
                other = self._root / f"-moved-{session}" / place.name
                other.parent.mkdir(exist_ok=True)
                place.rename(other)
                self._places[session] = other
                self.rotated["moved"] += 1

    def _exchange(self, session: int, project: int, words: str) -> bytes:
        answer = {"id": f"msg_{self.facts}", "role": "assistant", "stop_reason": "end_turn",
                  "content": [{"type": "text", "text": "Noted."}]}  # fmt: skip
        told = (
            {"type": "user", "promptSource": "typed", "message": {"role": "user", "content": words}},
            {"type": "assistant", "message": answer},
        )
        lines = []
        for record in told:
            count = self._counts[session]
            self._counts[session] += 1
            whole = {
                "parentUuid": _uuid(session, count - 1) if count else None,
                "isSidechain": False,
                "uuid": _uuid(session, count),
                "timestamp": time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime()),
                "cwd": str(self.home / f"p{project}"),
                "sessionId": _name(session),
                "version": "2.1.332",
                **record,
            }
            lines.append(json.dumps(whole).encode() + b"\n")
        return b"".join(lines)


def _name(session: int) -> str:
    return f"{session:08x}-0000-4000-8000-000000000000"


def _uuid(session: int, count: int) -> str:
    return f"{session:08x}-0000-4000-8000-{count:012d}"


@dataclass
class Life:
    """One life of the daemon, and what it had at each look."""

    process: subprocess.Popen[bytes]
    roots: Path
    resident: list[int] = field(default_factory=list)
    descriptors: list[int] = field(default_factory=list)
    """Without the one that each memory root has as long as it lives."""

    def look(self) -> None:
        with contextlib.suppress(OSError):
            pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
            descriptors = len(os.listdir(f"/proc/{self.process.pid}/fd"))
            self.resident.append(pages * os.sysconf("SC_PAGE_SIZE"))
            self.descriptors.append(descriptors - len(os.listdir(self.roots)))


class Soak:
    """The daemon, and all that happens to it."""

    def __init__(
        self, home: Path, sessions: int, seconds: float, url: str, provider: Provider, cap: int
    ) -> None:
        self.home = home
        self.seconds = seconds
        self.provider = provider
        self.chance = random.Random(7)  # noqa: S311 - a week that can be had again
        self.writer = Writer(home, sessions, self.chance)
        self.clock = Clock(home / "clock", WEEK_S / seconds)
        self.clock.tell()
        self.cap = cap
        self.happened: Counter[str] = Counter()
        self.lives: list[Life] = []
        self.broker = Mosquitto(home / "broker", more=["persistence true"]) if HAS_BROKER else None
        self._heard: subprocess.Popen[bytes] | None = None
        (home / "config.toml").write_text(
            f'log = "json"\n[model]\nname = "openai/stand-in"\nbase_url = "{url}/v1"\nretries = 0\n'
            # what comes round every ten minutes would come round all the time: a day is a minute here
            f"[run]\nconcurrency = 4\nrescan_s = 86400\n"
            f'[budget]\nday_requests = {self.cap}\nday_tokens = "unlimited"\n'
        )

    def environ(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "EXTRACTORD_CONFIG": str(self.home / "config.toml"),
            "EXTRACTORD_DATA_DIR": str(self.home / "data"),
            "EXTRACTORD_STATE_DIR": str(self.home / "state"),
            "OPENAI_API_KEY": "sk-stand-in",
            "TZ": "UTC",
            **(self.broker.settings() if self.broker else {}),
        }

    def start(self) -> None:
        with (self.home / "log").open("ab") as log:
            place = log.tell()
            daemon = subprocess.Popen(
                [sys.executable, "-m", "extractord", "run"],
                env=self.environ() | self.clock.environ(),
                stderr=log,
            )
        self.lives.append(Life(daemon, self.home / "data/memory/projects"))
        until = time.monotonic() + 120
        while b'"watching"' not in (self.home / "log").read_bytes()[place:]:
            assert daemon.poll() is None, self.tail()
            assert time.monotonic() < until, self.tail()
            time.sleep(0.05)

    def end(self, number: signal.Signals) -> None:
        daemon = self.lives[-1].process
        others = family(daemon.pid)[1:]
        daemon.send_signal(number)
        code = daemon.wait(100)
        assert code == (0 if number == signal.SIGTERM else -number), self.tail()
        until = time.monotonic() + 30
        while any(map(is_alive, others)):
            assert time.monotonic() < until, "a process is left behind"
            time.sleep(0.05)

    def tail(self) -> str:
        return (self.home / "log").read_text()[-4000:]

    def command(self, *words: str) -> str:
        """What a person would type at this hour."""
        ran = subprocess.run(
            [sys.executable, "-m", "extractord", *words],
            env=self.environ() | self.clock.environ(),
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    def befall(self, kind: str) -> None:
        """One thing goes wrong, or is mended; a model is away until the next does."""
        self.provider.trouble = 0
        match kind:
            case "model":
                self.provider.trouble = self.chance.choice((500, 429, 401))
            case "broker" if self.broker is not None:
                if self.happened["broker"] % 2:
                    self.broker.start()
                else:
                    self.broker.stop()
            case "jump":
                self.clock.jumped_s += self.chance.choice((-7_200, -600, 600, 7_200))
            case "hup":
                config = self.home / "config.toml"
                wanted = self.chance.choice((3, 4, 5))
                config.write_text(re.sub(r"concurrency = \d", f"concurrency = {wanted}", config.read_text()))
                self.lives[-1].process.send_signal(signal.SIGHUP)
            case "rotate":
                self.writer.rotate(self.chance.choice(list(self.writer._places)))
            case "sigterm" | "sigkill":
                self.end(signal.SIGTERM if kind == "sigterm" else signal.SIGKILL)
                self.start()
        self.happened[kind] += 1

    def mend(self) -> None:
        self.provider.trouble = 0
        if self.broker is not None and self.happened["broker"] % 2:
            self.broker.start()
            self.happened["broker"] += 1

    def known(self) -> Counter[str]:
        """Each fact's memories."""
        found = (self.home / "data/memory/projects").rglob("s*.md")
        return Counter(path.stem for path in found)

    def run(self) -> None:
        """Let the week pass: the first half with restarts, the second as one life."""
        self._hear()
        self.start()
        told, began = 0, time.monotonic()
        next_blow, next_end, half = began + 2, began + self.seconds / 6, False
        while (passed := time.monotonic() - began) < self.seconds:
            self.clock.tell()
            while told < self.writer.sessions * min(1.0, passed / (0.8 * self.seconds)):
                self.writer.say(told)
                told += 1
                if self.chance.random() < 0.2:
                    self.writer.say(self.chance.randrange(told))
            if not half and passed > self.seconds / 2:
                half = True
                self.end(signal.SIGTERM)
                self.start()
                self.happened["sigterm"] += 1
            if not half and time.monotonic() > next_end:
                self.befall(self.chance.choice(("sigterm", "sigkill")))
                next_end = time.monotonic() + self.seconds / 6
            elif time.monotonic() > next_blow:
                self.befall(self.chance.choice(BLOWS))
                next_blow = time.monotonic() + self.chance.uniform(0.5, 1.5) * self.seconds / 80
            self.lives[-1].look()
            time.sleep(0.25)
        for session in range(told, self.writer.sessions):
            self.writer.say(session)
        self.mend()

    def settle(self, patience_s: float) -> None:
        """Everything is well again: what waits is done, what was parked is tried again, as `status` says."""
        until, wanted = time.monotonic() + patience_s, {f"s{n:05d}" for n in range(1, self.writer.facts + 1)}
        next_look = 0.0
        while self.known().keys() != wanted and time.monotonic() < until:
            if time.monotonic() > next_look:
                parked = [row["run"] for row in json.loads(self.command("status", "--json"))["parked"]]
                if parked:
                    self.command("runs", "retry", *parked)
                    self.happened["parked, and tried again"] += len(parked)
                next_look = time.monotonic() + LOOK_S
            self.clock.tell()
            self.lives[-1].look()
            time.sleep(0.25)
        while self.broker and self._waiting() and time.monotonic() < until:
            time.sleep(0.5)  # a broker that was away is called again within a minute

    def _waiting(self) -> int:
        """How many events the broker does not have yet."""
        with contextlib.closing(sqlite3.connect(self.home / "state/ledger.db")) as raw:
            return int(raw.execute("SELECT count(*) FROM outbox").fetchone()[0])

    def _hear(self) -> None:
        if self.broker is None:
            return
        self.broker.start()
        with (self.home / "heard").open("wb") as heard:
            self._heard = subprocess.Popen(
                ["mosquitto_sub", *self.broker.client(), "-c", "-i", "soak", "-x", "3600", "-q", "1",
                 "-t", "extractord/v1/+/said/run/finished"],
                stdout=heard, stderr=subprocess.DEVNULL,
            )  # fmt: skip
        time.sleep(0.5)

    def close(self) -> None:
        if self.lives and self.lives[-1].process.poll() is None:
            self.lives[-1].process.kill()
            self.lives[-1].process.wait(10)
        if self._heard is not None:
            self._heard.kill()
            self._heard.wait(10)
        if self.broker is not None:
            self.broker.stop()

    def report(self) -> dict[str, object]:
        """The figures; raise AssertionError where anything is lost, doubled, overspent or grows."""
        life, known = self.lives[-1], self.known()
        wanted = {f"s{n:05d}" for n in range(1, self.writer.facts + 1)}
        assert known.keys() == wanted, f"lost: {sorted(wanted - known.keys())[:9]}; {self.tail()}"
        assert set(known.values()) == {1}, "a fact is there twice"
        self.end(signal.SIGTERM)
        with contextlib.closing(sqlite3.connect(self.home / "state/ledger.db")) as raw:
            days = Counter(time.strftime("%m-%d", time.gmtime(at / 1000))
                           for (at,) in raw.execute("SELECT at FROM requests"))  # fmt: skip
            outcomes = dict(raw.execute("SELECT outcome, count(*) FROM runs GROUP BY outcome"))
            ended = {run for (run,) in raw.execute("SELECT run FROM runs")}
            put_off = list(raw.execute(_PUT_OFF))
        assert max(days.values()) <= self.cap, days
        hasty = [each for each in put_off if each[1] // DAY_MS <= each[0] // DAY_MS]
        assert not hasty, f"put off until midnight, and run before it: {hasty[:9]}"
        assert "unbroken" in self.command("audit", "verify")
        quarter = max(1, len(life.resident) // 4)
        early, late = life.resident[quarter : 2 * quarter], life.resident[-quarter:]
        grown = int(statistics.median(late) - statistics.median(early))
        resting = min(life.descriptors[quarter : 2 * quarter]), min(life.descriptors[-quarter:])
        assert grown < GROWTH_BYTES, life.resident
        assert resting[1] <= resting[0] + 4, life.descriptors
        until = time.monotonic() + 60
        while self.broker and ended - self._finished() and time.monotonic() < until:
            time.sleep(0.2)  # the broker hands on what it has
        heard = self._finished()
        return {
            "sessions": self.writer.sessions,
            "facts said": self.writer.facts,
            "memories": len(known),
            "lost": 0,
            "doubled": 0,
            "days": dict(sorted(days.items())),
            "cap of requests a day": self.cap,
            "put off till midnight by the cap, and run then": len(put_off),
            "runs": outcomes,
            "happened": dict(sorted(self.happened.items())),
            "rotated": dict(self.writer.rotated),
            "provider": dict(self.provider.asked),
            "lives": len(self.lives),
            "resident of the last life, MB": [
                round(statistics.median(part) / 1e6, 1) for part in (early, late)
            ],
            "descriptors of the last life, at rest": resting,
            "descriptors of the last life, most": max(life.descriptors),
            "events that waited for the broker at the end": self._waiting(),
            "runs that the broker's subscriber missed": len(ended - heard) if self.broker else "no broker",
        }

    def _finished(self) -> set[str]:
        if self.broker is None:
            return set()
        lines = (self.home / "heard").read_text().rpartition("\n")[0].splitlines()  # whole ones
        return {json.loads(line)["row"]["run"] for line in lines if line.startswith("{")}


@contextlib.contextmanager
def provided(provider: Provider) -> Iterator[str]:
    """The stand-in in a thread of its own; yields its address."""
    ready, over = threading.Event(), threading.Event()
    found: list[str] = []

    async def serve() -> None:
        async with serving(provider.answer) as standin:
            found.append(standin.url)
            ready.set()
            while not over.is_set():
                await asyncio.sleep(0.1)
                standin.bodies.clear()
                standin.asked.clear()

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    try:
        assert ready.wait(20)
        yield found[0]
    finally:
        over.set()
        thread.join()


def soak(
    home: Path, sessions: int, seconds: float, cap: int, patience_s: float = 1800.0
) -> dict[str, object]:
    """Let a week pass in so many seconds; return the figures."""
    provider = Provider()
    with provided(provider) as url:
        week = Soak(home, sessions, seconds, url, provider, cap)
        try:
            week.run()
            week.settle(patience_s)
            return week.report()
        finally:
            week.close()


def main() -> int:
    """Soak, and print a table of what came of it."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--sessions", type=int, default=1000)
    parser.add_argument("--minutes", type=float, default=8.0)
    parser.add_argument("--cap", type=int, default=0, help="requests a day; 0: a part of the sessions")
    asked = parser.parse_args()
    if not FAKETIME:
        sys.exit("libfaketime is not installed: apt-get install faketime")
    with tempfile.TemporaryDirectory(prefix="soak-") as home:
        for name, value in soak(
            Path(home), asked.sessions, asked.minutes * 60, asked.cap or asked.sessions // CAP_SHARE
        ).items():
            print(f"{name:<44}{value}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
