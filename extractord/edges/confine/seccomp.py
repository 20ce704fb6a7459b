"""seccomp by prctl: which system calls this process can still make.

Numbers are those of the kernel's tables, `arch/x86/entry/syscalls/syscall_64.tbl` and
`include/uapi/asm-generic/unistd.h`.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
from collections.abc import Collection, Mapping

_SET_SECCOMP = 22
_MODE_FILTER = 2
_LOAD_WORD = 0x20
_JUMP_EQUAL = 0x15
_JUMP_ANY_BIT = 0x45
_RETURN = 0x06
_KILL = 0x80000000
_ALLOW = 0x7FFF0000
_ERRNO = 0x00050000
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT, _SECOND_ARGUMENT = 0, 4, 16, 24
_X32 = 0x40000000
_CLONE_THREAD = 0x00010000
_ITSELF = 0
"""The pid by which a process means itself."""

_HARMLESS_FCNTL = (0, 1, 2, 3, 4, 1030)
"""F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_CLOEXEC: not F_SETOWN, which sends signals."""

_SIGNALLING_FCNTL = (8, 10, 15)
"""F_SETOWN, F_SETSIG, F_SETOWN_EX."""

_AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_COLUMN = {"x86_64": 0, "aarch64": 1}

_NUMBERS: Mapping[str, tuple[int | None, int | None]] = {
    # (x86-64, aarch64), None where the architecture has no such call
    "read": (0, 63), "write": (1, 64), "readv": (19, 65), "writev": (20, 66), "pread64": (17, 67),
    "close": (3, 57), "close_range": (436, 436), "fstat": (5, 80), "newfstatat": (262, 79),
    "statx": (332, 291), "lseek": (8, 62), "openat": (257, 56), "openat2": (437, 437),
    "getdents64": (217, 61), "fcntl": (72, 25), "dup": (32, 23), "mmap": (9, 222), "munmap": (11, 215),
    "mprotect": (10, 226), "mremap": (25, 216), "madvise": (28, 233), "brk": (12, 214),
    "rt_sigaction": (13, 134), "rt_sigprocmask": (14, 135), "rt_sigreturn": (15, 139),
    "sigaltstack": (131, 132), "restart_syscall": (219, 128), "exit": (60, 93), "exit_group": (231, 94),
    "futex": (202, 98), "clock_gettime": (228, 113), "clock_nanosleep": (230, 115), "nanosleep": (35, 101),
    "gettimeofday": (96, 169), "getrandom": (318, 278), "poll": (7, None), "ppoll": (271, 73),
    "getpid": (39, 172), "gettid": (186, 178), "getuid": (102, 174), "geteuid": (107, 175),
    "getgid": (104, 176), "getegid": (108, 177), "sched_yield": (24, 124),
    "sched_getaffinity": (204, 123), "rseq": (334, 293), "set_robust_list": (273, 99),
    "membarrier": (324, 283), "sysinfo": (99, 179), "tgkill": (234, 131),
    "execve": (59, 221), "execveat": (322, 281), "fork": (57, None), "vfork": (58, None),
    "clone": (56, 220), "clone3": (435, 435), "ptrace": (101, 117), "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271), "link": (86, None), "linkat": (265, 37), "symlink": (88, None),
    "symlinkat": (266, 36), "mknod": (133, None), "mknodat": (259, 33), "chmod": (90, None),
    "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452), "chown": (92, None),
    "fchown": (93, 55), "lchown": (94, None), "fchownat": (260, 54), "setxattr": (188, 5),
    "lsetxattr": (189, 6), "fsetxattr": (190, 7), "removexattr": (197, 14), "lremovexattr": (198, 15),
    "fremovexattr": (199, 16), "mount": (165, 40), "umount2": (166, 39), "move_mount": (429, 429),
    "open_tree": (428, 428), "fsopen": (430, 430), "fsmount": (432, 432), "pivot_root": (155, 41),
    "chroot": (161, 51), "unshare": (272, 97), "setns": (308, 268), "bpf": (321, 280),
    "perf_event_open": (298, 241), "userfaultfd": (323, 282), "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426), "io_uring_register": (427, 427), "keyctl": (250, 219),
    "add_key": (248, 217), "request_key": (249, 218), "kexec_load": (246, 104),
    "init_module": (175, 105), "finit_module": (313, 273), "delete_module": (176, 106),
    "open_by_handle_at": (304, 265), "pidfd_getfd": (438, 438), "memfd_create": (319, 279),
    "personality": (135, 92), "socket": (41, 198), "utimensat": (280, 88),
    "truncate": (76, 45), "ftruncate": (77, 46), "kill": (62, 129), "pidfd_send_signal": (424, 424),
    "tkill": (200, 130), "rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240),
    "prlimit64": (302, 261), "setpriority": (141, 140), "ioprio_set": (251, 30),
    "sched_setparam": (142, 118), "sched_setscheduler": (144, 119), "sched_setattr": (314, 274),
    "sched_setaffinity": (203, 122), "process_madvise": (440, 440), "process_mrelease": (448, 448),
    "move_pages": (279, 239), "migrate_pages": (256, 238), "kcmp": (312, 272), "shmget": (29, 194),
    "shmat": (30, 196), "semget": (64, 190), "msgget": (68, 186), "mq_open": (240, 180),
    "mq_unlink": (241, 181), "fsconfig": (431, 431), "fspick": (433, 433), "mount_setattr": (442, 442),
    "open_tree_attr": (467, 467), "kexec_file_load": (320, 294), "utime": (132, None),
    "utimes": (235, None), "futimesat": (261, None), "setxattrat": (463, 463),
    "removexattrat": (466, 466), "file_setattr": (469, 469),
}  # fmt: skip

CHILD = (
    "read", "write", "readv", "writev", "pread64", "close", "close_range", "fstat", "newfstatat", "statx",
    "lseek", "openat", "openat2", "getdents64", "dup", "mmap", "munmap", "mprotect", "mremap",
    "madvise", "brk", "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigaltstack", "restart_syscall",
    "exit", "exit_group", "futex", "clock_gettime", "clock_nanosleep", "nanosleep", "gettimeofday",
    "getrandom", "poll", "ppoll", "getpid", "gettid", "getuid", "geteuid", "getgid", "getegid",
    "sched_yield", "sched_getaffinity", "rseq", "set_robust_list", "membarrier", "sysinfo",
)  # fmt: skip
"""All that a conversation over pipes and a read-only view needs of the kernel."""

NOBODY = (
    "ptrace", "process_vm_readv", "process_vm_writev", "mount", "umount2", "move_mount", "open_tree",
    "fsopen", "fsmount", "pivot_root", "chroot", "unshare", "setns", "bpf", "perf_event_open", "userfaultfd",
    "io_uring_setup", "io_uring_enter", "io_uring_register", "keyctl", "add_key", "request_key", "kexec_load",
    "init_module", "finit_module", "delete_module", "open_by_handle_at", "pidfd_getfd", "personality",
    "mknod", "mknodat", "fsconfig", "fspick", "mount_setattr", "open_tree_attr", "kexec_file_load",
    "process_madvise", "process_mrelease", "move_pages", "migrate_pages", "kcmp", "setpriority", "ioprio_set",
    "sched_setparam", "sched_setscheduler", "sched_setattr", "sched_setaffinity", "shmget", "shmat", "semget",
    "msgget", "mq_open", "mq_unlink", "utime", "utimes", "futimesat", "setxattrat", "removexattrat",
    "file_setattr",
)  # fmt: skip
"""What no process of ours has a use for."""

DAEMON = (
    *NOBODY, "truncate", "symlink", "symlinkat", "chmod", "fchmodat", "fchmodat2", "chown", "lchown",
    "fchownat", "setxattr", "lsetxattr", "removexattr", "lremovexattr", "utimensat", "memfd_create",
    "pidfd_send_signal",
)  # fmt: skip
"""What the daemon has no use for besides: by a path they change what Landlock does not watch."""

HOST = (
    *NOBODY, "execve", "execveat", "fork", "vfork", "link", "linkat", "symlink", "symlinkat", "chmod",
    "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat", "setxattr", "lsetxattr",
    "fsetxattr", "removexattr", "lremovexattr", "fremovexattr", "memfd_create", "utimensat", "truncate",
    "ftruncate", "kill", "tkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_send_signal",
)  # fmt: skip
"""What the model host has no use for besides."""


def supported() -> bool:
    """True on an architecture whose numbers stand here."""
    return platform.machine() in _AUDIT


def allow_only(names: Collection[str]) -> None:
    """Every other call fails with EPERM from now on, for ever. Raise OSError where refused.

    Of `fcntl` that is left which looks at a descriptor, copies it or sets its flags.
    """
    body = [_jump(_JUMP_EQUAL, _number("fcntl"), 0, len(_HARMLESS_FCNTL) * 2 + 2)]
    body += [_op(_LOAD_WORD, _SECOND_ARGUMENT)]
    for command in _HARMLESS_FCNTL:
        body += [_jump(_JUMP_EQUAL, command, 0, 1), _op(_RETURN, _ALLOW)]
    body += [_op(_RETURN, _ERRNO | errno.EPERM)]
    for number in _numbers(names):
        body += [_jump(_JUMP_EQUAL, number, 0, 1), _op(_RETURN, _ALLOW)]
    _install([*body, _op(_RETURN, _ERRNO | errno.EPERM)])


def refuse(names: Collection[str], *, families: Collection[int], threads_only: bool) -> None:
    """These calls fail with EPERM; so do other families' sockets, signals by descriptor, others' limits.

    `threads_only` lets `clone` make threads and no processes, hides `clone3`, whose flags a filter
    cannot read, so that the C library falls back, and leaves signals to own threads alone. Raise
    OSError where refused.
    """
    body = []
    for number in _numbers(names):
        body += [_jump(_JUMP_EQUAL, number, 0, 1), _op(_RETURN, _ERRNO | errno.EPERM)]
    if threads_only:
        body += [
            _jump(_JUMP_EQUAL, _number("clone3"), 0, 1),
            _op(_RETURN, _ERRNO | errno.ENOSYS),
            _jump(_JUMP_EQUAL, _number("clone"), 0, 4),
            _op(_LOAD_WORD, _FIRST_ARGUMENT),
            _jump(_JUMP_ANY_BIT, _CLONE_THREAD, 0, 1),
            _op(_RETURN, _ALLOW),
            _op(_RETURN, _ERRNO | errno.EPERM),
        ]
    body += [
        _jump(_JUMP_EQUAL, _number("fcntl"), 0, len(_SIGNALLING_FCNTL) * 2 + 2),
        _op(_LOAD_WORD, _SECOND_ARGUMENT),
    ]
    for command in _SIGNALLING_FCNTL:
        body += [_jump(_JUMP_EQUAL, command, 0, 1), _op(_RETURN, _ERRNO | errno.EPERM)]
    body += [_op(_RETURN, _ALLOW)]
    body += _only("socket", families)
    body += _only("prlimit64", (_ITSELF,))
    if threads_only:
        body += _only("tgkill", (os.getpid(),))
    _install([*body, _op(_RETURN, _ALLOW)])


def _only(name: str, first: Collection[int]) -> list[bytes]:
    """A call fails with EPERM unless its first argument is one of these."""
    body = [_jump(_JUMP_EQUAL, _number(name), 0, len(first) * 2 + 2), _op(_LOAD_WORD, _FIRST_ARGUMENT)]
    for value in sorted(first):
        body += [_jump(_JUMP_EQUAL, value, 0, 1), _op(_RETURN, _ALLOW)]
    return [*body, _op(_RETURN, _ERRNO | errno.EPERM)]


def exec_of_nothing() -> None:
    """Ask for an exec that cannot be: PermissionError where a filter refuses it, else another OSError."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall(_number("execve"), None, None, None)
    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _numbers(names: Collection[str]) -> list[int]:
    column = _COLUMN[platform.machine()]
    return sorted(number for name in names if (number := _NUMBERS[name][column]) is not None)


def _number(name: str) -> int:
    (number,) = _numbers((name,))
    return number


def _op(code: int, value: int) -> bytes:
    return struct.pack("HBBI", code, 0, 0, value)


def _jump(code: int, value: int, if_so: int, if_not: int) -> bytes:
    return struct.pack("HBBI", code, if_so, if_not, value)


def _install(body: list[bytes]) -> None:
    """The kernel's other call tables (32-bit, x32) end the process: their numbers mean other calls."""
    begin = [
        _op(_LOAD_WORD, _ARCHITECTURE),
        _jump(_JUMP_EQUAL, _AUDIT[platform.machine()], 1, 0),
        _op(_RETURN, _KILL),
        _op(_LOAD_WORD, _NUMBER),
    ]
    if platform.machine() == "x86_64":
        begin += [_jump(_JUMP_ANY_BIT, _X32, 0, 1), _op(_RETURN, _KILL)]
    program = b"".join([*begin, *body])
    code = ctypes.create_string_buffer(program, len(program))
    fprog = struct.pack("HP", len(program) // 8, ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_SET_SECCOMP, _MODE_FILTER, fprog, 0, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
