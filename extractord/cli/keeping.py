"""`memories history`, `restore`, `edit`, `forget` and `pin`: a person's say over what is kept."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from extractord.cli.attended import decider
from extractord.cli.choosing import chosen, one_of, rows_of
from extractord.cli.json_lines import print_json
from extractord.cli.lives import forget as forget_it
from extractord.cli.lives import stages
from extractord.cli.looking import looked_at
from extractord.cli.options import Json
from extractord.cli.writing import diff, edited
from extractord.config import Settings, load_settings
from extractord.core.changeset import decode
from extractord.core.foreign import objection
from extractord.core.memory import unstamp, utc
from extractord.core.printable import printable
from extractord.core.survey import place_of
from extractord.core.versions import Version
from extractord.edges.store import Keeping, Store
from extractord.errors import UsageError
from extractord.storeroom import storeroom, to_stderr

Which = Annotated[str, Parameter(help="Its name, its path below its root, or root and path.")]
Project = Annotated[Path | None, Parameter(help="Only the person's memories and this directory's project's.")]


def history(memory: Which, /, *, project: Project = None, diffs: bool = False, json: Json = False) -> None:
    """Show every version of a memory, oldest first; of one that is gone too.

    Parameters
    ----------
    diffs
        What each version changed.
    """
    settings = load_settings()
    with looked_at(settings) as (roots, there, ledger):
        names = chosen(settings, there, project)
        try:
            root, row = one_of(rows_of(roots, names), memory)
            path = row.path
        except UsageError:
            root, path = place_of(memory)
            if not ledger.versions.history(root, path):
                raise
        lived = list(stages(ledger, root, path))
    for stage in lived:
        if json:
            said = _as_json(stage.version) | ({"text": stage.text} if diffs else {})
            print_json(said)
            continue
        print(_line(stage.version))
        if diffs:
            for line in diff(stage.before, stage.text, f"{root}/{path}"):
                print(f"    {line}")


def restore(memory: Which, version: str, /, *, project: Project = None, json: Json = False) -> None:
    """Put a version of a memory back in its place; it is confirmed by you where you sit at a terminal.

    Parameters
    ----------
    version
        Its SHA-256 as `memories history` has it, or the beginning of one.
    """
    settings = load_settings()
    with storeroom(settings, to_stderr) as room:
        root, path = _meant(settings, room.store, memory, project)
        keeping = Keeping(room.store, decider())
        known = {each.sha256 for each in keeping.history(root, path) if each.sha256 is not None}
        wanted = [sha for sha in sorted(known) if sha.startswith(version.lower())]
        if len(wanted) != 1 or not version:
            raise UsageError(f"no version of {root}/{path}, or more than one, begins with {version!r}")
        keeping.restore(root, path, wanted[0])
    _done("restored", root, path, json=json, version=wanted[0])


def edit(memory: Which, /, *, project: Project = None, json: Json = False) -> None:
    """Open a copy of a memory in your editor and put it in place, unless the file changed meanwhile."""
    settings = load_settings()
    with storeroom(settings, to_stderr) as room:
        root, path = _meant(settings, room.store, memory, project)
        raw = room.store.roots.raw(root, path)
        if raw is None:
            raise UsageError(f"{root}/{path} is gone: `memories restore` brings a version back")
        before = unstamp(decode(path, raw))
    with edited(before, path) as text, storeroom(settings, to_stderr) as room:
        if text == before:
            print("nothing was changed")
            return
        Keeping(room.store, decider()).edit(root, path, raw, text)
    against = objection(root, path, text)
    if against:
        to_stderr(f"kept as you wrote it, although the policy objects: {printable(against)}")
    _done("edited", root, path, json=json)


def forget(
    memory: Which,
    /,
    *,
    purge: Annotated[bool, Parameter(negative=())] = False,
    project: Project = None,
    json: Json = False,
) -> None:
    """Remove a memory; the same words do not bring it back, only saying it again.

    Parameters
    ----------
    purge
        Erase its history too; of one that was forgotten before, that alone.
    """
    settings = load_settings()
    with storeroom(settings, to_stderr) as room:
        root, path = _meant(settings, room.store, memory, project)
        was_there = forget_it(room.store, root, path, decider(), purge=purge)
    if not was_there and not purge:
        to_stderr(f"{printable(f'{root}/{path}')} was already gone; --purge erases its history")
    _done("forgotten, with its history" if purge else "forgotten", root, path, json=json)


def pin(
    memory: Which,
    /,
    *,
    undo: Annotated[bool, Parameter(negative=())] = False,
    project: Project = None,
    json: Json = False,
) -> None:
    """Let no run change a memory.

    Parameters
    ----------
    undo
        Let runs change it again.
    """
    settings = load_settings()
    with storeroom(settings, to_stderr) as room:
        root, path = _meant(settings, room.store, memory, project)
        Keeping(room.store, decider()).pin(root, path, pinned=not undo)
    _done("unpinned" if undo else "pinned", root, path, json=json)


def _meant(settings: Settings, store: Store, memory: str, project: Path | None) -> tuple[str, str]:
    """Root and path of the memory that is meant; of one that is gone, by both."""
    try:
        root, row = one_of(rows_of(store.roots, chosen(settings, store.names(), project)), memory)
    except UsageError:
        root, path = place_of(memory)
        if not store.ledger.versions.history(root, path):
            raise
        return root, path
    return root, row.path


def _as_json(version: Version) -> dict[str, object]:
    return {
        "root": version.root,
        "path": version.path,
        "version": version.sha256,
        "at": utc(version.at),
        "by": version.by,
        "trust": version.trust.word if version.trust is not None else None,
    }


def _line(version: Version) -> str:
    trust = version.trust.word if version.trust is not None else ""
    what = "removed" if version.sha256 is None else version.sha256[:12]
    return f"{utc(version.at)}  {what:<12}  {trust:<9}  by {version.by}"


def _done(what: str, root: str, path: str, *, json: bool, **more: str) -> None:
    if json:
        print_json({"done": what, "root": root, "path": path, **more})
    else:
        print(f"{what}: {printable(f'{root}/{path}')}")
