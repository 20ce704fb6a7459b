"""`context`: what an agent is told of the memories when a session begins."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from cyclopts import Parameter

from extractord.cli.looking import looked_at, project_of
from extractord.config import load_settings
from extractord.core.foreign import unobjectionable
from extractord.core.index import derive, line
from extractord.core.injection import Scope, framed
from extractord.core.survey import USER_ROOT, kinds_of, root_of
from extractord.edges.store.roots import Roots, listed
from extractord.storeroom import to_stderr


def context(
    *,
    project: Path | None = None,
    format: Literal["markdown", "hook"] = "markdown",  # noqa: A002 - the name of the option
    json: Annotated[bool, Parameter(negative=())] = False,
) -> None:
    """Print the index of the person's and the project's memories, as an agent is given it.

    Parameters
    ----------
    project
        A directory of the project; by default the current one.
    format
        markdown: the block itself; hook: the JSON that a session-start hook answers with.
    json
        One object with the block, its lines and characters.
    """
    settings = load_settings()
    found = project_of(settings, project)
    wanted = [root_of(kind, found) for kind in kinds_of(found)]
    with looked_at(settings) as (roots, there, _):
        names = [root for root in wanted if root in there]
        block = context_block(roots, names, settings.memory_dir, found.directory)
    if json:
        said = {"project": found.slug, "text": block, "lines": block.count("\n"), "chars": len(block)}
        print(msgspec.json.encode(said).decode())
    elif format == "hook" and block:
        answer = {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": block}}
        print(msgspec.json.encode(answer).decode())
    else:
        sys.stdout.write(block)


def context_block(roots: Roots, names: list[str], memory: Path, directory: str) -> str:
    """Given the roots to tell of, return the framed block; empty where they hold nothing.

    The indexes are derived anew from what is on disk, so that nothing withheld is told, and what
    was written into them by hand is judged first.
    """
    scopes = []
    for root, rows in roots.surveys(names, to_stderr):
        told = listed(rows)
        index = derive(roots.index(root) or "", told)
        lawful, dropped = unobjectionable(index, {line(one) for one in told})
        if dropped:
            lawful += f"[extractord: of the lines written by hand, {dropped} left out: the law objects.]\n"
        scopes.append(
            Scope(
                title="About the person" if root == USER_ROOT else f"About the project {directory}",
                directory=str(memory / root),
                index=lawful,
                newest={row.path: row.mtime_ns for row in rows},
            )
        )
    return framed(tuple(scopes))
