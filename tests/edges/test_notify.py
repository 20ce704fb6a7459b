"""What the supervisor hears, over a socket that is there."""

import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from extractord.edges.notify import Notify


@pytest.fixture(params=["path", "abstract"])
def supervisor(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, socket.socket]]:
    name = str(tmp_path / "notify") if request.param == "path" else f"@extractord-{os.getpid()}"
    if request.param == "abstract" and not Path("/proc").exists():
        pytest.skip("abstract sockets are Linux's")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard:
        heard.bind(name.replace("@", "\0"))
        heard.settimeout(60)
        yield name, heard


def test_each_word_arrives_as_one_datagram(supervisor: tuple[str, socket.socket]) -> None:
    name, heard = supervisor
    notify = Notify.of({"NOTIFY_SOCKET": name})
    before = time.monotonic_ns() // 1000
    notify.ready("watching\n3 folders")
    notify.alive()
    notify.status("x\udcff")
    notify.reloading()
    notify.stopping("bye")
    said = [heard.recv(4096).decode() for _ in range(5)]
    notify.close()
    assert said[:3] == ["READY=1\nSTATUS=watching 3 folders", "WATCHDOG=1", "STATUS=x?"]
    assert said[3].startswith("RELOADING=1\nMONOTONIC_USEC=")
    assert before <= int(said[3].rpartition("=")[2]) <= time.monotonic_ns() // 1000
    assert said[4] == "STOPPING=1\nSTATUS=bye"


@pytest.mark.parametrize("environ", [{}, {"NOTIFY_SOCKET": "vsock:2:1"}, {"NOTIFY_SOCKET": ""}])
def test_without_a_supervisor_it_is_mute(environ: dict[str, str]) -> None:
    notify = Notify.of(environ | {"WATCHDOG_USEC": "1000000"})
    notify.ready("nobody hears it")
    notify.close()
    assert notify.watchdog_s == 0


def test_a_supervisor_that_is_gone_is_no_fault(tmp_path: Path) -> None:
    notify = Notify.of({"NOTIFY_SOCKET": str(tmp_path / "gone")})
    notify.ready("nobody hears it")
    notify.close()


@pytest.mark.parametrize(
    ("pid", "usec", "seconds"),
    [(str(os.getpid()), "1500000", 1.5), ("", "2000000", 2.0), ("1", "1500000", 0.0), ("", "soon", 0.0)],
    ids=["of this process", "of any", "of another process", "no number"],
)
def test_the_watchdog_is_heeded_where_it_is_ours(tmp_path: Path, pid: str, usec: str, seconds: float) -> None:
    environ = {"NOTIFY_SOCKET": str(tmp_path / "s"), "WATCHDOG_PID": pid, "WATCHDOG_USEC": usec}
    notify = Notify.of(environ)
    notify.close()
    assert notify.watchdog_s == seconds
