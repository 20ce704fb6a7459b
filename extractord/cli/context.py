"""`context`: what an agent is told of the memories when a session begins."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Literal

from extractord.cli.hooking import answer
from extractord.cli.json_lines import print_json
from extractord.cli.looking import looked_at, project_of
from extractord.cli.options import Json
from extractord.config import load_settings
from extractord.core.foreign import unobjectionable
from extractord.core.hooks import ANY, HOOKS, within
from extractord.core.index import derive, line
from extractord.core.injection import Scope
from extractord.core.survey import USER_ROOT, kinds_of, root_of
from extractord.edges.store.roots import Roots, listed
from extractord.errors import UsageError
from extractord.storeroom import to_stderr


def context(
    *,
    project: Path | None = None,
    format: Literal["markdown", "hook"] = "markdown",  # noqa: A002 - the name of the option
    agent: str = "",
    json: Json = False,
) -> None:
    """Print the index of the person's and the project's memories, as an agent is given it.

    Parameters
    ----------
    project
        A directory of the project; by default the current one.
    format
        markdown: the block itself; hook: what an agent's hook answers with, never an error.
    agent
        Whose hook it is: its own form, and no more than it shows to its model.
    json
        One object with the block, its lines and characters.
    """
    if agent and agent not in HOOKS:
        raise UsageError(f"no hook of {agent!r} is known: name one of {', '.join(HOOKS)}")
    if format == "hook" and not json:
        answer(agent, lambda: _told(project, agent, is_answer=True)[1])
        return
    slug, block = _told(project, agent)
    if json:
        said = {"project": slug, "text": block, "lines": block.count("\n"), "chars": len(block)}
        print_json(said)
    else:
        sys.stdout.write(block)
        if not block and sys.stdout.isatty():
            print(
                "extractord: nothing is kept yet that belongs here: an agent is told nothing", file=sys.stderr
            )


def _told(project: Path | None, agent: str, *, is_answer: bool = False) -> tuple[str, str]:
    """Return a project's slug, and the block in an agent's size, as its hook answers if that is wanted.

    Raise what settings and roots do.
    """
    hook = HOOKS.get(agent, ANY)
    settings = load_settings()
    found = project_of(settings, project)
    wanted = [root_of(kind, found) for kind in kinds_of(found)]
    with looked_at(settings) as (roots, there, _):
        names = [root for root in wanted if root in there]
        block = within(hook, context_scopes(roots, names, settings.memory_dir, found.directory))
    return found.slug, hook.answer(block) if is_answer and block else block


def context_scopes(roots: Roots, names: list[str], memory: Path, directory: str) -> tuple[Scope, ...]:
    """Given the roots to tell of, return what is told of each.

    The indexes are derived anew from what is on disk, so that nothing withheld is told, and what
    was written into them by hand is judged first.
    """
    scopes = []
    for root, rows in roots.surveys(names, to_stderr):
        told = listed(rows)
        index = derive(roots.index(root) or "", told)
        lawful, dropped = unobjectionable(index, {line(one) for one in told})
        if dropped:
            lawful += f"[extractord: of the lines written by hand, {dropped} left out: the policy objects.]\n"
        scopes.append(
            Scope(
                title="About the person" if root == USER_ROOT else f"About the project {directory}",
                directory=str(memory / root),
                index=lawful,
                newest={row.path: row.mtime_ns for row in rows},
            )
        )
    return tuple(scopes)
