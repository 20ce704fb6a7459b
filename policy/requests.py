"""What may be asked, what was found out about it, and the law that it is judged by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum


class Trust(IntEnum):
    """How far a memory's words can be believed; ordered (DESIGN §5)."""

    UNTRUSTED = 0
    INFERRED = 1
    STATED = 2
    CONFIRMED = 3

    @property
    def word(self) -> str:
        """The lower-case word that files and tables use."""
        return self.name.lower()


class RootKind(StrEnum):
    """Which memory root: what follows the person, or what belongs to a project."""

    USER = "user"
    PROJECT = "project"


@dataclass(frozen=True, slots=True)
class Read:
    """Look at a memory, or at a folder of them; `path` is absolute and virtual."""

    path: str


@dataclass(frozen=True, slots=True)
class Write:
    """Create or overwrite a memory with `content`."""

    path: str
    content: str


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the single occurrence of `old` by `new`."""

    path: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Remove:
    """Remove memories, all or none; what an `rm` command becomes."""

    paths: tuple[str, ...]


Request = Read | Write | Edit | Remove


class Found(StrEnum):
    """What stands at a path, seen through descriptors and never through a link."""

    NOTHING = "nothing"
    FILE = "file"
    DIRECTORY = "directory"
    SYMLINK = "symlink"
    SPECIAL = "special"
    BLOCKED = "blocked"
    """A parent is a link, a file, a mount or a folder of somebody else."""


@dataclass(frozen=True, slots=True)
class PathFacts:
    """What the disk says about one path."""

    found: Found = Found.NOTHING
    links: int = 1
    own: bool = True
    same_device: bool = True
    twin: str | None = None
    """Another entry, anywhere along the path, with the same skeleton and other bytes."""
    size: int = 0
    text: str | None = None
    """The text that is there now, without our stamps; None where there is none to read."""
    trust: Trust | None = None
    """The trust of the memory that is there now; None where there is none."""
    foreign: bool = False
    """The ledger does not know these bytes: a person or another program wrote them."""
    pinned: bool = False


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What the run knows about the request: its evidence and how much it did already."""

    trust: Trust
    """What the cited evidence and the attribution of words come to."""
    reason: str = ""
    """Why that trust and not more, a sentence for the model."""
    removals: Mapping[RootKind, int] = field(default_factory=dict)
    """Removals of this run so far, this request included, by root."""
    memories: Mapping[RootKind, int] = field(default_factory=dict)
    """Memories in each root when the run began."""
    has_project: bool = True
    """False where the session's directory is no project ($HOME, /, the temporary folder)."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts by path, as written in the request, and those of the run, if there is one."""

    paths: Mapping[str, PathFacts] = field(default_factory=dict)
    run: RunFacts | None = None


@dataclass(frozen=True, slots=True)
class Root:
    """A prefix under which paths may lie: `/memory/user`, or a real directory.

    `kind` is None for a root of no kind (`judge --root`): rules about types give no opinion.
    """

    prefix: str
    kind: RootKind | None = None


@dataclass(frozen=True, slots=True)
class Law:
    """The roots and the limits that a request is judged by."""

    roots: tuple[Root, ...]
    file_bytes: int = 64 * 1024
    read_bytes: int = 256 * 1024
    path_bytes: int = 1024
    segment_bytes: int = 200
    segments: int = 8
    front_matter_bytes: int = 4 * 1024


VIRTUAL_ROOTS = (
    Root("/memory/user", RootKind.USER),
    Root("/memory/project", RootKind.PROJECT),
)
