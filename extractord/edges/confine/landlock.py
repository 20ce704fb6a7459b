"""Landlock by its three system calls: which files, ports and processes this one can still reach.

Source of the rights and of the ABI in which each came: landlock(7) and the kernel's
Documentation/userspace-api/landlock.rst. The calls have one number on x86-64 and aarch64.
"""

from __future__ import annotations

import ctypes
import os
import stat
from collections.abc import Iterable
from enum import IntFlag

_CREATE_RULESET = 444
_ADD_RULE = 445
_RESTRICT_SELF = 446
_VERSION = 1
_RULE_PATH_BENEATH = 1
_RULE_NET_PORT = 2
_NO_NEW_PRIVS = 38
_NEWEST_ABI = 7
"""The newest ABI whose rights are written down here; a kernel that knows more is asked for these."""


class Files(IntFlag):
    """Rights on files, as the kernel numbers them."""

    EXECUTE = 1 << 0
    WRITE_FILE = 1 << 1
    READ_FILE = 1 << 2
    READ_DIR = 1 << 3
    REMOVE_DIR = 1 << 4
    REMOVE_FILE = 1 << 5
    MAKE_CHAR = 1 << 6
    MAKE_DIR = 1 << 7
    MAKE_REG = 1 << 8
    MAKE_SOCK = 1 << 9
    MAKE_FIFO = 1 << 10
    MAKE_BLOCK = 1 << 11
    MAKE_SYM = 1 << 12
    REFER = 1 << 13
    TRUNCATE = 1 << 14
    IOCTL_DEV = 1 << 15


READ = Files.READ_FILE | Files.READ_DIR
WRITE = (
    Files.WRITE_FILE
    | Files.REMOVE_DIR
    | Files.REMOVE_FILE
    | Files.MAKE_CHAR
    | Files.MAKE_DIR
    | Files.MAKE_REG
    | Files.MAKE_SOCK
    | Files.MAKE_FIFO
    | Files.MAKE_BLOCK
    | Files.MAKE_SYM
    | Files.REFER
    | Files.TRUNCATE
)
KEEP = (
    Files.WRITE_FILE
    | Files.REMOVE_DIR
    | Files.REMOVE_FILE
    | Files.MAKE_DIR
    | Files.MAKE_REG
    | Files.REFER
    | Files.TRUNCATE
)
"""What the one writer needs below its own folders: no links, devices, sockets or pipes."""
ALL = READ | WRITE | Files.EXECUTE | Files.IOCTL_DEV
_OF_FILES = Files.EXECUTE | Files.WRITE_FILE | Files.READ_FILE | Files.TRUNCATE | Files.IOCTL_DEV
"""What can be allowed on a file; the kernel refuses a rule with more."""
NETWORK = 0b11
"""Bind and connect, TCP (ABI 4)."""
_BIND, _CONNECT = 0b01, 0b10
_ANY_FREE_PORT = 0
SCOPES = 0b11
"""Abstract Unix sockets and signals to the outside (ABI 6)."""

_CAME_WITH = {Files.REFER: 2, Files.TRUNCATE: 3, Files.IOCTL_DEV: 5}
_NETWORK_ABI = 4
_SCOPES_ABI = 6


class _Ruleset(ctypes.Structure):
    _fields_ = (
        ("files", ctypes.c_uint64),
        ("network", ctypes.c_uint64),
        ("scopes", ctypes.c_uint64),
    )


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


class _NetPort(ctypes.Structure):
    _fields_ = (("allowed", ctypes.c_uint64), ("port", ctypes.c_uint64))


_libc = ctypes.CDLL(None, use_errno=True)


def abi() -> int:
    """Return the kernel's Landlock ABI, 0 where it has none."""
    return max(0, int(_libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _VERSION)))


def known(rights: Files, version: int) -> Files:
    """Given rights, return those that the ABI knows."""
    return Files(sum(right for right in Files if right in rights and _CAME_WITH.get(right, 1) <= version))


def restrict(
    handled: Files,
    allowed: Iterable[tuple[int, Files]],
    *,
    network: bool,
    scoped: bool,
    version: int,
    ports: Iterable[int] = (),
) -> None:
    """Give up for ever the handled rights, but for those allowed beneath a descriptor.

    `network` gives up TCP, but for connections to `ports`; `scoped` signals and abstract sockets to
    the outside; both only where the ABI `version` (1 to 7) has them. Binds this thread and its
    children: call it before any other starts. Raise OSError where the kernel refuses.
    """
    handled = known(handled, version)
    ruleset = _Ruleset(
        handled,
        NETWORK if network and version >= _NETWORK_ABI else 0,
        SCOPES if scoped and version >= _SCOPES_ABI else 0,
    )
    size = 8 if version < _NETWORK_ABI else 16 if version < _SCOPES_ABI else 24
    fd = _checked(_libc.syscall(_CREATE_RULESET, ctypes.byref(ruleset), ctypes.c_size_t(size), 0))
    try:
        for parent, rights in allowed:
            fitting = rights if stat.S_ISDIR(os.fstat(parent).st_mode) else rights & _OF_FILES
            rule = _PathBeneath(known(fitting, version) & handled, parent)
            _checked(_libc.syscall(_ADD_RULE, fd, _RULE_PATH_BENEATH, ctypes.byref(rule), 0))
        reachable = [(port, _CONNECT) for port in ports]
        if reachable:  # a client may ask for a free port before it connects
            reachable.append((_ANY_FREE_PORT, _BIND))
        for port, right in reachable if network and version >= _NETWORK_ABI else ():
            reached = _NetPort(right, port)
            _checked(_libc.syscall(_ADD_RULE, fd, _RULE_NET_PORT, ctypes.byref(reached), 0))
        no_new_privileges()
        _checked(_libc.syscall(_RESTRICT_SELF, fd, 0))
    finally:
        os.close(fd)


def no_new_privileges() -> None:
    """From now on no program that is started gains a privilege. Raise OSError where refused."""
    _checked(_libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0))


def usable(limit: int | None = None) -> int:
    """Return the ABI to work with: the kernel's, at most the newest known here and the limit given."""
    return min(abi(), _NEWEST_ABI, _NEWEST_ABI if limit is None else limit)


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
