"""From a window to a brief: what was said and what is remembered, without secrets, within a budget."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Self

from extractord.core.brief import Draft, compose, draft
from extractord.core.manifest import Remembered, remembered
from extractord.core.prompting import Prompt
from extractord.core.records import Brief, Known, Project, Tool, Window
from extractord.core.survey import kinds_of, known, root_of
from extractord.edges.redaction import Redaction
from extractord.edges.store import Store
from extractord.errors import ConflictError
from extractord.policy.secret import Hit


@dataclass(frozen=True, slots=True)
class Ground:
    """A run's roots as it finds them."""

    remembered: Sequence[Remembered]
    """The memories; only of the newest the text is read."""
    known: tuple[Known, ...]
    roots: tuple[int, ...]
    """Their descriptors, the user's first."""

    @classmethod
    def looked_at(cls, store: Store, project: Project) -> Self:
        """Given the store and a project, look at both roots; what people wrote there is noticed first."""
        roots = {kind: root_of(kind, project) for kind in kinds_of(project)}
        with suppress(ConflictError):  # whoever has the lock notices too, and the commit does again
            store.notice(roots.values())
        rows = [(kind, row) for kind, root in roots.items() for row in store.survey(root)]
        return cls(
            remembered=remembered(rows, lambda kind, path: store.roots.text(roots[kind], path) or ""),
            known=known(rows),
            roots=tuple(store.roots.folder(root).fileno() for root in roots.values()),
        )


@dataclass(frozen=True, slots=True)
class Drafted:
    """A draft, and the secrets that were found in its texts."""

    draft: Draft
    hits: Sequence[Sequence[Hit]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Briefing:
    """Drafts and composes briefs; `tokens` is the longest one's, system text and tools are all runs'."""

    redaction: Redaction
    system: str
    tools: tuple[Tool, ...]
    prompts: Mapping[str, Prompt]
    tokens: int
    clock: Callable[[], datetime]

    async def drafted(self, window: Window, ground: Ground) -> Drafted:
        """Given a window and its run's ground, draft the brief and have secrets looked for.

        Raise ExtractordError where they cannot be.
        """
        drafted = await asyncio.to_thread(draft, window, ground.remembered, self.tokens)
        return Drafted(drafted, await self.redaction.find(drafted.texts))

    def composed(self, drafted: Drafted, tokens: int) -> Brief:
        """Given a draft, return a brief of at most so many tokens."""
        return compose(
            drafted.draft,
            drafted.hits,
            system=self.system,
            tools=self.tools,
            prompts=self.prompts,
            tokens=tokens,
            now=self.clock(),
        )
