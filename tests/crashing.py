"""A commit in a real process, stopped or failed at a system call; `python tests/crashing.py` for all.

A process that has everything loaded forks a victim for each point; strace attaches to it while it
stands still, and kills it before the n-th call of a kind, or lets that call (and all after it) fail.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from person import SHOP_ROOT, Person
from storing import PROJECT, USER, fact

from extractord.core.changeset import INDEX
from extractord.core.digesting import digest
from extractord.core.records import Outcome, Project
from extractord.edges.folder.root import TEMPORARY
from extractord.edges.store.law import law_version
from extractord.edges.store.register import Register
from extractord.edges.store.secrets import find_secret
from extractord.errors import ExtractordError
from extractord.storeroom import Storeroom, now, storeroom

NAMES = ("one", "two", "three", "four", "five")
CHANGING = (
    "write", "pwrite64", "writev", "fsync", "fdatasync", "ftruncate", "fallocate", "rename", "renameat",
    "renameat2", "unlink", "unlinkat", "rmdir", "mkdir", "mkdirat", "link", "linkat", "fchmod", "chmod",
    "openat",
)  # fmt: skip
"""Calls that change a disk, or may."""
FAILING = {"ENOSPC": ("write", "pwrite64", "mkdir", "mkdirat", "openat", "rename", "renameat", "renameat2",
                      "fsync", "fallocate", "ftruncate"),
           "EIO": ("write", "pwrite64", "fsync", "fdatasync", "unlink", "unlinkat", "rmdir", "rename",
                   "renameat", "renameat2", "ftruncate"),
           "EACCES": ("openat", "mkdir", "mkdirat", "rename", "renameat", "renameat2", "unlink", "unlinkat",
                      "rmdir")}  # fmt: skip
WORDS = "Service number 1 is gone, number 2 listens on port 9000, number 3 has a new name and I prefer tabs"
ELSEWHERE = Project(slug="other-0123456789abcdef", identity="other", directory="/nowhere/other")
NEW = f"projects/{ELSEWHERE.slug}"
_STAMP = re.compile(rb"(recorded_at|observed_at): \S+")
_WRITES = re.compile(r"O_WRONLY|O_RDWR|O_CREAT")
_PR_SET_PTRACER = 0x59616D61
_HELD_UP_S = 2.0
_INDEX = f"{SHOP_ROOT}/{INDEX}"
_CALL = re.compile(r"^(?:\d+ +)?(\w+)\((.*)")


@dataclass(frozen=True, slots=True)
class Point:
    """The n-th call of a kind, and what happens there: a kill, or an error, from then on perhaps."""

    call: str
    number: int
    fault: str = ""
    lasting: bool = False

    @property
    def inject(self) -> str:
        what = f"error={self.fault}" if self.fault else "signal=SIGKILL"
        return f"inject={self.call}:{what}:when={self.number}{'+' if self.lasting else ''}"


@dataclass(slots=True)
class Tally:
    """What became of it, over all points."""

    points: int = 0
    ends: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)


def commit(person: Person, room: Storeroom) -> Outcome:
    """Create, edit and remove over both roots: both indexes follow."""
    changes = [
        (PROJECT, "one.md", None),
        (PROJECT, "two.md", fact("two", "number 2 listens on port 9000")),
        (PROJECT, "deep/new.md", fact("new", "Service number 3 has a new name")),
        (USER, "tabs.md", fact("tabs", "I prefer tabs", "user")),
    ]
    return person.run(changes, WORDS, room=room).outcome


def merge(person: Person, room: Storeroom) -> Outcome:
    """A moved project meets memories in its new place: names are taken, bytes the same, folders there."""
    room.store.move(SHOP_ROOT, NEW, ELSEWHERE)
    return Outcome.SAVED


DEEDS = {"commit": commit, "merge": merge}


class Ground:
    """A home as it was before, the same as it is afterwards, and a process that forks victims."""

    def __init__(self, folder: Path, deed: str = "commit") -> None:
        self._folder = folder
        self._deed = deed
        self._made = 0
        self.before = folder / "before"
        person = Person(self.before)
        for number, name in enumerate(NAMES, 1):
            words = f"Service number {number} listens on port 800{number}"
            assert person.run([(PROJECT, f"{name}.md", fact(name, words))], words).outcome is Outcome.SAVED
        person.writes(NEW, "deep/two.md", fact("two", "Ships come to Rotterdam"))
        person.writes(NEW, "one.md", fact("one", "Ships come to Hamburg"))
        person.writes(NEW, "three.md", (person.memory / SHOP_ROOT / "three.md").read_text())
        with storeroom(person.settings, print) as room:
            room.store.notice(room.store.names())
        self._runs = person.runs
        after = self._copy()
        with storeroom(after.settings, print) as room:
            assert DEEDS[deed](after, room) is Outcome.SAVED
        self._states = {"before": files(person), "after": files(after)}
        more = len(self._states["after"]) - len(self._states["before"])
        assert (
            more == {"commit": 3, "merge": -3}[deed]
        )  # two files and a folder; one of two, an index, a root
        self._stand = subprocess.Popen(
            [sys.executable, __file__, "--stand"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONHASHSEED": "0"},
        )

    def close(self) -> None:
        self._stand.communicate()

    def _copy(self) -> Person:
        self._made += 1
        home = self._folder / f"home-{self._made}"
        shutil.copytree(self.before, home, symlinks=True)
        person = Person(home)
        person.runs = self._runs
        return person

    def calls(self) -> list[tuple[str, bool]]:
        """Every call that the victim makes, in order, and whether it may change a disk."""
        person, log = self._copy(), self._folder / "log"
        self._sent(person, ["-e", "trace=file,desc", "-o", str(log)])
        found = [match for match in map(_CALL.match, log.read_text("utf-8", "replace").splitlines()) if match]
        shutil.rmtree(person.home)
        return [
            (match[1], match[1] in CHANGING and (match[1] != "openat" or bool(_WRITES.search(match[2]))))
            for match in found
        ]

    def strike(self, point: Point, tally: Tally) -> None:
        """Let it happen to a victim, open its home again, and note what is not as promised."""
        person = self._copy()
        ended = self._sent(person, ["-e", f"trace={point.call}", "-e", point.inject, "-o", "/dev/null"])
        tally.points += 1
        try:
            state = self._judged(person, ended)
        except (AssertionError, ExtractordError) as error:
            tally.faults.append(f"{point}: {ended}: {type(error).__name__}: {error}")
            return
        tally.ends[f"{ended} → {state}"] += 1
        shutil.rmtree(person.home)

    def _judged(self, person: Person, ended: str) -> str:
        assert not ended.startswith("died"), "an error that nobody foresaw"
        with storeroom(person.settings, print) as room:
            room.ledger.ranges.reap(now())
            found = files(person)
            states = [name for name, state in self._states.items() if state == found]
            assert states, f"neither before nor after: {sorted(found)}"
            check(person, room)
            if self._deed == "commit":
                key = f"x{self._runs + 1}"
                known = room.ledger.ranges.states("codex", "s1").get(key)
                is_closed = known is not None and known.state == "closed"
                assert is_closed is (states[0] == "after"), f"{states[0]}, but the range is {known}"
            else:
                assert bool(room.ledger.versions.paths(SHOP_ROOT)) is (states[0] == "before")
            if ended == "done":
                assert states == ["after"], "it said that it was done"
            if states == ["before"]:
                person.runs += 1  # the run's own id was used
                assert DEEDS[self._deed](person, room) is Outcome.SAVED, "it cannot be done again"
                again = {place: raw.replace(b"run-7", b"run-6") for place, raw in files(person).items()}
                assert again == self._states["after"], "done again, it is not what it was to be"
        return states[0]

    def intrude(self, calls: list[tuple[str, bool]]) -> None:
        """Kill a victim in the moment in which it displaced what somebody wrote just then.

        Its first trade of names is held up until the edit is there; the look at what was displaced is
        its last call. Raise AssertionError where the edit does not stand there again.
        """
        person, edit = self._copy(), b"---\nname: two\n---\nA person was here just now.\n"
        names = [call for call, _ in calls]
        looks = names[: names.index("renameat2")].count("openat") + 1
        place = person.memory / SHOP_ROOT / "two.md"

        def write() -> None:
            while not list(place.parent.glob(f"{TEMPORARY}*")):
                time.sleep(0.001)
            time.sleep(_HELD_UP_S / 2)  # it has been written: the trade is what comes next
            place.with_name("edit").write_bytes(edit)
            place.with_name("edit").replace(place)

        held_up = f"inject=renameat2:delay_enter={int(_HELD_UP_S * 1e6)}:when=1"
        killed = f"inject=openat:signal=SIGKILL:when={looks}"
        traced = ["-e", "trace=renameat2,openat", "-e", held_up, "-e", killed, "-o", "/dev/null"]
        assert self._sent(person, traced, write) == "killed"
        assert place.read_bytes() != edit, "it was killed before the names were traded"
        with storeroom(person.settings, print) as room:
            assert place.read_bytes() == edit, "what the person wrote is lost"
            room.store.notice(room.store.names())
            check(person, room)
        where = f"{SHOP_ROOT}/two.md"
        others = {name: raw for name, raw in self._states["before"].items() if name not in (where, _INDEX)}
        found = {name: raw for name, raw in files(person).items() if name not in (where, _INDEX)}
        assert found == others, "more than the edit is not as it was before"
        shutil.rmtree(person.home)

    def _sent(self, person: Person, options: list[str], meanwhile: Callable[[], None] = lambda: None) -> str:
        """Let a victim commit under strace; how it ended: done, killed, or the error's kind."""
        assert self._stand.stdin is not None
        assert self._stand.stdout is not None
        self._stand.stdin.write(f"{person.home} {person.runs} {self._deed}\n")
        self._stand.stdin.flush()
        victim = int(self._stand.stdout.readline())
        strace = subprocess.Popen(
            ["strace", "-p", str(victim), *options],
            stderr=subprocess.PIPE,
            text=True,
            stdin=subprocess.DEVNULL,
        )
        assert strace.stderr is not None
        line = strace.stderr.readline()
        assert "attached" in line, line
        os.kill(victim, signal.SIGCONT)
        meanwhile()
        ended = self._stand.stdout.readline().strip()
        strace.communicate()
        return ended


def files(person: Person) -> dict[str, bytes]:
    """Every file and folder below <memory> but our own lock and mark, times of writing aside."""
    return {
        str(place.relative_to(person.memory)): _STAMP.sub(rb"\1: then", place.read_bytes())
        if place.is_file()
        else b"a folder"
        for place in sorted(person.memory.rglob("*"))
        if place.name not in (".lock", ".extractord")
    }


def check(person: Person, room: Storeroom) -> None:
    """Raise AssertionError where disk, ledger and register disagree."""
    for root in room.store.names():
        current = room.ledger.versions.current(root)
        there = {
            str(place.relative_to(person.memory / root)): place.read_bytes()
            for place in (person.memory / root).rglob("*")
            if place.is_file()
        }
        assert not [name for name in there if name.rpartition("/")[2].startswith(TEMPORARY)], (
            "a temporary file"
        )
        there.pop(INDEX, None)
        assert {path: digest(raw) for path, raw in there.items()} == {
            path: known.sha256 for path, known in current.items()
        }
        for path, raw in there.items():
            last = room.ledger.versions.history(root, path)[-1]
            assert last.sha256 is not None
            assert room.ledger.versions.content(last.sha256) == raw, f"{path}: history is not what is there"
    assert room.ledger.versions.open_intents() == ()
    room.ledger.audit.verify()
    room.ledger.check()
    stones = set(room.ledger.versions.tombstones())
    assert stones == set(Register(person.state / "tombstones.jsonl").all())
    assert not list(person.state.glob("*.new-*"))


def may_trace() -> bool:
    """True where strace is there and allowed."""
    if shutil.which("strace") is None:
        return False
    return (
        subprocess.run(["strace", "-o", "/dev/null", "true"], capture_output=True, check=False).returncode
        == 0
    )


@contextmanager
def ground(deed: str = "commit") -> Iterator[Ground]:
    """Yield a ground in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="crash-") as folder:
        made = Ground(Path(folder), deed)
        try:
            yield made
        finally:
            made.close()


def kills(calls: list[tuple[str, bool]]) -> list[Point]:
    """A point before each call of a victim's, and so after the one before it."""
    return [point for point, _ in _numbered(calls)]


def failures(calls: list[tuple[str, bool]]) -> list[Point]:
    """Each call that may change a disk and can fail so, once and from then on."""
    return [
        Point(point.call, point.number, fault, lasting)
        for fault, names in FAILING.items()
        for point, changes in _numbered(calls)
        if changes and point.call in names
        for lasting in (False, True)
    ]


def _numbered(calls: list[tuple[str, bool]]) -> Iterator[tuple[Point, bool]]:
    seen: Counter[str] = Counter()
    for call, changes in calls:
        seen[call] += 1
        yield Point(call, seen[call]), changes


def thinned(points: list[Point], wanted: int) -> list[Point]:
    """At most so many, evenly spread; 0: all."""
    step = max(1, len(points) // wanted) if wanted else 1
    return points[::step]


def _stand() -> None:
    """Fork a victim for each line of input; say its id when it stands still, and how it ended."""
    find_secret("loaded before the first fork")
    law_version()
    "loaded".encode("ascii")
    for line in sys.stdin:
        home, runs, deed = line.split()
        pid = os.fork()
        if pid == 0:
            os._exit(_be_victim(Person(Path(home)), int(runs), deed))
        os.waitpid(pid, os.WUNTRACED)
        print(pid, flush=True)
        _, status = os.waitpid(pid, 0)
        code = os.waitstatus_to_exitcode(status)
        print({0: "done", 3: "error", -signal.SIGKILL: "killed"}.get(code, f"died of {code}"), flush=True)


def _be_victim(person: Person, runs: int, deed: str) -> int:
    person.runs = runs
    ctypes.CDLL(None).prctl(_PR_SET_PTRACER, ctypes.c_ulong(-1), 0, 0, 0)
    with ExitStack() as stack:
        room = stack.enter_context(storeroom(person.settings, print))
        os.kill(os.getpid(), signal.SIGSTOP)
        try:
            outcome = DEEDS[deed](person, room)
        except ExtractordError:
            return 3
        return 0 if outcome is Outcome.SAVED else 4


def main() -> int:
    """Strike every point, or so many; print what became of it."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--points", type=int, default=0, help="kills and failures at most; 0: all")
    parser.add_argument("--stand", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--deed", choices=DEEDS, default="commit", help="what is cut short")
    asked = parser.parse_args()
    if asked.stand:
        _stand()
        return 0
    with ground(asked.deed) as made:
        calls = made.calls()
        print(f"{len(calls)} calls, of which {sum(changes for _, changes in calls)} may change a disk")
        if asked.deed == "commit":
            made.intrude(calls)
            print("an edit in the moment of the crash: not lost")
        for name, points in (("kills", kills(calls)), ("failures", failures(calls))):
            tally = Tally()
            for point in thinned(points, asked.points):
                made.strike(point, tally)
            print(f"{name}: {tally.points} points, {len(tally.faults)} faults", dict(tally.ends))
            print(*tally.faults, sep="\n")
            if tally.faults:
                return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
