"""What the service's supervisor is told: readiness, its state in words, that it lives; sd_notify(3)."""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections.abc import Mapping
from typing import Self

_SEND_S = 0.5
"""A supervisor that takes nothing for so long is not waited for."""


class Notify:
    """The socket that systemd, or what stands for it, gave to this process; mute where there is none.

    The socket is made once; its address is looked up at each word, since a supervisor may begin anew.
    Both are within what the confined daemon may do: it keeps AF_UNIX, and sending is no write.
    """

    def __init__(self, address: str = "", watchdog_s: float = 0.0) -> None:
        """`address` is a path, or `@` and an abstract name; `watchdog_s` is 0 where nobody waits."""
        self.watchdog_s = watchdog_s
        self._address = f"\0{address[1:]}" if address.startswith("@") else address
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) if address else None
        if self._socket is not None:
            self._socket.settimeout(_SEND_S)

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> Self:
        """Given the environment, return what it says; a watchdog of another process is none of ours."""
        address = environ.get("NOTIFY_SOCKET", "")
        if address[:1] not in ("/", "@"):
            return cls()
        usec = environ.get("WATCHDOG_USEC", "")
        is_ours = environ.get("WATCHDOG_PID", "") in ("", str(os.getpid()))
        return cls(address, int(usec) / 1_000_000 if usec.isdigit() and is_ours else 0.0)

    def say(self, *words: str) -> None:
        """Say one or more assignments at once; nobody there, or nobody listening, is no fault of ours."""
        if self._socket is not None:
            with contextlib.suppress(OSError):
                self._socket.sendto("\n".join(words).encode("utf-8", "replace"), self._address)

    def ready(self, status: str) -> None:
        """It serves, from now on or again."""
        self.say("READY=1", _status(status))

    def reloading(self) -> None:
        """It rereads its configuration; `ready` follows. The moment is for Type=notify-reload."""
        self.say("RELOADING=1", f"MONOTONIC_USEC={time.monotonic_ns() // 1000}")

    def stopping(self, status: str) -> None:
        """It ends."""
        self.say("STOPPING=1", _status(status))

    def status(self, status: str) -> None:
        """How it is, in a line for people."""
        self.say(_status(status))

    def alive(self) -> None:
        """It goes on."""
        self.say("WATCHDOG=1")

    def close(self) -> None:
        """Let the socket go."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None


def _status(text: str) -> str:
    return "STATUS=" + " ".join(text.split())
