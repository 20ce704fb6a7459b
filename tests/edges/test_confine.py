"""What code inside each process can reach once it is confined: on this kernel, and as on older ones."""

from __future__ import annotations

import json
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
    for name in ("a.md", "b.md", "c.md"):
        (root / name).write_text("fact")
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


@pytest.mark.parametrize("limit", [None, 1, 2])
def test_the_child_reads_its_roots_and_nothing_else_succeeds(limit: int | None, tmp_path: Path) -> None:
    level, done = what_succeeds("child", limit, tmp_path)
    assert done == {"read in root", "list root"}
    assert level == f"landlock{landlock.usable(limit)}+seccomp"


@pytest.mark.parametrize("limit", [None, 1, 2])
def test_the_host_has_the_network_and_threads_and_no_write_exec_or_foreign_read(
    limit: int | None, tmp_path: Path
) -> None:
    _, done = what_succeeds("host", limit, tmp_path)
    assert done - {"raise its own limits"} == {
        "tcp",
        "udp",
        "thread",
        "list root",
        "use what was open before",
    }


@pytest.mark.parametrize("limit", [None, 1, 2])
def test_the_daemon_writes_below_its_folders_and_nowhere_else(limit: int | None, tmp_path: Path) -> None:
    _, done = what_succeeds("daemon", limit, tmp_path)
    refused = {
        "write beside root",
        "symlink in root",
        "mkfifo in root",
        "ptrace",
        "tcp",
        "udp",
        "netlink",
    }
    assert not done & refused
    assert {"write in root", "rename in root", "unlink in root", "unix", "fork", "subprocess"} <= done
