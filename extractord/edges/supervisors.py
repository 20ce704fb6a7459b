"""Who starts units on this machine, and what of a unit it can give: asked, never guessed."""

from __future__ import annotations

import getpass
import re
import shutil
import subprocess
from collections.abc import Sequence

_ASK_S = 20.0
_THERE = frozenset({"running", "degraded", "starting", "initializing", "maintenance", "stopping"})


def has_systemd(*, is_system: bool) -> bool:
    """True where the manager of this user, or of the system, answers."""
    words = ("systemctl", *(() if is_system else ("--user",)), "is-system-running")
    ended = _asked(words)
    return ended is not None and ended.stdout.strip() in _THERE


def state_of(service: str, *, is_system: bool) -> str:
    """What the manager says of a service: active, failed, …; empty where it does not answer."""
    ended = _asked(("systemctl", *(() if is_system else ("--user",)), "is-active", service))
    return "" if ended is None else ended.stdout.strip()


def has_launchd() -> bool:
    """True where there is a launchd to be told."""
    return shutil.which("launchctl") is not None


def agent_of(uid: int, label: str) -> str:
    """What launchd says of a user's agent: running, waiting, …; empty where it knows of none."""
    ended = _asked(("launchctl", "print", f"gui/{uid}/{label}"))
    if ended is None or ended.returncode:
        return ""
    found = re.search(r"(?m)^\s*state = (.+)$", ended.stdout)
    return found[1].strip() if found else "loaded"


def has_namespaces(*, has_manager: bool) -> bool:
    """True where a service of this user's can be given a namespace of its own.

    The manager itself is let try, since the kernel may ask who it is that wants one (AppArmor's
    rule); where there is none, this process tries.
    """
    words: tuple[str, ...] = ("unshare", "--user", "--map-root-user", "--mount", "true")
    if has_manager:
        words = ("systemd-run", "--user", "--wait", "--quiet", "--collect", "-pPrivateUsers=yes",
                 "-pProtectSystem=strict", "true")  # fmt: skip
    ended = _asked(words)
    return ended is not None and ended.returncode == 0


def account() -> str:
    """The name of this user."""
    return getpass.getuser()


def _asked(words: Sequence[str]) -> subprocess.CompletedProcess[str] | None:
    try:
        return subprocess.run(  # noqa: S603 - fixed words
            words, capture_output=True, text=True, check=False, timeout=_ASK_S, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
