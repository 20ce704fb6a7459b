"""Whether a path that a transcript names lies below a root, by its words alone."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable


def under(path: str, roots: Iterable[str], home: str) -> bool:
    """Given a recorded path, return True if it is one of the roots or lies below one.

    Compared component by component after `~` and `.` and `..`; neither needs to exist. A path that
    is still relative lies nowhere. Roots come as configured and as real paths.
    """
    return below(path, roots, home) is not None


def below(path: str, roots: Iterable[str], home: str) -> str | None:
    """Given the same as `under`, return the path below the first root that it lies under, with `/`."""
    parts = _parts(path, home)
    if parts is None:
        return None
    for root in (_parts(root, home) for root in roots):
        if root is not None and parts[: len(root)] == root:
            return "/".join(parts[len(root) :])
    return None


def _parts(path: str, home: str) -> list[str] | None:
    if path == "~" or path.startswith("~/"):
        path = home + path[1:]
    if not path.startswith("/"):
        return None
    return [part for part in posixpath.normpath(path).split("/") if part]
