"""A target of `install`: what is added to whose files, and what a person should know of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from msgspec import Struct

from extractord.core.connecting.unit import Unit
from extractord.core.transcripts.source import Surroundings
from extractord.errors import InstallError

Trace = tuple[str, ...]
"""What taking an addition out needs to know besides the file: its own form's business."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What a target is planned on."""

    around: Surroundings
    command: tuple[str, ...]
    """How extractord is started: absolute, whatever PATH says."""
    read: Callable[[str], str | None]
    """A file's text; None where there is none."""
    real: Callable[[str], str]
    """A path with its links followed."""
    project: str
    """The directory of the project that is meant, absolute."""
    mcp: bool = False
    """Register the server of the memories too."""
    unit: Unit | None = None
    """What was found out for a unit of the daemon; None for a target that is none."""
    taking_out: bool = False
    """Everything that may ever have been added is meant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Addition:
    """One thing that is put into one file.

    `added` is given the file's text without the addition, None where there is no file, and
    returns it with the addition and the trace. `removed` is given a text and a trace, empty where
    it is lost, and returns it without the addition, None where nothing is left; a text that does
    not have the addition comes back as it is. All raise InstallError where a text cannot be
    understood; whoever calls them says which file it is.
    """

    key: str
    """Its name among the target's additions: `hook`, `mcp`."""
    path: str
    added: Callable[[str | None], tuple[str, Trace]]
    removed: Callable[[str, Trace], str | None]
    holds: Callable[[str], bool]
    """True for a text that has it, once and as it would be written now, wherever that stands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What `install NAME` does and `uninstall NAME` takes back."""

    name: str
    purpose: str
    """Half a sentence for the list of targets."""
    additions: Callable[[Ground], tuple[Addition, ...]]
    notes: Callable[[Ground], tuple[str, ...]] = lambda _ground: ()
    """What a person is told beside the change."""
    own_memory: str = ""
    """What an agent's own memory does meanwhile and how to turn it off, in Markdown: "it …"."""
    afterwards: Callable[[Ground], tuple[tuple[str, ...], ...]] = lambda _ground: ()
    """Commands that are shown with the change, and run when it is written."""
    beforehand: Callable[[Ground], tuple[tuple[str, ...], ...]] = lambda _ground: ()
    """Commands that are shown, and run before the additions are taken out."""
    behind: Callable[[Ground], tuple[tuple[str, ...], ...]] = lambda _ground: ()
    """Commands that are shown, and run when the additions are out."""
    left: Callable[[Ground], tuple[str, ...]] = lambda _ground: ()
    """What a person is told that stays."""


class Receipt(Struct, frozen=True, kw_only=True):
    """What is kept of an addition while it is in its file."""

    key: str
    path: str
    existed: bool
    """The file was there before."""
    folders: tuple[str, ...] = ()
    """Those that were made for the file, the outermost first."""
    trace: Trace = ()
    backup: str = ""
    """The file's name among the backups; empty where it was not there."""


def own_file(key: str, path: str, text: str, mark: str) -> Addition:
    """Return the addition of a file that is ours as a whole; `mark` is what no other file has in it.

    A file without the mark is somebody else's: it is left, and refused.
    """

    def added(before: str | None) -> tuple[str, Trace]:
        if before is not None:
            raise InstallError("this file is there and is not extractord's: move it away first")
        return text, ()

    def removed(now: str, _trace: Trace) -> str | None:
        return None if mark in now else now

    return Addition(key=key, path=path, added=added, removed=removed, holds=text.__eq__)
