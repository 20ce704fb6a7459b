"""Whether an exchange is worth a run, asked before anything is spent."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from extractord.core.direct import under
from extractord.core.exchanges import PROMPTS
from extractord.core.prose import speaks
from extractord.core.records import Entry, Exchange
from extractord.core.touches import Touches, touches

PROSE_WORDS = 3


@dataclass(frozen=True, slots=True)
class Run:
    """Nothing speaks against a run."""


@dataclass(frozen=True, slots=True)
class Skip:
    """No run for this exchange; `reason` is one of the words of DESIGN §7."""

    reason: str


@dataclass(frozen=True, slots=True)
class GateSettings:
    """What the gate has to know besides the exchange; every path as configured and as real path."""

    home: str
    memory_roots: tuple[str, ...]
    excluded: tuple[str, ...] = ()
    """Directories whose sessions are never read."""
    own_marker: str = ""
    """What stands in each of our briefs; empty: nothing does."""


def gate(
    exchange: Exchange, settings: GateSettings, seen: AbstractSet[str], touched: Touches | None = None
) -> Run | Skip:
    """Given an exchange that ended and the prompts that other sessions had first, return what to do.

    `touched` is what the exchange did to memories, where that is known already. The first
    reason counts: excluded, own_run, direct_write, no_prose, already_seen (DESIGN §7).
    """
    prompts = [entry for entry in exchange.entries if entry.origin in PROMPTS]
    if _is_excluded(exchange, settings):
        return Skip("excluded")
    if _is_own(prompts, settings):
        return Skip("own_run")
    if (touched or touches(exchange, settings.memory_roots, settings.home)).written:
        return Skip("direct_write")
    if not any(speaks(prompt, PROSE_WORDS) for prompt in prompts):
        return Skip("no_prose")
    if all(prompt.id in seen for prompt in prompts):
        return Skip("already_seen")
    return Run()


def _is_excluded(exchange: Exchange, settings: GateSettings) -> bool:
    return exchange.cwd is not None and under(exchange.cwd, settings.excluded, settings.home)


def _is_own(prompts: list[Entry], settings: GateSettings) -> bool:
    return bool(settings.own_marker) and any(settings.own_marker in prompt.text for prompt in prompts)
