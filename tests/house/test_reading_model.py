from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import jsonl_agent
import msgspec
import zstandard
from doubles import MemoryRanges
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from jsonl_agent import AGENT, exchange, line

from extractord.core.events import Skipped
from extractord.core.gate import GateSettings
from extractord.core.ports import Owner
from extractord.core.records import Project, Window
from extractord.reading import Reading

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
SESSIONS = st.sampled_from("abc")


class Written:
    """A session as its agent keeps it: whole exchanges as lines, and a last one that is torn."""

    def __init__(self, folder: Path, session: str) -> None:
        self.session = session
        self.path = folder / f"{session}x.jsonl"
        self.lines: list[bytes] = []
        self.torn = b""

    def append(self, text: bytes) -> None:
        self.mend()
        self.lines += text.splitlines(keepends=True)
        with self.path.open("ab") as file:
            file.write(text)

    def tear(self, text: bytes, at: int) -> None:
        self.mend()
        self.torn = text[at:]
        self.lines += text.splitlines(keepends=True)
        with self.path.open("ab") as file:
            file.write(text[:at])

    def mend(self) -> None:
        packed = self.path.with_name(self.path.name + ".zst")
        if packed.exists():
            self.path.write_bytes(zstandard.ZstdDecompressor().stream_reader(packed.read_bytes()).readall())
            packed.unlink()
        with self.path.open("ab") as file:
            file.write(self.torn)
        self.torn = b""

    def active(self) -> list[str]:
        """The prompts on the active branch, copies left out."""
        found: dict[str, None] = {}
        for each in map(msgspec.json.decode, self.lines):
            if "ids" in each:
                found = {key: None for key in found if key not in each["ids"]}
            elif each["origin"] == "human":
                found[each["id"]] = None
        return list(found)

    def ids(self) -> set[str | None]:
        return {msgspec.json.decode(each).get("id") for each in self.lines}

    def ended(self) -> list[str]:
        """Those of them that a reply or another prompt follows."""
        active, said = self.active(), self.ids()
        return [key for key in active if f"{key}-reply" in said or key != active[-1]]


class Readings(RuleBasedStateMachine):
    """Whatever agents do to their files, each human prompt of an active branch is had once."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp()).resolve()
        self.source = jsonl_agent.source(str(self.folder))
        self.ranges = MemoryRanges()
        self.count = 0
        self.runs = 0
        self.had: Counter[str] = Counter()
        self.forked: set[str] = set()
        self.sessions = {session: Written(self.folder, session) for session in "abc"}
        self.waiting: dict[str, list[str]] = {}
        self.reading = self.started()

    def teardown(self) -> None:
        for session in self.sessions.values():
            session.mend()
            self.touch(session.session, closes=True)
        wanted = {key for session in self.sessions.values() for key in session.ended()} - self.before
        assert wanted <= set(self.had)
        assert set(self.had.values()) <= {1}
        assert not self.had.keys() & self.before
        shutil.rmtree(self.folder)

    def next_exchange(self, session: str) -> bytes:
        self.count += 1
        return exchange(f"p{self.count}", f"we deploy on tuesdays and {self.count}", session=session)

    @initialize(exchanges=st.integers(0, 3))
    def begin(self, exchanges: int) -> None:
        for _ in range(exchanges):
            self.sessions["a"].append(self.next_exchange("a"))
        self.before = set(self.sessions["a"].active())
        self.kept = len(self.sessions["a"].lines)
        asyncio.run(self.reading.begin(self.source, str(self.folder)))

    @rule(session=SESSIONS)
    def say(self, session: str) -> None:
        self.sessions[session].append(self.next_exchange(session))

    @rule(session=SESSIONS, part=st.floats(0.01, 0.99))
    def say_half(self, session: str, part: float) -> None:
        text = self.next_exchange(session)
        self.sessions[session].tear(text, int(part * len(text)))

    @rule(session=SESSIONS, revision=st.integers(1, 5))
    def revise(self, session: str, revision: int) -> None:
        active = self.sessions[session].active()
        if active:
            text = line(active[-1], "what was said, revised once more", session=session, revision=revision)
            self.sessions[session].append(text)

    @rule(session=SESSIONS)
    def rewind(self, session: str) -> None:
        active = [key for key in self.sessions[session].active() if key not in self.forked]
        if active and active[-1] == self.sessions[session].active()[-1]:
            void = {"session": session, "ids": [active[-1], f"{active[-1]}-reply"]}
            self.sessions[session].append(msgspec.json.encode(void) + b"\n" + self.next_exchange(session))

    @rule(session=SESSIONS, marked=st.booleans())
    @precondition(lambda self: len(self.sessions) < 5)
    def fork(self, session: str, marked: bool) -> None:
        name = f"{session}{len(self.sessions)}"
        copy = self.sessions[name] = Written(self.folder, name)
        for key in self.sessions[session].active():
            self.forked.add(key)
            origin = "copied" if marked or key in self.before else "human"
            copy.append(line(key, "we deploy on tuesdays again", session=name, origin=origin, role="user"))
            copy.append(line(f"{key}-reply", session=name, turn_end=True))
        copy.append(self.next_exchange(name))
        self.touch(session, closes=False)
        self.touch(name, closes=False)

    @rule(session=SESSIONS)
    def move(self, session: str) -> None:
        written = self.sessions[session]
        written.mend()
        self.count += 1
        written.path = written.path.rename(self.folder / f"{session}{self.count}moved.jsonl")

    @rule(session=SESSIONS)
    def compress(self, session: str) -> None:
        written = self.sessions[session]
        written.mend()
        packed = written.path.with_name(written.path.name + ".zst")
        packed.write_bytes(zstandard.compress(written.path.read_bytes()))
        written.path.unlink()

    @rule(session=SESSIONS, lines=st.integers(1, 6), regrows=st.booleans())
    def shrink(self, session: str, lines: int, regrows: bool) -> None:
        written = self.sessions[session]
        written.mend()
        floor = self.kept if session == "a" else 0
        kept = max(floor, len(written.lines) - lines)
        lost = Written(self.folder, session)
        lost.lines = written.lines[kept:]
        replies = {f"{key}-reply" for key in self.forked}  # without it, a fork's original has not ended
        if self.forked.intersection(lost.active()) or replies & lost.ids():
            return
        written.lines = written.lines[:kept]
        with written.path.open("rb+") as file:
            file.truncate(sum(map(len, written.lines)))
        if regrows:
            written.append(self.next_exchange(session) + self.next_exchange(session))

    @rule(session=SESSIONS)
    def replace(self, session: str) -> None:
        written = self.sessions[session]
        written.mend()
        other = self.folder / "other"
        other.write_bytes(written.path.read_bytes())
        other.replace(written.path)

    @rule()
    def restart(self) -> None:
        """What waited is forgotten; a watch that begins says everything."""
        self.reading = self.started()
        self.waiting.clear()
        for session in self.sessions:
            self.touch(session, closes=False)

    def started(self) -> Reading:
        return Reading(
            self.ranges,
            lambda _agent, _session, cwd: Project(slug="p", identity=cwd, directory=cwd),
            GateSettings(home="/home/dev", memory_roots=("/home/dev/memory",)),
            settle_s=20,
            copy_dir=str(self.folder),
        )

    @rule(session=SESSIONS, closes=st.booleans())
    def touch(self, session: str, closes: bool) -> None:
        written = self.sessions[session]
        for each in asyncio.run(self.reading.touched(self.source, str(written.path), NOW)):
            match each:
                case Skipped(exchange=key, reason=reason):
                    assert reason == "already_seen"
                    assert key in self.forked
                case Window(session=name, exchanges=exchanges):
                    self.waiting[name] = [each.key for each in exchanges]
                    in_order = [key for key in self.sessions[name].active() if key in self.waiting[name]]
                    assert self.waiting[name] == in_order
        keys = self.waiting.pop(session, []) if closes else []
        if keys:
            self.runs += 1
            owner = Owner(pid=1, started=1, boot="b")
            assert self.ranges.claim(AGENT, session, keys, f"run {self.runs}", owner, NOW)
            self.ranges.finish(f"run {self.runs}", "saved", NOW)
            self.had.update(keys)


TestReadings = Readings.TestCase
TestReadings.settings = settings(max_examples=25, stateful_step_count=20)
