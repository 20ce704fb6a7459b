"""From a window to a brief: what was said and what is remembered, without secrets, within a budget."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from extractord.core.brief import Draft, compose, draft
from extractord.core.manifest import Remembered, remembered
from extractord.core.prompting import Prompt
from extractord.core.records import Brief, Tool, Window
from extractord.core.survey import kinds_of, root_of
from extractord.edges.redaction import Redaction
from extractord.edges.store import Store
from extractord.policy.secret import Hit


@dataclass(frozen=True, slots=True)
class Drafted:
    """A draft, and the secrets that were found in its texts."""

    draft: Draft
    hits: Sequence[Sequence[Hit]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Briefing:
    """Drafts and composes briefs; `tokens` is the longest one's, system text and tools are all runs'."""

    store: Store
    redaction: Redaction
    system: str
    tools: tuple[Tool, ...]
    prompts: Mapping[str, Prompt]
    tokens: int
    clock: Callable[[], datetime]

    async def drafted(self, window: Window) -> Drafted:
        """Given a window, draft its brief and have secrets looked for.

        Raise ExtractordError where they cannot be.
        """
        drafted = await asyncio.to_thread(draft, window, self._remembered(window), self.tokens)
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

    def _remembered(self, window: Window) -> Sequence[Remembered]:
        """The memories of the run's roots; only of the newest the text is read."""
        roots = {kind: root_of(kind, window.project) for kind in kinds_of(window.project)}
        rows = [(kind, row) for kind, root in roots.items() for row in self.store.survey(root)]
        return remembered(rows, lambda kind, path: self.store.roots.text(roots[kind], path) or "")
