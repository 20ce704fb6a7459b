"""The process that starts the others: what it starts, what it refuses, and that all of it ends."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from pathlib import Path

import pytest
import pytest_asyncio
from supervising import is_alive

from extractord.core.records import Brief
from extractord.core.wire import Done, Frames, Probe, Probed, Refused, Start, frame
from extractord.edges.confine import landlock
from extractord.edges.confine.environment import forget
from extractord.edges.processes import Link, Processes
from extractord.errors import ExtractordError

OURSELVES = [sys.executable, "-P", "-m", "extractord"]
TURNED = [sys.executable, str(Path(__file__).with_name("turned_children.py"))]
DAEMON = """
import asyncio, sys
from extractord.core.records import Brief
from extractord.core.wire import Frames, Start, frame
from extractord.edges.processes import Processes

async def main():
    processes = Processes(sys.argv[2:])
    brief = Brief(messages=(), shown=(), session=sys.argv[1], agent="codex", tokens=1)
    async with processes.forked([]) as link:
        await link.write(frame(Start(brief=brief, known=(), turns=5, has_project=True, embedded=False)))
        (said,) = Frames().feed(await link.read(10000))
        print(processes._server.pid, said.refusal.path[1:], flush=True)
        await asyncio.sleep(600)

asyncio.run(main())
"""


def comes_true(claim: Callable[[], bool], seconds: float = 20.0) -> bool:
    end = time.monotonic() + seconds
    while not claim() and time.monotonic() < end:
        time.sleep(0.02)
    return claim()


def start_of(session: str) -> bytes:
    brief = Brief(messages=(), shown=(), session=session, agent="codex", tokens=1)
    return frame(Start(brief=brief, known=(), turns=5, has_project=True, embedded=False))


async def hear(link: Link, count: int) -> list[object]:
    frames, said = Frames(), list[object]()
    while len(said) < count and (chunk := await link.read(100_000)):
        said.extend(frames.feed(chunk))
    return said


@pytest_asyncio.fixture
async def turned() -> AsyncIterator[Processes]:
    processes = Processes(TURNED)
    yield processes
    processes.stop()


@pytest_asyncio.fixture
async def ours() -> AsyncIterator[Processes]:
    processes = Processes([*OURSELVES, "_processes", "required"])
    yield processes
    processes.stop()


@pytest.mark.parametrize("what", ["hangs", "works for ever"])
@pytest.mark.parametrize("victim", ["daemon", "server"])
def test_kill_9_of_the_daemon_or_the_server_leaves_no_process_behind(victim: str, what: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", DAEMON, what, *TURNED], stdout=subprocess.PIPE, text=True
    ) as daemon:
        try:
            assert daemon.stdout is not None
            server, child = map(int, daemon.stdout.readline().split())
            assert is_alive(server)
            assert is_alive(child)
            os.kill(daemon.pid if victim == "daemon" else server, signal.SIGKILL)
            assert comes_true(lambda: not is_alive(child))
            assert comes_true(lambda: not is_alive(server))
        finally:
            daemon.kill()


async def test_a_request_that_was_given_up_leaves_its_process_to_nobody(turned: Processes) -> None:
    for _ in range(20):
        task = asyncio.create_task(turned.forked([]).__aenter__())
        await asyncio.sleep(0)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
    async with turned.forked([]) as link:
        await link.write(start_of("honest"))
        refused, done = await hear(link, 2)
    assert isinstance(done, Done)
    assert isinstance(refused, Refused)
    assert comes_true(lambda: not is_alive(int(refused.refusal.path[1:])))


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def children(pid: int) -> list[int]:
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@pytest.mark.parametrize("turns", range(8))
async def test_nor_does_one_that_was_given_up_when_its_answer_was_there(
    turned: Processes, turns: int
) -> None:
    async with turned.forked([]):
        pass
    assert turned._control is not None
    assert turned._server is not None
    before, loop, answered = descriptors(), asyncio.get_running_loop(), asyncio.Event()
    with closing(turned._control.dup()) as control:
        loop.add_reader(control, answered.set)
        opening = turned.forked([])
        task = asyncio.create_task(opening.__aenter__())
        task.add_done_callback(lambda _: answered.set())  # where the answer was there before anybody waited
        await answered.wait()
        for _ in range(turns):
            await asyncio.sleep(0)
        loop.remove_reader(control)
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        pass
    else:
        await opening.__aexit__(None, None, None)
    server = turned._server.pid
    async with turned.forked([]):  # what was asked before is done by now
        pass
    assert comes_true(lambda: not any(map(is_alive, children(server))))
    for _ in range(3):
        await asyncio.sleep(0)
    assert descriptors() == before


HOST = [*OURSELVES, "_modelhost", "off", '{"model": "x"}']
REFUSED = [
    (["/bin/true"], {}),
    ([sys.executable, "-c", "pass"], {}),
    ([sys.executable, "-P", "-m", "extractord", "run"], {}),
    ([sys.executable, "-c", "pass", "_modelhost", "off", "{}"], {}),
    (["/bin/sh", "-P", "-m", "extractord", "_modelhost", "off", "{}"], {}),
    (HOST, {"LD_PRELOAD": "/tmp/x.so"}),  # noqa: S108 - it is not read
    (HOST, {"PYTHONPATH": "/tmp"}),  # noqa: S108 - the same
    (HOST, {"PYTHONSTARTUP": "/tmp/x.py"}),  # noqa: S108 - the same
]


@pytest.mark.parametrize(("command", "environ"), REFUSED)
async def test_whoever_owns_the_daemon_has_no_other_program_started(
    ours: Processes, command: list[str], environ: dict[str, str]
) -> None:
    with pytest.raises(ExtractordError, match="may not run this program"):
        await ours.started(command, environ).__aenter__()


async def test_the_model_host_is_still_started(ours: Processes) -> None:
    async with ours.started(HOST, {"PYTHONSAFEPATH": "1", "X_API_KEY": "k"}):
        pass


@pytest.mark.skipif(landlock.abi() == 0, reason="this kernel has no Landlock")
async def test_a_child_of_ours_tries_and_can_do_nothing(ours: Processes, tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "identity").write_text("key")
    root = os.open(tmp_path / "root", os.O_RDONLY | os.O_DIRECTORY)
    async with ours.forked([root]) as link:
        await link.write(frame(Probe(forbidden=str(tmp_path / "identity"))))
        said = await hear(link, 1)
    os.close(root)
    assert said == [Probed(level=f"landlock{landlock.usable()}+seccomp", succeeded=())]


async def test_without_confinement_the_same_child_could_do_all_of_it(tmp_path: Path) -> None:
    processes = Processes([*OURSELVES, "_processes", "off"])
    (tmp_path / "root").mkdir()
    (tmp_path / "identity").write_text("key")
    root = os.open(tmp_path / "root", os.O_RDONLY | os.O_DIRECTORY)
    async with processes.forked([root]) as link:
        await link.write(frame(Probe(forbidden=str(tmp_path / "identity"))))
        said = await hear(link, 1)
    os.close(root)
    processes.stop()
    every = ("foreign read", "write", "write below a root", "socket", "local socket", "process", "exec")
    assert said == [Probed(level="none", succeeded=every)]


def test_a_forgotten_variable_is_in_neither_environment() -> None:
    code = (
        "import os; from extractord.edges.confine.environment import forget; forget(['X_API_KEY', 'ABSENT']);"
        "print(open('/proc/self/environ').read().replace(chr(0), '|'), dict(os.environ))"
    )
    seen = subprocess.run(
        [sys.executable, "-c", code],
        env={"X_API_KEY": "hunter2", "KEPT": "yes"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "hunter2" not in seen
    assert "KEPT=yes" in seen


def test_forgetting_nothing_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXTRACTORD_KEPT", "yes")
    forget([])
    assert os.environ["EXTRACTORD_KEPT"] == "yes"
