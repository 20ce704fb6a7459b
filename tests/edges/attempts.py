"""Run inside a confined process: tries what an attacker would, prints what succeeded."""

import ctypes
import fcntl
import json
import mmap
import os
import resource
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from extractord.edges import confine

profile, limit, root, outside = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3], sys.argv[4]
root_fd = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
libc = ctypes.CDLL(None, use_errno=True)
x86 = os.uname().machine == "x86_64"


def syscall(number: int, *arguments: object) -> int:
    done = libc.syscall(number, *arguments)
    if done < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return int(done)


def at(name: str, flags: int) -> None:
    os.close(os.open(name, flags, 0o600, dir_fd=root_fd))


def openat2(below: int, path: str, flags: int = os.O_RDONLY, resolve: int = 0) -> None:
    how = ctypes.create_string_buffer(struct.pack("QQQ", flags, 0o600 if flags & os.O_CREAT else 0, resolve))
    os.close(syscall(437, below, path.encode(), how, ctypes.c_size_t(24)))


def nest_landlock() -> None:
    """A ruleset of one's own that allows all: it must give nothing back."""
    ruleset = ctypes.create_string_buffer(struct.pack("Q", 1 << 2))
    fd = syscall(444, ruleset, ctypes.c_size_t(8), 0)
    top = os.open("/", os.O_PATH)
    syscall(445, fd, 1, ctypes.create_string_buffer(struct.pack("=Qi", 1 << 2, top)), 0)
    syscall(446, fd, 0)
    Path(outside, "ledger.db").read_bytes()
    Path(outside, "zz").write_bytes(b"x")


def signal_by_pipe() -> None:
    """A pipe that sends whoever is named a signal when something can be read."""
    fcntl.fcntl(leaked_pipe, fcntl.F_SETOWN, os.getppid())
    fcntl.fcntl(leaked_pipe, fcntl.F_SETSIG, signal.SIGURG)


def queue_signal(number: int, *whom: int) -> None:
    told = ctypes.create_string_buffer(struct.pack("iii", signal.SIGURG, 0, -1), 128)
    syscall(number, *whom, signal.SIGURG, told)


def limit_of(pid: int) -> None:
    resource.prlimit(pid, resource.RLIMIT_CORE, resource.getrlimit(resource.RLIMIT_CORE))


def setxattrat(path: str) -> None:
    value = ctypes.create_string_buffer(b"1")
    given = ctypes.create_string_buffer(struct.pack("QII", ctypes.addressof(value), 1, 0), 16)
    syscall(463, -100, path.encode(), 0, b"user.x", given, ctypes.c_size_t(16))


def share_memory() -> None:
    segment = syscall(29 if x86 else 194, 0, ctypes.c_size_t(4096), 0o600)
    syscall(31 if x86 else 195, segment, 0, None)


def io_uring() -> None:
    os.close(syscall(425, 8, ctypes.create_string_buffer(120)))


def abstract_socket() -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as here:
        here.connect("\0extractord-attempt")


def write_memory_of(pid: int) -> None:
    with open(f"/proc/{pid}/mem", "r+b", buffering=0) as memory:
        memory.seek(0)


leaked = os.open(outside, os.O_RDONLY)
attempts: dict[str, Callable[[], object]] = {
    "read in root": lambda: at("a.md", os.O_RDONLY),
    "list root": lambda: os.listdir(root_fd),
    "write in root": lambda: at("new.md", os.O_WRONLY | os.O_CREAT),
    "overwrite in root": lambda: at("a.md", os.O_WRONLY),
    "openat2 write in root": lambda: openat2(root_fd, "new2.md", os.O_WRONLY | os.O_CREAT, 8),
    "openat2 ../": lambda: openat2(root_fd, "../outside/ledger.db"),
    "openat2 ../ beneath": lambda: openat2(root_fd, "../outside/ledger.db", resolve=8),
    "openat2 by a link": lambda: openat2(root_fd, "out.md", resolve=4),
    "read by a link": lambda: at("out.md", os.O_RDONLY),
    "truncate in root": lambda: os.truncate(f"{root}/a.md", 0),
    "truncate outside": lambda: os.truncate(f"{outside}/ledger.db", 0),
    "unlink in root": lambda: os.unlink("b.md", dir_fd=root_fd),
    "mkdir in root": lambda: os.mkdir("sub", dir_fd=root_fd),
    "rmdir in root": lambda: os.rmdir("empty", dir_fd=root_fd),
    "rename in root": lambda: os.rename("c.md", "d.md", src_dir_fd=root_fd, dst_dir_fd=root_fd),
    "rename out of root": lambda: os.rename(f"{root}/e.md", f"{outside}/e.md"),
    "symlink in root": lambda: os.symlink("a.md", "link.md", dir_fd=root_fd),
    "hard link in root": lambda: os.link("a.md", "hard.md", src_dir_fd=root_fd, dst_dir_fd=root_fd),
    "hard link into root": lambda: os.link(f"{outside}/ledger.db", f"{root}/l.md"),
    "mkfifo in root": lambda: os.mkfifo("fifo.md", dir_fd=root_fd),
    "chmod in root": lambda: os.chmod("a.md", 0o644, dir_fd=root_fd),
    "chmod outside": lambda: Path(outside, "ledger.db").chmod(0o666),
    "touch outside": lambda: os.utime(Path(outside, "ledger.db")),
    "setxattr in root": lambda: os.setxattr(f"{root}/a.md", "user.x", b"1"),
    "setxattr outside": lambda: os.setxattr(f"{outside}/ledger.db", "user.x", b"1"),
    "read the ledger": lambda: Path(outside, "ledger.db").read_bytes(),
    "read another project": lambda: Path(outside, "projects/other/a.md").read_bytes(),
    "read /etc/passwd": lambda: Path("/etc/passwd").read_bytes(),
    "read its own environment": lambda: Path("/proc/self/environ").read_bytes(),
    "read its parent's environment": lambda: Path(f"/proc/{os.getppid()}/environ").read_bytes(),
    "read by /proc/self/root": lambda: Path(f"/proc/self/root{outside}/ledger.db").read_bytes(),
    "list /": lambda: os.listdir("/"),
    "change directory": lambda: os.chdir("/"),
    "write beside root": lambda: Path(outside, "zz").write_bytes(b"x"),
    "write its own memory by /proc": lambda: write_memory_of(os.getpid()),
    "write its parent's memory by /proc": lambda: write_memory_of(os.getppid()),
    "write through a parent's descriptor": lambda: Path(f"/proc/{os.getppid()}/fd/9").write_bytes(b"x"),
    "tcp": lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM).close(),
    "udp": lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).close(),
    "unix": lambda: socket.socket(socket.AF_UNIX, socket.SOCK_STREAM).close(),
    "abstract socket": abstract_socket,
    "socketpair": lambda: [end.fileno() for end in socket.socketpair()],
    "netlink": lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW).close(),
    "io_uring": io_uring,
    "fork": lambda: os.fork() or os._exit(0),
    "exec": lambda: os.execv("/bin/true", ["true"]),
    "subprocess": lambda: subprocess.run(["/bin/true"], check=True),
    "thread": lambda: threading.Thread(target=int).start(),
    "ptrace": lambda: syscall(101 if x86 else 117, 0, 0, 0, 0),
    "read another's memory": lambda: syscall(310 if x86 else 270, os.getppid(), 0, 0, 0, 0, 0),
    "signal its parent": lambda: os.kill(os.getppid(), 0),
    "signal by a pipe": signal_by_pipe,
    "signal its parent by a thread": lambda: syscall(200 if x86 else 130, os.getppid(), 0),
    "signal its parent's thread": lambda: syscall(234 if x86 else 131, os.getppid(), os.getppid(), 0),
    "queue a signal": lambda: queue_signal(129 if x86 else 138, os.getppid()),
    "queue a signal for a thread": lambda: queue_signal(297 if x86 else 240, os.getppid(), os.getppid()),
    "abort itself": lambda: syscall(234 if x86 else 131, os.getpid(), threading.get_native_id(), 0),
    "set its parent's limits": lambda: limit_of(os.getppid()),
    "set its parent's priority": lambda: os.setpriority(
        os.PRIO_PROCESS, os.getppid(), os.getpriority(os.PRIO_PROCESS, os.getppid())
    ),
    "set its parent's processors": lambda: os.sched_setaffinity(
        os.getppid(), os.sched_getaffinity(os.getppid())
    ),
    "touch outside as of old": lambda: x86 and syscall(235, f"{outside}/ledger.db".encode(), None),
    "attributes by a newer call": lambda: setxattrat(f"{outside}/ledger.db"),
    "shared memory": share_memory,
    "pidfd of its parent": lambda: os.close(os.pidfd_open(os.getppid())),
    "memfd": lambda: os.memfd_create("x"),
    "new namespaces": lambda: syscall(272 if x86 else 97, 0x10000000),
    "mount": lambda: syscall(165 if x86 else 40, None, b"/", None, 0x5000, None),
    "bpf": lambda: syscall(321 if x86 else 280, 0, 0, 0),
    "keyctl": lambda: syscall(250 if x86 else 219, 0, -3, 1),
    "nest Landlock": nest_landlock,
    "map outside": lambda: mmap.mmap(os.open(f"{outside}/ledger.db", os.O_RDWR), 0),
    "raise its own limits": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096)),
    "use what was open before": lambda: os.fstat(leaked),
}
leaked_pipe = os.pipe()[0]
match profile:
    case "child":
        level = confine.confine_child([root_fd], [], limit)
        leaked_pipe = 0
    case "host":
        level = confine.confine_host([Path(sys.prefix)], limit)
    case "daemon":
        level = confine.confine_daemon([Path(root)], limit=limit)
    case "server":
        level = confine.confine_server(limit)
    case _:
        level = "none"
skipped = set()
if profile not in ("child", "host"):
    skipped |= {"exec"}  # it would succeed, and be the last
if profile == "none":
    # They would change what follows, or reach who waits for this.
    skipped |= {"mount", "new namespaces", "ptrace", "nest Landlock", "write through a parent's descriptor"}
done = []
for name, attempt in attempts.items():
    if name in skipped:
        continue
    try:
        attempt()
    except Exception:  # noqa: BLE001, S112 - however it was refused
        continue
    done.append(name)
print(json.dumps([level, done]))
