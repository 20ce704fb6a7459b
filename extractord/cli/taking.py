"""`import`: take over what other agents keep of their own; their stores stay as they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from extractord.cli.attended import decider
from extractord.cli.json_lines import print_json
from extractord.cli.listing import Item, print_items
from extractord.cli.looking import project_of
from extractord.cli.options import Json
from extractord.config import Settings, load_settings, platform_surroundings
from extractord.core.printable import printable
from extractord.core.redact import redact
from extractord.core.survey import USER_ROOT, root_of
from extractord.core.taking import Taken, taken
from extractord.core.transcripts.source import Surroundings
from extractord.edges.otherstores import OtherFile, of_agent, of_path
from extractord.edges.store.importing import Comes, Importing
from extractord.errors import EXIT_FAILED, UsageError
from extractord.policy.requests import RootKind
from extractord.storeroom import storeroom, to_stderr

Left = tuple[str, str]
"""A file that nothing could be taken from, and why."""


def take_over(
    store: Annotated[str, Parameter(help="An agent's name, or a file or folder.")],
    /,
    *,
    project: Path | None = None,
    dry_run: Annotated[bool, Parameter(negative=())] = False,
    json: Json = False,
) -> int:
    """Take over memories from Claude Code, Codex, Gemini CLI, Qwen Code, zerostack or fx.

    Only read there. What comes is judged as an agent's words and stays foreign until you accept it:
    what the law would hold waits in `review`, what it refuses stays out. What is here already, or was
    forgotten, does not come again.

    Parameters
    ----------
    store
        claude-code, codex, gemini-cli, qwen-code, zerostack, fx; or a folder of Markdown files, a
        Markdown file, a JSON list of texts.
    project
        The directory of the project that it is about, where the store does not say.
    dry_run
        Show what would come, and change nothing.
    json
        One object a fact.
    """
    settings = load_settings()
    facts, left = _facts(settings, _files(store, project), project)
    with storeroom(settings, to_stderr) as room:
        importing = Importing(room.store, decider())
        plan = importing.plan(facts)
        if not dry_run:
            importing.carry_out(plan)
    if json:
        for row in _rows(plan, left):
            print_json(row)
    else:
        _say(store, plan, left, dry_run=dry_run)
    return EXIT_FAILED if left else 0


def _files(store: str, project: Path | None) -> tuple[OtherFile, ...]:
    if not store:
        raise UsageError("the store's name is empty: name an agent, or a file or folder")
    place = Path(store).expanduser()
    if "/" in store or place.exists():
        return of_path(place.absolute(), str(project.expanduser().absolute()) if project else "")
    return of_agent(store, Surroundings(*platform_surroundings()))


def _facts(
    settings: Settings, files: Sequence[OtherFile], project: Path | None
) -> tuple[list[tuple[str, Taken]], list[Left]]:
    """Each fact with its root, and each file that none could be taken from."""
    facts: list[tuple[str, Taken]] = []
    left: list[Left] = []
    for file in files:
        if file.fault:
            left.append((file.path, file.fault))
            continue
        root = USER_ROOT if file.directory == "" else _root(settings, file.directory, project)
        if root is None:
            left.append((file.path, "which project it is about cannot be told: name it with --project"))
            continue
        try:
            facts += [(root, fact) for fact in taken(file.shape, file.text, file.path)]
        except ValueError as error:
            left.append((file.path, str(error)))
    return facts, left


def _root(settings: Settings, directory: str | None, project: Path | None) -> str | None:
    place = Path(directory) if directory else project
    found = project_of(settings, place) if place is not None else None
    return root_of(RootKind.PROJECT, found) if found is not None and found.is_project else None


def _rows(plan: Sequence[Comes], left: Sequence[Left]) -> Iterator[dict[str, object]]:
    for one in plan:
        yield {
            "root": one.root,
            "path": one.path,
            "name": redact(one.fact.name),
            "description": redact(one.fact.description),
            "source": redact(one.fact.source),
            "outcome": one.done,
            "reason": one.reason,
        }
    for path, reason in left:
        yield {"source": path, "outcome": "unreadable", "reason": reason}
    counts = {done: sum(one.done == done for one in plan) for done in _OUTCOMES}
    yield {"summary": True, **counts, "unreadable": len(left)}


_OUTCOMES = {
    "imported": "imported, foreign until you accept it",
    "withheld": "waits in `extractord review`",
    "refused": "refused",
    "known": "here already",
    "forgotten": "was forgotten",
}


def _say(store: str, plan: Sequence[Comes], left: Sequence[Left], *, dry_run: bool) -> None:
    if not plan and not left:
        print(
            f"there is nothing to import from {printable(store)}; a folder or file of memories may be named"
        )
        return
    if plan:
        print_items(
            Item(
                f"{one.root}/{one.path}",
                _OUTCOMES[one.done] + (f" ({one.reason.partition(':')[0]})" if ": " in one.reason else ""),
                (redact(one.fact.description),),
            )
            for one in plan
        )
    for path, reason in left:
        print(f"left out: {printable(path)}: {printable(reason)}")
    counted = ", ".join(
        f"{count} {done}" for done in _OUTCOMES if (count := sum(one.done == done for one in plan))
    )
    print(("nothing was changed; it would be: " if dry_run else "") + (counted or "nothing"))
