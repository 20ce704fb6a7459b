"""What can be installed, and what a target is planned on: this machine, this installation, a project."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path

from extractord.config import platform_surroundings
from extractord.core.connecting.target import Ground, Target
from extractord.core.transcripts.source import Surroundings
from extractord.edges import projects
from extractord.edges.personal import read
from extractord.errors import UsageError

TARGETS = {
    "claude-code": "extractord.core.connecting.claude_code",
    "codex": "extractord.core.connecting.codex",
    "gemini-cli": "extractord.core.connecting.gemini_cli",
    "qwen-code": "extractord.core.connecting.qwen_code",
    "opencode": "extractord.core.connecting.opencode",
    "pi": "extractord.core.connecting.pi",
    "agents-md": "extractord.core.connecting.agents_md",
    "systemd": "extractord.core.connecting.systemd",
    "launchd": "extractord.core.connecting.launchd",
}
"""Every target and the module whose TARGET it is; imported when it is named."""

_PROGRAMS = {
    "claude-code": "claude",
    "codex": "codex",
    "gemini-cli": "gemini",
    "qwen-code": "qwen",
    "opencode": "opencode",
    "pi": "pi",
}
"""What an agent's program is called."""


def target_of(name: str) -> Target:
    """Given a target's name, return it. Raise UsageError where there is none."""
    if name not in TARGETS:
        raise UsageError(f"there is no target {name!r}: name one of {', '.join(TARGETS)}")
    found: Target = import_module(TARGETS[name]).TARGET
    return found


def ground_of(project: Path | None, *, mcp: bool = False, taking_out: bool = False) -> Ground:
    """Given a project or none, return what a target is planned on. Raise UsageError for no directory."""
    around = Surroundings(*platform_surroundings())
    place = (project or _top(around.home)).expanduser().absolute()
    if not place.is_dir():
        raise UsageError(f"{place} is not a directory: name that of a project")
    return Ground(
        around=around,
        command=_command(),
        read=read,
        real=os.path.realpath,
        project=str(place),
        mcp=mcp or taking_out,
        taking_out=taking_out,
    )


def _top(home: str) -> Path:
    """The top of the repository that one stands in; where one stands, in none."""
    here = projects.resolve(
        str(Path.cwd()), configured={}, worktrees="separate", home=home, tmp=tempfile.gettempdir()
    )
    return Path(here.directory)


def lacking(target: str) -> Iterable[str]:
    """Given a target's name, say where its program is not found: the change is of use when it comes."""
    program = _PROGRAMS.get(target)
    if program is not None and shutil.which(program) is None:
        yield f"`{program}` is not on your PATH: this does nothing until {target} is on this machine."


def _command() -> tuple[str, ...]:
    """How this very installation is started: its script beside the interpreter, else by module."""
    script = Path(sys.executable).parent / "extractord"
    return (str(script),) if script.is_file() else (sys.executable, "-P", "-m", "extractord")
