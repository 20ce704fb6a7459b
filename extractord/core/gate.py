"""Whether an exchange is worth a run, asked before anything is spent."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from extractord.core.direct import below, may_spell, telling, under
from extractord.core.exchanges import PROMPTS, whole
from extractord.core.records import Entry, Exchange, Origin, Thaw
from extractord.core.words import speaks

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
    own_sessions: frozenset[str] = frozenset()
    own_directories: tuple[str, ...] = ()
    """Where our own runs work, if a model is reached through an agent."""
    own_marker: str = ""
    """What stands in each of our briefs; empty: nothing does."""


def gate(exchange: Exchange, settings: GateSettings, seen: AbstractSet[str]) -> Run | Skip:
    """Given an exchange that ended and the prompts that other sessions had first, return what to do.

    The first reason counts: excluded, own_run, direct_write, no_prose, already_seen (DESIGN §7).
    """
    prompts = [entry for entry in exchange.entries if entry.origin in PROMPTS]
    if _is_excluded(exchange, settings):
        return Skip("excluded")
    if _is_own(exchange, prompts, settings):
        return Skip("own_run")
    if memory_writes(exchange, settings):
        return Skip("direct_write")
    if not any(speaks(prompt, PROSE_WORDS) for prompt in prompts):
        return Skip("no_prose")
    if all(prompt.id in seen for prompt in prompts):
        return Skip("already_seen")
    return Run()


def _is_excluded(exchange: Exchange, settings: GateSettings) -> bool:
    return exchange.cwd is not None and under(exchange.cwd, settings.excluded, settings.home)


def _is_own(exchange: Exchange, prompts: list[Entry], settings: GateSettings) -> bool:
    if exchange.session in settings.own_sessions:
        return True
    if exchange.cwd is not None and under(exchange.cwd, settings.own_directories, settings.home):
        return True
    return bool(settings.own_marker) and any(settings.own_marker in prompt.text for prompt in prompts)


def memory_writes(exchange: Exchange, settings: GateSettings) -> tuple[str, ...]:
    """Given an exchange, return the paths below <memory> that the watched agent wrote in it.

    A call whose outcome is unknown counts only where no call of the exchange has one. So it counts
    for an agent that records no results, and not for a call that was interrupted.
    """
    if exchange.thaw is not None:
        if not _may_write(exchange, exchange.thaw, settings):
            return ()
        exchange = whole(exchange)
    calls = [call for entry in exchange.entries if entry.origin is not Origin.COPIED for call in entry.calls]
    succeeded = (True,) if any(call.ok is not None for call in calls) else (True, None)
    places = (
        below(path, settings.memory_roots, settings.home)
        for call in calls
        if call.writes and call.ok in succeeded
        for path in call.paths
    )
    return tuple(dict.fromkeys(place for place in places if place is not None))


def _may_write(exchange: Exchange, thaw: Thaw, settings: GateSettings) -> bool:
    """True if a call of what is kept would change a file below <memory>.

    A deferred record need not be read for it where it cannot spell a root's name. That is all, since
    an adapter makes paths of a record's own words and of its cwd, which it holds or which stands beside
    it: a path below the root has the root's name from one of the two. What hides it is the home (`~`, not
    asked for), quotes and backslashes (looked through), a variable or an escape by number (read).
    """
    names = telling(settings.memory_roots, settings.home)
    for each in exchange.kept:
        if isinstance(each, Entry):
            made = each.calls
        elif each.calls and may_spell(names, each.record, each.cwd):
            made = tuple(call for entry in thaw((each,)) for call in entry.calls)
        else:
            continue
        paths = (path for call in made if call.writes for path in call.paths)
        if made and any(below(path, settings.memory_roots, settings.home) is not None for path in paths):
            return True
    return False
