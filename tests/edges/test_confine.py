"""What code inside each process can reach once it is confined: on this kernel, and as on older ones."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from extractord.edges.confine import landlock, seccomp

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="Landlock and seccomp are Linux's"),
    pytest.mark.skipif(landlock.abi() == 0, reason="this kernel has no Landlock"),
    pytest.mark.skipif(not seccomp.supported(), reason="no system call numbers for this architecture"),
]

ATTEMPTS = Path(__file__).with_name("attempts.py")


def what_succeeds(profile: str, limit: int | None, tmp_path: Path) -> tuple[str, set[str]]:
    root, outside = tmp_path / "root", tmp_path / "outside"
    (outside / "projects/other").mkdir(parents=True)
    root.mkdir()
    for name in ("a.md", "b.md", "c.md", "e.md"):
        (root / name).write_text("fact")
    (root / "empty").mkdir()
    (root / "out.md").symlink_to("../outside/ledger.db")
    (outside / "ledger.db").write_text("all")
    (outside / "projects/other/a.md").write_text("theirs")
    ran = subprocess.run(
        [sys.executable, str(ATTEMPTS), profile, json.dumps(limit), str(root), str(outside)],
        capture_output=True,
        check=True,
        env={},
    )
    level, done = json.loads(ran.stdout)
    return level, set(done)


LIMITS = pytest.mark.parametrize("limit", [None, 1, 2])
"""This kernel, and as one would do it that has Landlock's ABI 1 or 2."""


def test_without_confinement_nearly_all_of_it_succeeds(tmp_path: Path) -> None:
    _, done = what_succeeds("none", None, tmp_path)
    missing = {
        "write in root", "openat2 write in root", "openat2 ../", "read by a link", "truncate outside",
        "rename out of root", "symlink in root", "hard link in root", "mkfifo in root", "chmod outside",
        "touch outside", "read the ledger", "read another project", "read its parent's environment",
        "read by /proc/self/root", "list /", "write beside root", "tcp", "udp", "unix", "socketpair",
        "netlink", "fork", "subprocess", "thread", "signal its parent", "signal by a pipe", "memfd",
        "signal its parent by a thread", "queue a signal", "set its parent's limits",
        "set its parent's priority", "set its parent's processors", "shared memory",
    } - done  # fmt: skip
    assert missing == set()


@LIMITS
def test_the_child_reads_its_roots_and_nothing_else_succeeds(limit: int | None, tmp_path: Path) -> None:
    level, done = what_succeeds("child", limit, tmp_path)
    assert done == {"read in root", "list root"}
    assert level == f"landlock{landlock.usable(limit)}+seccomp"


@LIMITS
def test_the_host_has_the_network_and_threads_and_no_write_exec_or_foreign_read(
    limit: int | None, tmp_path: Path
) -> None:
    level, done = what_succeeds("host", limit, tmp_path)
    assert done - {"raise its own limits"} == {
        "tcp",
        "udp",
        "thread",
        "socketpair",
        "list root",  # by a descriptor that a host of ours has not
        "change directory",
        "pidfd of its parent",
        "use what was open before",
        "abort itself",
    }
    assert level == f"landlock{landlock.usable(limit)}+seccomp"


WRITES = {
    "write in root", "overwrite in root", "openat2 write in root", "unlink in root", "mkdir in root",
    "rmdir in root", "rename in root", "hard link in root",
}  # fmt: skip
READS = {
    "read in root", "list root", "openat2 ../", "read by a link", "read the ledger", "read another project",
    "read /etc/passwd", "read its own environment", "read its parent's environment",
    "read by /proc/self/root", "list /", "change directory", "use what was open before",
}  # fmt: skip
WORKS = {
    "socketpair", "fork", "subprocess", "thread", "pidfd of its parent", "abort itself", "signal its parent",
    "signal its parent by a thread", "signal its parent's thread", "queue a signal",
    "queue a signal for a thread",
}  # fmt: skip


@LIMITS
def test_the_daemon_writes_below_its_folders_and_nowhere_else(limit: int | None, tmp_path: Path) -> None:
    _, done = what_succeeds("daemon", limit, tmp_path)
    assert done - {"raise its own limits"} == READS | WORKS | WRITES | {"unix"}


CONNECTS = """
import socket, sys
from pathlib import Path
from extractord.edges import confine
confine.confine_daemon([Path(sys.argv[1])], broker_port=int(sys.argv[2]))
for port in sys.argv[2:]:
    try:
        socket.create_connection(("127.0.0.1", int(port)), 5, ("", 0)).close()
    except OSError as error:
        print(type(error).__name__)
    else:
        print("connected")
"""


@pytest.mark.skipif(landlock.abi() < 4, reason="this kernel's Landlock cannot tell ports")
def test_the_daemon_reaches_its_brokers_port_and_no_other(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as broker, socket.create_server(("127.0.0.1", 0)) as other:
        ports = [str(listening.getsockname()[1]) for listening in (broker, other)]
        ran = subprocess.run(
            [sys.executable, "-c", CONNECTS, str(tmp_path), *ports],
            capture_output=True,
            text=True,
            check=True,
        )
    assert ran.stdout.split() == ["connected", "PermissionError"]


@LIMITS
def test_the_process_that_starts_the_others_writes_nothing(limit: int | None, tmp_path: Path) -> None:
    _, done = what_succeeds("server", limit, tmp_path)
    assert done - {"raise its own limits"} == READS | WORKS | {"tcp", "udp"}


TRIAL = """
import json, sys
from pathlib import Path
from extractord.edges import confine
from extractord.edges.confine.trial import is_enough, what_daemon_can, what_host_can
who, confined, own, beside = sys.argv[1], sys.argv[2] == "yes", Path(sys.argv[3]), Path(sys.argv[4])
if who == "host":
    level = confine.confine_host([Path(sys.prefix)]) if confined else "none"
    could = what_host_can()
else:
    level = confine.confine_daemon([own]) if confined else "none"
    could = what_daemon_can(own, beside)
print(json.dumps([is_enough(level, could), could]))
"""


def trial(who: str, confined: str, tmp_path: Path) -> tuple[bool, list[str]]:
    (tmp_path / "own").mkdir()
    command = [sys.executable, "-c", TRIAL, who, confined, str(tmp_path / "own"), str(tmp_path)]
    enough, could = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    return enough, could


@pytest.mark.parametrize("who", ["host", "daemon"])
def test_a_confined_process_finds_nothing_wrong_and_serves(who: str, tmp_path: Path) -> None:
    assert trial(who, "yes", tmp_path) == (True, [])


@pytest.mark.parametrize(
    ("who", "could"),
    [
        ("host", ["foreign read", "write", "local socket", "process", "exec"]),
        ("daemon", ["write beside its folders"]),
    ],
)
def test_one_that_is_not_finds_all_of_it_and_is_refused(who: str, could: list[str], tmp_path: Path) -> None:
    assert trial(who, "no", tmp_path) == (False, could)
