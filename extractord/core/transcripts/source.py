"""Where an agent's transcripts are, which files belong, and how one is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from extractord.core.ports import Deferring, Reader
from extractord.core.records import Thaw


class Container(StrEnum):
    """How records stand in a transcript."""

    LINES = "lines"
    """JSONL, appended to; a record is a line without its newline."""
    DOCUMENT = "document"
    """One file rewritten as a whole; the record is the file."""
    ROWS = "rows"
    """A SQLite database; a record is a row as a JSON object."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a source is looked up by; read from the environment in one place."""

    env: Mapping[str, str]
    home: str
    platform: str
    """As `sys.platform` has it."""


def editors(around: Surroundings) -> tuple[str, ...]:
    """Where editors of VS Code's family keep what extensions store."""
    base = "/Library/Application Support" if around.platform == "darwin" else "/.config"
    names = ("Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf")
    config = around.env.get("XDG_CONFIG_HOME") if around.platform != "darwin" else None
    local = tuple(f"{config or around.home + base}/{name}/User/globalStorage" for name in names)
    return (*local, f"{around.home}/.vscode-server/data/User/globalStorage")


@dataclass(frozen=True, slots=True)
class Opened:
    """A transcript about to be read, for its reader."""

    path: str
    beside: Mapping[str, bytes] = field(default_factory=dict)
    """The contents of the files that the source named in `beside`, where they exist."""


@dataclass(frozen=True, slots=True)
class Rows:
    """How a database is asked; both statements only read.

    `touched` gives (session id, newest update in ms) for sessions updated at or after `:since`.
    `records` gives the rows of `:session`, in order, each with its columns by name. `:folder` is the
    name of the folder that the database is in; a number that only rises will do for a time.
    """

    touched: str
    records: str


@dataclass(frozen=True, slots=True)
class Later:
    """How a transcript is read where most entries are made only when they are needed."""

    reader: Callable[[Opened], Deferring | None]
    """None for a transcript that is read at once."""
    thaw: Thaw


@dataclass(frozen=True, slots=True)
class Tree:
    """Where the messages of a document, and their parts, stand as files of their own.

    Globs relative to the document's folder; `{id}` is the session's, or the message's.
    """

    messages: str
    parts: str


@dataclass(frozen=True, slots=True)
class Source:
    """One agent's transcripts.

    `roots` are the folders to watch, absolute. `belongs` is asked with a path relative to such
    a folder. `claims` is asked with any path and the first 64 KiB of the file where nobody said
    which agent it is. `beside` names files, relative to the transcript's folder, whose contents
    the reader needs; `{folder}` in one is that folder's name. `container` is asked with the path.
    """

    agent: str
    roots: Callable[[Surroundings], tuple[str, ...]]
    belongs: Callable[[str], bool]
    container: Callable[[str], Container]
    claims: Callable[[str, bytes], bool]
    reader: Callable[[Opened], Reader]
    beside: tuple[str, ...] = ()
    family: Callable[[str], str | None] = lambda _path: None
    """Given a transcript's file name, a glob, in its folder, of files of the same session."""
    rows: Rows | None = None
    later: Later | None = None
    tree: Tree | None = None
    """For documents that are joined from many files before they are fed."""
    writes_turn_end: bool = True
    """False where the agent leaves no trace of a turn's end: quiet ends the exchange."""
    purged_after_days: int | None = None
    gaps: str = ""
    """What is known not to work, for docs/agents.md; empty where nothing is."""
    seen: str = ""
    """Versions of the agent whose transcripts were read when the adapter was written."""
