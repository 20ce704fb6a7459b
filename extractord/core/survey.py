"""What stands in a root: a row a memory, and the names of roots."""

from __future__ import annotations

from collections.abc import Iterable

from extractord.core.changeset import decode
from extractord.core.digesting import digest
from extractord.core.memory import Malformed, parse
from extractord.core.records import Known, Project
from extractord.core.surveyed import Surveyed
from extractord.errors import StoreError
from extractord.policy.requests import RootKind

__all__ = [
    "USER_ROOT",
    "Surveyed",
    "at_fault",
    "kind_of",
    "kinds_of",
    "known",
    "place_of",
    "root_of",
    "stem",
    "survey",
]

USER_ROOT = "user"


def kinds_of(project: Project) -> tuple[RootKind, ...]:
    """Given a run's project, return the kinds of roots that the run has: user first."""
    return tuple(RootKind) if project.is_project else (RootKind.USER,)


def root_of(kind: RootKind, project: Project) -> str:
    """Given a kind of root and the run's project, return the root's name, a folder of the memory."""
    return USER_ROOT if kind is RootKind.USER else f"projects/{project.slug}"


def place_of(place: str) -> tuple[str, str]:
    """Given a place below <memory>, return its root's name and the path below that, or nothing."""
    parts = place.split("/")
    length = 1 if parts[0] == USER_ROOT else 2
    return "/".join(parts[:length]), "/".join(parts[length:])


def kind_of(root: str) -> RootKind:
    """Given a root's name, return its kind."""
    return RootKind.USER if root == USER_ROOT else RootKind.PROJECT


def known(rows: Iterable[tuple[RootKind, Surveyed]]) -> tuple[Known, ...]:
    """Given the rows of a run's roots, return what its child is told of each memory that can be used."""
    return tuple(
        Known(root=kind, path=row.path, trust=row.trust, foreign=row.foreign, pinned=row.pinned)
        for kind, row in rows
        if row.trust is not None
    )


def survey(path: str, raw: bytes, mtime_ns: int) -> Surveyed:
    """Given a file's bytes, return its row, without what the ledger knows about it."""
    sha256 = digest(raw)
    try:
        text = decode(path, raw)
    except StoreError as error:
        return at_fault(path, len(raw), mtime_ns, str(error), sha256)
    memory = parse(text)
    if isinstance(memory, Malformed):
        return at_fault(path, len(raw), mtime_ns, f"{path}: {memory.reason}", sha256)
    return Surveyed(
        path=path,
        size=len(raw),
        mtime_ns=mtime_ns,
        sha256=sha256,
        name=memory.name,
        title=memory.name or memory.heading or stem(path),
        description=memory.description,
        type=memory.type,
    )


def at_fault(path: str, size: int, mtime_ns: int, fault: str, sha256: str = "") -> Surveyed:
    """Given why a file cannot be used, return its row: it is served as that, and never as empty."""
    return Surveyed(path=path, size=size, mtime_ns=mtime_ns, sha256=sha256, title=stem(path), fault=fault)


def stem(path: str) -> str:
    """Given a path, return its last part without `.md`."""
    return path.rpartition("/")[2].removesuffix(".md")
