"""Run inside a confined process: tries what an attacker would, prints what succeeded."""

import ctypes
import json
import os
import resource
import socket
import subprocess
import sys
import threading
from pathlib import Path

from extractord.edges import confine

profile, limit, root, outside = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3], sys.argv[4]
root_fd = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
libc = ctypes.CDLL(None, use_errno=True)


def syscall(number: int, *arguments: int) -> None:
    if libc.syscall(number, *arguments) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def at(name: str, flags: int) -> None:
    os.close(os.open(name, flags, 0o600, dir_fd=root_fd))


attempts = {
    "read in root": lambda: at("a.md", os.O_RDONLY),
    "list root": lambda: os.listdir(root_fd),
    "write in root": lambda: at("new.md", os.O_WRONLY | os.O_CREAT),
    "overwrite in root": lambda: at("a.md", os.O_WRONLY),
    "truncate in root": lambda: os.truncate(f"{root}/a.md", 0),
    "unlink in root": lambda: os.unlink("b.md", dir_fd=root_fd),
    "rename in root": lambda: os.rename("c.md", "d.md", src_dir_fd=root_fd, dst_dir_fd=root_fd),
    "symlink in root": lambda: os.symlink("a.md", "link.md", dir_fd=root_fd),
    "hard link in root": lambda: os.link("a.md", "hard.md", src_dir_fd=root_fd, dst_dir_fd=root_fd),
    "mkfifo in root": lambda: os.mkfifo("fifo.md", dir_fd=root_fd),
    "chmod in root": lambda: os.chmod("a.md", 0o644, dir_fd=root_fd),
    "setxattr in root": lambda: os.setxattr(f"{root}/a.md", "user.x", b"1"),
    "read the ledger": lambda: Path(outside, "ledger.db").read_bytes(),
    "read another project": lambda: Path(outside, "projects/other/a.md").read_bytes(),
    "read /etc/passwd": lambda: Path("/etc/passwd").read_bytes(),
    "read its own environment": lambda: Path("/proc/self/environ").read_bytes(),
    "list /": lambda: os.listdir("/"),
    "write beside root": lambda: Path(outside, "zz").write_bytes(b"x"),
    "tcp": lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM).close(),
    "udp": lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).close(),
    "unix": lambda: socket.socket(socket.AF_UNIX, socket.SOCK_STREAM).close(),
    "netlink": lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW).close(),
    "fork": lambda: os.fork() or os._exit(0),
    "exec": lambda: os.execv("/bin/true", ["true"]),
    "subprocess": lambda: subprocess.run(["/bin/true"], check=True),
    "thread": lambda: threading.Thread(target=int).start(),
    "ptrace": lambda: syscall({"x86_64": 101, "aarch64": 117}[os.uname().machine], 0, 0, 0, 0),
    "signal its parent": lambda: os.kill(os.getppid(), 0),
    "memfd": lambda: os.memfd_create("x"),
    "raise its own limits": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096)),
    "use what was open before": lambda: os.fstat(leaked),
}
leaked = os.open(outside, os.O_RDONLY)
match profile:
    case "child":
        level = confine.confine_child([root_fd], [], limit)
    case "host":
        level = confine.confine_host([Path(sys.prefix)], limit)
    case "daemon":
        level = confine.confine_daemon([Path(root)], network=False, limit=limit)
done = []
for name, attempt in attempts.items():
    if name == "exec" and profile == "daemon":
        continue
    try:
        attempt()
    except Exception:  # noqa: BLE001, S112 - however it was refused
        continue
    done.append(name)
print(json.dumps([level, done]))
