"""A run over the memories themselves: the same sub-agent, law and writer, its evidence the memories."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Literal

from extractord.core.brief import fence
from extractord.core.consolidation import AGENT, Kept, fitting, rendered, session_of, shown, suspects
from extractord.core.memory import Malformed, parse
from extractord.core.ports import RunRow
from extractord.core.prompting import CONSOLIDATE
from extractord.core.records import Brief, Exchange, Message, Project, Snapshot, Window
from extractord.core.survey import kinds_of, root_of
from extractord.core.tokens import estimate_tokens
from extractord.edges.prompts import load_prompts
from extractord.edges.store.roots import Roots
from extractord.extraction import Extraction

Mode = Literal["ask", "auto"]
_KEY = "memories"
_SHARE = 2
"""Half of a brief is left for answers."""


def to_look_at(roots: Roots, there: tuple[str, ...], project: Project, now: datetime) -> tuple[Kept, ...]:
    """Given the roots and a project, return the memories that need a look; changes nothing."""
    found = []
    for kind in kinds_of(project):
        root = root_of(kind, project)
        if root not in there:
            continue
        for row in roots.survey(root):
            text = "" if row.fault or row.withheld else roots.text(root, row.path) or ""
            found.append(
                Kept(root=kind, row=row, text=text, said_at=_said_at(roots, root, row.path, row.mtime_ns))
            )
    return suspects(found, now.date())


async def consolidated(
    extraction: Extraction, memories: tuple[Kept, ...], project: Project, mode: Mode
) -> RunRow | None:
    """Given what needs a look, run it and return the run's row.

    None where the same was looked at before, in the same mode, or is just now: no request is made.
    """
    briefing = extraction.briefing
    looked_at = fitting(memories, briefing.tokens // _SHARE)
    session = session_of(looked_at, mode)
    exchange = Exchange(agent=AGENT, session=session, key=_KEY, entries=(), ended=True)
    window = Window(agent=AGENT, session=session, project=project, exchanges=(exchange,))
    now = extraction.clock()
    brief = _brief(extraction, looked_at, session, now)
    return await replace(extraction, mode=mode).run(Snapshot(window=window, brief=brief))


def _brief(extraction: Extraction, memories: tuple[Kept, ...], session: str, now: datetime) -> Brief:
    entries = shown(memories)
    listed = rendered(memories, entries)
    prompt = load_prompts(signatures=CONSOLIDATE)["consolidate"]
    content = prompt.render(today=f"{now:%A, %Y-%m-%d}", fence=fence(listed), memories=listed)
    system = extraction.briefing.system
    return Brief(
        messages=(Message(role="system", content=system), Message(role="user", content=content)),
        shown=entries,
        session=session,
        agent=AGENT,
        tokens=estimate_tokens(system) + estimate_tokens(content),
    )


def _said_at(roots: Roots, root: str, path: str, mtime_ns: int) -> datetime:
    """When a memory was said: by our own stamp, else when its file was written."""
    raw = roots.raw(root, path)
    memory = parse((raw or b"").decode("utf-8", "replace"))
    stamps: Mapping[str, object] = {} if isinstance(memory, Malformed) else memory.metadata
    for name in ("observed_at", "recorded_at"):
        try:
            return datetime.fromisoformat(str(stamps[name]))
        except (KeyError, ValueError):
            continue
    return datetime.fromtimestamp(mtime_ns / 1e9, UTC)
