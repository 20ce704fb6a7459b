"""`project list`, `move`, `exclude` and `adopt`: which directories have memories, and where those are."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter
from msgspec import Struct

from extractord.cli.attended import decider
from extractord.cli.json_lines import print_json
from extractord.cli.listing import counted
from extractord.cli.looking import looked_at, project_of
from extractord.cli.options import Json
from extractord.config import Settings, load_settings
from extractord.core.changeset import INDEX
from extractord.core.ports import Home
from extractord.core.printable import printable
from extractord.edges.state import State, daemon_of, excluded_in
from extractord.edges.store.lock import locked
from extractord.errors import UsageError
from extractord.storeroom import storeroom, to_stderr

app = App(name="project", help="Which directories have memories of their own, and where those are.")

_PROJECTS = "projects/"


class Listed(Struct, frozen=True, kw_only=True):
    """A project as `project list --json` has it."""

    project: str
    directory: str
    """Empty where no session that is known was found in it."""
    identity: str
    memories: int
    sessions: int
    gone: bool
    """Its directory is not there any more: `project move` gives its memories another one."""
    excluded: bool


@app.command(name="list")
def list_(*, json: Json = False) -> None:
    """List every project with memories or sessions; those whose directory is gone are named."""
    rows = listed(load_settings())
    for row in rows:
        if json:
            print_json(row)
            continue
        notes = [
            note for note, holds in (("directory is gone", row.gone), ("excluded", row.excluded)) if holds
        ]
        print(printable(f"{row.project}  {row.directory or 'of no known session'}"))
        print(
            f"    {counted(row.memories, 'memory', 'memories')}, {counted(row.sessions, 'session')}"
            + "".join(f", {note}" for note in notes)
        )
    if not rows and not json:
        print("no project yet: `extractord run` watches, `extractord extract` reads what is there")


@app.command(name="move")
def move(old: Path, new: Path, /, *, json: Json = False) -> None:
    """Give the memories of a project whose directory was moved to where it is now.

    Parameters
    ----------
    old
        Where it was, or the project's name as `project list` has it.
    new
        Where it is.
    json
        One object: the folders of the memories.
    """
    settings = load_settings()
    project = project_of(settings, new)
    if not new.expanduser().is_dir() or not project.is_project:
        raise UsageError(f"{new} is not a directory of a project: name where the project is now")
    _require_stillness(settings)
    with storeroom(settings, to_stderr) as room:
        source = _PROJECTS + _slug(settings, room.ledger.rehoming.homes(), old)
        target = _PROJECTS + project.slug
        if source == target:
            raise UsageError(f"{old} and {new} are one project, {project.slug}: there is nothing to move")
        running = room.ledger.standing.running()
        if running:
            raise UsageError(f"{len(running)} runs are under way: wait for their end")
        renamed = room.store.move(source, target, project, decider())
        left = source in room.store.names()
    if json:
        print_json({"old": source, "new": target, "renamed": renamed, "left": left})
        return
    print(f"{source} is {target} now")
    for path, name in renamed.items():
        print(printable(f"    {path} is {name} there, which has another {path} already"))
    if left:
        print(f"    what is not a memory is still in {settings.memory_dir / source}")


@app.command(name="exclude")
def exclude(
    directory: Path, /, *, undo: Annotated[bool, Parameter(negative=())] = False, json: Json = False
) -> None:
    """Never read the sessions of a directory and of those below it.

    Parameters
    ----------
    directory
        The directory; it need not be there.
    undo
        Read them again from now on.
    json
        One object: everything that is excluded.
    """
    settings = load_settings()
    place = str(directory.expanduser().absolute())
    with State.open(settings.state_dir) as state:
        state.exclude(place, excluded=not undo)
        now = state.excluded()
    if json:
        print_json({"excluded": now})
        return
    print(printable(f"{place} is {'read again' if undo else 'excluded'}"))
    if daemon_of(settings.state_dir) is not None:
        print("the daemon that runs takes it up when it is restarted")


@app.command(name="adopt")
def adopt() -> None:
    """Make the memory directory this state's, whosever it was; its files count as written by hand."""
    settings = load_settings()
    _require_stillness(settings)
    with State.open(settings.state_dir) as state:
        state.adopt_memory(settings.memory_dir)
        with locked(settings.memory_dir):
            pass
    print(f"{settings.memory_dir} belongs to {settings.state_dir} now")


def listed(settings: Settings) -> list[Listed]:
    """Given the settings, return every project with memories or sessions, by its folder."""
    with looked_at(settings) as (roots, names, ledger):
        homes = {home.slug: home for home in ledger.rehoming.homes()}
        counts = {
            root.removeprefix(_PROJECTS): sum(path != INDEX for path in roots.folder(root).names())
            for root in names
            if root.startswith(_PROJECTS) and roots.is_usable(root)
        }
    excluded = (*settings.projects.exclude, *excluded_in(settings.state_dir))
    return [
        _listed(slug, homes.get(slug), counts.get(slug, 0), excluded)
        for slug in sorted(homes.keys() | counts)
    ]


def _listed(slug: str, home: Home | None, memories: int, excluded: tuple[str, ...]) -> Listed:
    place = Path(home.directory) if home else None
    return Listed(
        project=slug,
        directory=home.directory if home else "",
        identity=home.identity if home else "",
        memories=memories,
        sessions=home.sessions if home else 0,
        gone=place is not None and not place.is_dir(),
        excluded=place is not None
        and any(place.is_relative_to(Path(each).expanduser()) for each in excluded),
    )


def _slug(settings: Settings, homes: tuple[Home, ...], old: Path) -> str:
    """The project that is meant: by its name, by the directory that its sessions had, or by its place."""
    place = str(old.expanduser().absolute())
    for home in homes:
        if str(old) == home.slug or place == home.directory:
            return home.slug
    return project_of(settings, old).slug if "/" in str(old) else str(old)


def _require_stillness(settings: Settings) -> None:
    daemon = daemon_of(settings.state_dir)
    if daemon is not None:
        raise UsageError(f"the daemon (process {daemon.pid}) has these memories open: stop it first")
