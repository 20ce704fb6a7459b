"""A row for each file of a root, as a list or the brief's manifest names it."""

from __future__ import annotations

from msgspec import Struct

from extractord.core.index import Listed
from extractord.policy.requests import Trust


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


class Remembered(Struct, frozen=True, kw_only=True):
    """A row by the bytes alone, as the ledger keeps it, so that the file need not be read again."""

    row: Surveyed
    inode: int
    judged: bool
    """The law was asked about it: it was foreign."""


class Searchable(Struct, frozen=True, gc=False):
    """What can be searched of a file, as the ledger remembers it."""

    path: str
    size: int
    mtime_ns: int
    inode: int
    folded: str
    hidden: bool | None
    """It is withheld; None where the law is to be asked first."""
