"""What stands in a root: a row a memory, and the names of roots."""

from __future__ import annotations

from msgspec import Struct

from extractord.core.changeset import decode, digest
from extractord.core.index import Listed
from extractord.core.memory import Malformed, parse
from extractord.core.records import Project
from extractord.errors import StoreError
from extractord.policy.requests import RootKind, Trust

USER_ROOT = "user"


class Surveyed(Struct, frozen=True, kw_only=True):
    """One Markdown file of a root, as a list or the brief's manifest names it."""

    path: str
    size: int
    """Bytes."""
    mtime_ns: int
    sha256: str = ""
    """Of the bytes; empty where they could not be read."""
    name: str = ""
    title: str = ""
    """The name, else the first heading, else the file's name."""
    description: str = ""
    type: str = ""
    trust: Trust | None = None
    """Of these very bytes; None where the file is at fault."""
    foreign: bool = False
    """The ledger does not know these bytes: a person or another program wrote them."""
    pinned: bool = False
    withheld: str = ""
    """Why it is in no index, brief or injection until a person accepts it."""
    fault: str = ""
    """Why it cannot be used: a sentence that names the file."""

    @property
    def listed(self) -> Listed:
        """The memory as the index names it."""
        return Listed(path=self.path, title=self.title, hook=self.description, fault=self.fault)


def kinds_of(project: Project) -> tuple[RootKind, ...]:
    """Given a run's project, return the kinds of roots that the run has: user first."""
    return tuple(RootKind) if project.is_project else (RootKind.USER,)


def root_of(kind: RootKind, project: Project) -> str:
    """Given a kind of root and the run's project, return the root's name, a folder of the memory."""
    return USER_ROOT if kind is RootKind.USER else f"projects/{project.slug}"


def kind_of(root: str) -> RootKind:
    """Given a root's name, return its kind."""
    return RootKind.USER if root == USER_ROOT else RootKind.PROJECT


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
