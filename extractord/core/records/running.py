"""What waits for a run, for which project, and how the run ended."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from extractord.core.records.conversing import Brief
from extractord.core.records.reading import Exchange


class Project(Struct, frozen=True, kw_only=True):
    """Where a session's project facts belong."""

    slug: str
    """`<basename>-<hash>`, the folder under `projects/`."""
    identity: str
    """What the hash is made of: a configured name or a resolved path."""
    directory: str
    is_project: bool = True
    """False for exactly $HOME, / and the temporary folder: no project facts there."""


class Window(Struct, frozen=True, kw_only=True):
    """A session's exchanges that are neither closed nor claimed, active branch only."""

    agent: str
    session: str
    project: Project
    exchanges: tuple[Exchange, ...]


class Snapshot(Struct, frozen=True, kw_only=True):
    """A window frozen when an exchange ended, waiting for its run."""

    window: Window
    brief: Brief | None = None
    """Kept from a run that was parked; None where there is still a transcript to brief from."""


class ParkedRun(Struct, frozen=True, kw_only=True):
    """What is kept of a parked run for `runs retry`: transcripts are purged."""

    brief: Brief
    project: Project
    keys: tuple[str, ...]
    """Of its exchanges."""


class Outcome(StrEnum):
    """How a run ended (DESIGN §7)."""

    SAVED = "saved"
    NOTHING_TO_SAVE = "nothing_to_save"
    HELD = "held"
    FAILED = "failed"
    CONFLICT = "conflict"
    ABORTED = "aborted"
    DEFERRED = "deferred"
    PARKED = "parked"
    FORWARDED = "forwarded"
    """The broker has the window: an extractor elsewhere runs it."""
