"""How many files this process may have open: each memory root is one, as long as it lives."""

from __future__ import annotations

import contextlib
import resource

_WANTED = 65_536


def allow_many() -> None:
    """Take as many as the system lets this user have, up to 65,536; 1,024 are soon used up.

    Programs that wait with select(2) would be at fault above 1,024; nothing here does.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _WANTED if hard == resource.RLIM_INFINITY else min(hard, _WANTED)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(OSError, ValueError):  # macOS has a limit besides
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
