"""A case of the benchmark: what was said, what is remembered, and what must come of it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Literal

from msgspec import Struct

from extractord.core.records import Origin, Role

Scope = Literal["user", "project"]
SCOPES: tuple[Scope, ...] = ("user", "project")
TYPES = ("user", "feedback", "project", "reference")
TRUSTS = ("untrusted", "inferred", "stated", "confirmed")
TOOL_OUTPUT = "tool"
"""An origin of cases alone: the output of a tool, whatever role its agent gives it."""
SOME_NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


class ToolUse(Struct, frozen=True, kw_only=True):
    """A tool call of the watched agent, as it gave it."""

    name: str
    input: object = None


class Heard(Struct, frozen=True, kw_only=True):
    """One entry of a case."""

    id: str
    role: Role
    origin: Origin
    text: str = ""
    tool: ToolUse | None = None
    time: datetime | None = None


class Before(Struct, frozen=True, kw_only=True):
    """A memory that is there before."""

    file: str
    scope: Scope
    name: str
    description: str
    type: str
    body: str
    trust: str = "stated"


class Forgotten(Struct, frozen=True, kw_only=True):
    """A memory that was forgotten before; `evidence_entry` is an entry's id, or the words it had."""

    name: str
    description: str
    evidence_entry: str = ""


class MustKeep(Struct, frozen=True, kw_only=True):
    """A fact that must be remembered in the end: a memory in which every pattern is found."""

    what: str
    all_of: tuple[str, ...]
    type: tuple[str, ...] = ()
    """Each of them will do; empty: any."""
    scope: Scope | None = None
    updates: str = ""
    """The file before that is to say it now."""


class MustNotKeep(Struct, frozen=True, kw_only=True):
    """What must reach no root and no index: none of the patterns may be found there."""

    what: str
    any_of: tuple[str, ...]


class Case(Struct, frozen=True, kw_only=True):
    """One case."""

    id: str
    kind: str
    project: str | None = ""
    """A directory or a name; empty: some project; None: the session is in no project."""
    now: datetime = SOME_NOW
    language: str = "en"
    memories_before: tuple[Before, ...] = ()
    forgotten_before: tuple[Forgotten, ...] = ()
    entries: tuple[Heard, ...] = ()
    transcript: str = ""
    """A transcript of a real agent in the place of entries; relative to the case's file."""
    agent: str = ""
    """Whose the transcript is, where that cannot be told."""
    must_keep: tuple[MustKeep, ...] = ()
    must_not_keep: tuple[MustNotKeep, ...] = ()
    max_new: int | None = None
    """So many new memories are no fault; None: those of `must_keep` and no more."""
    must_delete: tuple[str, ...] = ()
    note: str = ""


def file_of(name: str) -> str:
    """Given a memory's file as a case names it, return its path below its root."""
    name = name.strip().removeprefix("/memory/").lstrip("/")
    for scope in SCOPES:
        name = name.removeprefix(f"{scope}/")
    return name if not name or name.endswith(".md") else f"{name}.md"


def whose(role: str, origin: str) -> tuple[Role, Origin] | None:
    """Given role and origin, one of which may stand for the other, return both; None without either."""
    if not role and not origin:
        return None
    if origin == TOOL_OUTPUT or (role == Role.TOOL and origin in ("", Origin.SYNTHETIC)):
        return Role.TOOL, Origin.SYNTHETIC
    if not role:
        prompts = (Origin.HUMAN, Origin.HEADLESS, Origin.COPIED)
        role = Role.USER if origin in prompts else Role.ASSISTANT
    if not origin:
        origin = Origin.HUMAN if role == Role.USER else Origin.SYNTHETIC
    return Role(role), Origin(origin)
