"""`install` and `uninstall`: the memories in every agent's sessions, the daemon as a unit; and out again."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import replace as replace_ground
from importlib import import_module
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from msgspec.structs import replace
from rich.console import Console
from rich.text import Text

from extractord.cli.planning import Plan, put_in, take_out
from extractord.cli.supervision import UNITS, Asked, everything, unit_of
from extractord.cli.writing import diff, printable
from extractord.config import Settings, load_settings, platform_surroundings
from extractord.core.connecting.target import Ground, Target
from extractord.core.transcripts.source import Surroundings
from extractord.edges import projects
from extractord.edges.personal import read, remove_folders, write
from extractord.edges.receipts import Receipts
from extractord.edges.state import State
from extractord.errors import InstallError, UsageError

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
_COLOURS = {"+": "green", "-": "red", "@": "cyan"}

Yes = Annotated[bool, Parameter(negative=(), help="Do it without a question.")]
Dry = Annotated[bool, Parameter(negative=(), help="Show what would change, and change nothing.")]
Where = Annotated[
    Path | None,
    Parameter(
        help="The project whose own file is meant, where the target has one; by default the repository's top."
    ),
]


System = Annotated[
    bool, Parameter(negative=(), help="systemd: the system's unit, for one account; needs root.")
]


def install(
    target: str = "",
    *,
    system: System = False,
    account: Annotated[str, Parameter(help="systemd --system: whose agents are read.")] = "",
    key_file: Annotated[
        Path | None, Parameter(help="systemd: the model's key, mode 0600, handed over by LoadCredential.")
    ] = None,
    mcp: Annotated[bool, Parameter(negative=(), help="Register the server of the memories too.")] = False,
    project: Where = None,
    yes: Yes = False,
    dry_run: Dry = False,
) -> None:
    """Give the memories to an agent, or start the daemon with the machine; without a target, list them.

    The change is shown first. `uninstall` takes out exactly what was put in.
    """
    settings = load_settings()
    if not target:
        _list(settings)
        return
    found, ground = target_of(target), ground_of(project, mcp=mcp)
    if target in UNITS:
        asked = Asked(is_system=system, account=account, key_file=key_file, may_ask=not (yes or dry_run))
        ground = replace_ground(ground, unit=unit_of(target, settings, asked))
    receipts = Receipts(settings.state_dir, target)
    additions = found.additions(ground)
    if mcp and all(addition.key != "mcp" for addition in additions):
        raise UsageError(f"{target} has no place for a server: leave --mcp out")
    plan = put_in(additions, receipts.rows())
    commands = found.afterwards(ground)
    own = (f"Its own memory: it {found.own_memory}.",) if found.own_memory else ()
    _show(plan, (), commands if plan.changed else (), (*found.notes(ground), *own, *_lacking(target)))
    if not plan.changed:
        print(f"{target} has it already: nothing to change")
        return
    if not _agreed(yes=yes, dry_run=dry_run):
        return
    with State.open(settings.state_dir):
        _put(plan, receipts)
    _run(commands)
    print(f"installed: {target}; `extractord uninstall {target}` takes it out again")


def uninstall(
    target: str, *, system: System = False, project: Where = None, yes: Yes = False, dry_run: Dry = False
) -> None:
    """Take out of an agent's files, or the machine's units, what `install` put there, and nothing else."""
    settings = load_settings()
    found, ground = target_of(target), ground_of(project, taking_out=True)
    receipts = Receipts(settings.state_dir, target)
    rows = receipts.rows()
    if target in UNITS:
        ground = replace_ground(ground, unit=everything(target, settings, rows, is_system=system))
    plan = take_out(found.additions(ground), rows)
    commands = found.beforehand(ground) if plan.changed else ()
    behind = found.behind(ground) if plan.changed else ()
    _show(plan, commands, behind, found.left(ground))
    if not plan.changed and not rows:
        print(f"{target} has nothing of extractord's: nothing to change")
        return
    if not _agreed(yes=yes, dry_run=dry_run):
        return
    _run(commands)
    for path in plan.changed:
        write(path, plan.now[path], plan.then[path])
        if plan.then[path] is None:
            remove_folders([folder for row in rows if row.path == path for folder in row.folders])
    receipts.keep(plan.receipts.values())
    _run(behind)
    print(f"taken out: {target}")


def _put(plan: Plan, receipts: Receipts) -> None:
    """Back up what will change for the first time, write it, and keep what was made for it."""
    rows = dict(plan.receipts)
    for path in plan.changed:
        text, mine = plan.now[path], [at for at in rows if at[1] == path]
        if (
            text is not None
            and not any(rows[at].backup for at in mine)
            and all(rows[at].existed for at in mine)
        ):
            name = receipts.back_up(path, text)
            rows |= {at: replace(rows[at], backup=name) for at in mine}
            print(f"as it was: {receipts.folder / name}")
    receipts.keep(rows.values())  # before the deed: a crash leaves a receipt too many, never one too few
    for path in plan.changed:
        made = write(path, plan.now[path], plan.then[path])
        if made:
            rows |= {at: replace(rows[at], folders=made) for at in rows if at[1] == path}
            receipts.keep(rows.values())


def _list(settings: Settings) -> None:
    for name in TARGETS:
        rows = Receipts(settings.state_dir, name).rows()
        print(f"{name:<14}{'installed' if rows else '-':<11}{target_of(name).purpose}")


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
        raise UsageError(f"{place} is no directory: name that of a project")
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


def _lacking(target: str) -> Iterable[str]:
    """Say where the agent's program is not found: the change is of use when it comes."""
    program = _PROGRAMS.get(target)
    if program is not None and shutil.which(program) is None:
        yield f"`{program}` is not on your PATH: this does nothing until {target} is on this machine."


def _command() -> tuple[str, ...]:
    """How this very installation is started: its script beside the interpreter, else by module."""
    script = Path(sys.executable).parent / "extractord"
    return (str(script),) if script.is_file() else (sys.executable, "-P", "-m", "extractord")


def _show(
    plan: Plan,
    before: Iterable[tuple[str, ...]],
    after: Iterable[tuple[str, ...]],
    notes: Iterable[str],
) -> None:
    """Print commands, changes and notes in the order in which they will come."""
    console = Console(highlight=False, soft_wrap=True)
    for command in before:
        console.print(Text(f"$ {printable(' '.join(command))}"))
    for path in plan.changed:
        for line in diff(plan.now[path], plan.then[path], path):
            console.print(Text(line, style=_COLOURS.get(line[:1], "")))
    for command in after:
        console.print(Text(f"$ {printable(' '.join(command))}"))
    for note in notes:
        console.print(Text(printable(note)), soft_wrap=False)


def _agreed(*, yes: bool, dry_run: bool) -> bool:
    """Whether to go on. Raise UsageError where nobody can be asked."""
    if dry_run:
        print("nothing was changed: this was a dry run")
        return False
    if yes:
        return True
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("nothing was changed: there is no terminal to ask at, and --yes was not given")
    if input("Do this? [y/N] ").strip().lower() in ("y", "yes"):
        return True
    print("nothing was changed")
    return False


def _run(commands: Iterable[tuple[str, ...]]) -> None:
    for command in commands:
        try:
            ended = subprocess.run(command, check=False)  # noqa: S603 - shown, and agreed to
        except OSError as error:
            raise InstallError(f"{command[0]} cannot be started ({error.strerror})") from error
        if ended.returncode:
            raise InstallError(f"`{' '.join(command)}` ended with {ended.returncode}")
