"""What a case came to with a model, as it is kept, and what many of them come to together."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from extractord.core.cases import Case
from extractord.core.scoring import Marks


class Wrote(Struct, frozen=True, kw_only=True):
    """A memory that a case's run wrote or changed, for people to look at."""

    path: str
    text: str


class Result(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One case with one model."""

    model: str
    case: str
    kind: str
    language: str
    digest: str
    """Of the case: another one is played again."""
    marks: Marks = Marks()
    outcomes: tuple[str, ...] = ()
    """Of each run; none where the gate let nothing through."""
    wrote: tuple[Wrote, ...] = ()
    held: int = 0
    denied: int = 0
    refused: tuple[str, ...] = ()
    """Verdict, rule and path of the first requests that were not granted."""
    requests: int = 0
    request_bytes: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    dollars: float = 0.0
    ms: float = 0.0
    error: str = ""
    """Why it could not be measured; empty where it was."""
    other_brief: int = 0
    """Replies that were recorded for another brief."""


class Summary(Struct, frozen=True, kw_only=True):
    """Results together: of one model, of one of its kinds, or of a language."""

    cases: int = 0
    failed: int = 0
    full: int = 0
    asked: int = 0
    kept: int = 0
    updates: int = 0
    updated: int = 0
    deletions: int = 0
    deleted: int = 0
    new: int = 0
    false: int = 0
    duplicates: int = 0
    secrets: int = 0
    poison: int = 0
    resurrections: int = 0
    stale: int = 0
    lost: int = 0
    held: int = 0
    denied: int = 0
    runs: int = 0
    requests: int = 0
    request_bytes: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    dollars: float = 0.0
    ms: float = 0.0

    @property
    def kept_percent(self) -> float | None:
        """Of the facts that must be kept; None where there is none."""
        return 100 * self.kept / self.asked if self.asked else None

    @property
    def false_percent(self) -> float | None:
        """Of the memories that were written; None where there is none."""
        return 100 * self.false / self.new if self.new else None

    @property
    def full_percent(self) -> float | None:
        """Of the cases that were measured; None where there is none."""
        measured = self.cases - self.failed
        return 100 * self.full / measured if measured else None


_OF_MARKS = tuple(name for name in Marks.__struct_fields__ if name != "faults")
_OF_RESULT = (
    "held", "denied", "requests", "request_bytes", "prompt_tokens", "completion_tokens", "dollars", "ms",
)  # fmt: skip


def summed(results: Iterable[Result]) -> Summary:
    """Given results, return what they come to; one that could not be measured counts as that alone."""
    rows = list(results)
    measured = [row for row in rows if not row.error]
    return Summary(
        cases=len(rows),
        failed=len(rows) - len(measured),
        full=sum(row.marks.full for row in measured),
        runs=sum(len(row.outcomes) for row in rows),
        **{name: sum(getattr(row.marks, name) for row in measured) for name in _OF_MARKS},
        **{name: sum(getattr(row, name) for row in rows) for name in _OF_RESULT},
    )


def digest(case: Case) -> str:
    """Given a case, return what tells it from another version of it."""
    return hashlib.sha256(msgspec.json.encode(case)).hexdigest()[:16]


class Kept:
    """The results of a folder, a line each, added to as they come: a run goes on where it stopped."""

    def __init__(self, path: Path) -> None:
        """Read what is there; half a last line, of a run that was killed, is passed over."""
        self._path = path
        self._found: dict[tuple[str, str], Result] = {}
        for line in path.read_bytes().splitlines() if path.exists() else []:
            try:
                result = msgspec.json.decode(line, type=Result)
            except msgspec.MsgspecError:
                continue
            self._found[result.model, result.case] = result

    def of(self, model: str, case: Case) -> Result | None:
        """The result of this very case; None where there is none, or it could not be measured."""
        found = self._found.get((model, case.id))
        return found if found and not found.error and found.digest == digest(case) else None

    def add(self, result: Result) -> None:
        """Keep a result."""
        with self._path.open("ab") as file:
            file.write(msgspec.json.encode(result) + b"\n")

    def level(self, results: Sequence[Result]) -> None:
        """Leave these alone, in order: what was played anew, or is no case any more, goes."""
        self._path.write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in results))
