"""`install` and `uninstall`: the memories in every agent's sessions, the daemon as a unit; and out again."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from dataclasses import replace as replace_ground
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from msgspec.structs import replace
from rich.console import Console
from rich.text import Text

from extractord.cli.listing import hung
from extractord.cli.planning import Plan, put_in, take_out
from extractord.cli.supervision import UNITS, Asked, everything, unit_of
from extractord.cli.targets import TARGETS, ground_of, lacking, target_of
from extractord.cli.writing import diff
from extractord.config import Settings, load_settings
from extractord.core.printable import printable
from extractord.edges.personal import remove_folders, write
from extractord.edges.receipts import Receipts
from extractord.edges.state import State
from extractord.errors import InstallError, UsageError

_COLOURS = {"+": "green", "-": "red", "@": "cyan"}

_NAMES = ", ".join(TARGETS)
Target = Annotated[str, Parameter(help=f"{_NAMES}.")]
AnyTarget = Annotated[str, Parameter(help=f"{_NAMES}; none: list them, and which are installed.")]
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
    target: AnyTarget = "",
    /,
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
    if target not in UNITS and (system or account or key_file):
        raise UsageError(f"--system, --account and --key-file are for systemd: {target} takes none of them")
    if target in UNITS:
        asked = Asked(is_system=system, account=account, key_file=key_file, may_ask=not (yes or dry_run))
        ground = replace_ground(ground, unit=unit_of(target, settings, asked))
    receipts = Receipts(settings.state_dir, target)
    additions = found.additions(ground)
    if mcp and all(addition.key != "mcp" for addition in additions):
        raise UsageError(f"{target} cannot take a server: leave --mcp out")
    plan = put_in(additions, receipts.rows())
    commands = found.afterwards(ground)
    own = (f"Its own memory: it {found.own_memory}.",) if found.own_memory else ()
    _show(plan, (), commands if plan.changed else (), (*found.notes(ground), *own, *lacking(target)))
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
    target: Target,
    /,
    *,
    system: System = False,
    project: Where = None,
    yes: Yes = False,
    dry_run: Dry = False,
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
        print(hung(f"{name:<14}{'installed' if rows else '-':<11}", target_of(name).purpose))


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
