"""What a check is given, and what it says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from msgspec import Struct

from extractord.config import Settings
from extractord.core.transcripts.source import Source
from extractord.edges.ledger import Ledger
from extractord.errors import LedgerError
from extractord.readingroom import ReadingRoom


class Health(StrEnum):
    """How a check came out; `fail` breaks the path from a transcript to a memory."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


class Finding(Struct, frozen=True, kw_only=True):
    """One line of `doctor`."""

    check: str
    health: Health
    says: str
    remedy: str = ""
    """What to do; empty where it is ok."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Patient:
    """What the checks look at; nothing of it is changed."""

    settings: Settings
    opened: Ledger | None
    """None where the ledger cannot be read: then its own check says so."""
    room: ReadingRoom
    transcripts: tuple[tuple[Source, str, int], ...]
    """Every transcript that there is, with when it was written, in ns since 1970."""
    copies: Path
    """Takes copies of databases, and is gone afterwards."""
    now: datetime
    system: Path
    """/proc/sys"""
    is_online: bool

    @property
    def ledger(self) -> Ledger:
        """What is known. Raise LedgerError where it cannot be read: nothing is well for want of knowing."""
        if self.opened is None:
            raise LedgerError("the ledger cannot be read")
        return self.opened


Check = Callable[[Patient], Iterator[Finding]]


def ok(says: str) -> Finding:
    """It is as it should be."""
    return Finding(check="", health=Health.OK, says=says)


def warn(says: str, remedy: str) -> Finding:
    """The path holds, and something wants looking at."""
    return Finding(check="", health=Health.WARN, says=says, remedy=remedy)


def fail(says: str, remedy: str) -> Finding:
    """The path is broken here."""
    return Finding(check="", health=Health.FAIL, says=says, remedy=remedy)
