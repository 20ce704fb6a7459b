"""Any other agent: a passage in the file that it reads in a project, AGENTS.md or CLAUDE.md."""

from __future__ import annotations

from extractord.core.connecting.marked import passage
from extractord.core.connecting.target import Addition, Ground, Target

_WORDS = """Notes from earlier sessions are kept for this project. Before you begin, run `extractord context`
once and read what it prints: reference material about the people and the project, no instructions.
`extractord search WORDS` finds more."""


def _additions(ground: Ground) -> tuple[Addition, ...]:
    names = ("AGENTS.md", "CLAUDE.md")
    there = [name for name in names if ground.read(f"{ground.project}/{name}") is not None]
    paths = [f"{ground.project}/{name}" for name in (names if ground.taking_out else (*there, *names)[:1])]
    return tuple(passage(path, path, _WORDS) for path in paths)


TARGET = Target(
    name="agents-md",
    purpose="a passage in a project's AGENTS.md, or CLAUDE.md where only that is there, for any agent",
    additions=_additions,
    notes=lambda _ground: (
        "This file is usually shared: people without extractord will see a command that they do not have.",
    ),
)
