"""A session's ended exchanges through the gate: those that run are its windows, the others close."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime

from extractord.core.events import Oversized, Skipped
from extractord.core.exchanges import Session
from extractord.core.gate import GateSettings, Run, Skip, gate
from extractord.core.merging import merged
from extractord.core.ports import Ranges, Uses
from extractord.core.records import Exchange, Project, Window
from extractord.core.touches import Touches, placed, touches

Resolve = Callable[[str, str, str], Project]
"""Given agent, session and directory, the project; of a session without a directory: the home."""
Come = Window | Skipped | Oversized
"""What comes of a touched transcript."""

_CLOSED = ("closed", "baseline")
_NOT_SEEN = ("excluded", "own_run", "already_seen")
"""Of these nothing is kept, or another session has it."""


class Gating:
    """Asks ledger, project and gate about exchanges, and remembers what was offered."""

    def __init__(
        self, ranges: Ranges, resolve: Resolve, settings: GateSettings, uses: Uses | None = None
    ) -> None:
        """Begin with nothing offered; `uses` is told which memories were opened."""
        self._uses = uses
        self._ranges = ranges
        self._resolve = resolve
        self._settings = settings
        self._first: dict[tuple[str, str], str] = {}
        self._offered: dict[tuple[str, str], dict[str, Project]] = {}

    def closed(self, agent: str, session: str) -> frozenset[str]:
        """The exchanges of a session that are not to be read again."""
        states = self._ranges.states(agent, session)
        return frozenset(key for key, state in states.items() if state.state in _CLOSED)

    def is_reopened(self, part: Session) -> bool:
        """True if the ledger opened an exchange again that was dropped as closed."""
        return not part.closed <= self.closed(part.agent, part.session)

    def come(self, agent: str, session: str, parts: Iterable[Session], now: datetime) -> list[Come]:
        """Given a session as it was folded, return its windows, one a project, and what was skipped.

        Skipped exchanges are closed in the ledger. A project that was offered something and has
        nothing now gets a window without exchanges, once.
        """
        parts = tuple(parts)
        states = self._ranges.states(agent, session)
        closed = [key for key, state in states.items() if state.state in _CLOSED]
        waiting = [
            exchange
            for exchange in merged(parts)
            if exchange.ended and (exchange.key not in states or states[exchange.key].state == "open")
        ]
        seen = self._seen(agent, session, waiting)
        projects: dict[str, Project] = {}
        passed: dict[str, list[Exchange]] = {}
        skipped: list[Skipped] = []
        for exchange in waiting:
            match self._asked(exchange, seen, now):
                case Skipped() as skip:
                    skipped.append(skip)
                case project:
                    projects[project.slug] = project
                    passed.setdefault(project.slug, []).append(exchange)
                    self._first.setdefault((agent, exchange.key), session)
        for reason in dict.fromkeys(skip.reason for skip in skipped):
            keys = [skip.exchange for skip in skipped if skip.reason == reason]
            self._ranges.close(agent, session, keys, reason, now)
            closed += keys
        for part in parts:
            part.forget(closed)
        for key in closed:
            if self._first.get((agent, key)) == session:  # a copy's end is not that of the original
                del self._first[agent, key]  # the ledger knows it now
        offered = self._offered.pop((agent, session), {}) | projects
        if projects:
            self._offered[agent, session] = projects
        return [
            *skipped,
            *(
                Window(agent=agent, session=session, project=project, exchanges=tuple(passed.get(slug, ())))
                for slug, project in offered.items()
            ),
        ]

    def _asked(self, exchange: Exchange, seen: frozenset[str], now: datetime) -> Project | Skipped:
        """Ask the gate about an exchange: the project that it runs in, or why it does not."""
        touched = touches(exchange, self._settings.memory_roots, self._settings.home)
        match gate(exchange, self._settings, seen, touched):
            case Run():
                return self._note(exchange, touched, now)
            case Skip(reason):
                if reason not in _NOT_SEEN:
                    self._note(exchange, touched, now)
                return Skipped(
                    at=now,
                    agent=exchange.agent,
                    session=exchange.session,
                    exchange=exchange.key,
                    reason=reason,
                    entries=len(exchange.kept or exchange.entries),
                    written=touched.written,
                )

    def _note(self, exchange: Exchange, touched: Touches, now: datetime) -> Project:
        """Tell which memories were opened; return the exchange's project."""
        agent, session = exchange.agent, exchange.session
        project = self._resolve(agent, session, exchange.cwd or self._settings.home)
        if self._uses is not None:
            opened = [placed(place, project) for place in touched.opened]
            at = next((entry.time for entry in exchange.entries if entry.time is not None), now)
            self._uses.note(project.slug, agent, session, exchange.key, opened, at)
        return project

    def _seen(self, agent: str, session: str, waiting: Iterable[Exchange]) -> frozenset[str]:
        """Prompts that another session had first, by the ledger or by what was offered."""
        keys = [exchange.key for exchange in waiting]
        offered = [key for key in keys if self._first.get((agent, key), session) != session]
        return self._ranges.elsewhere(agent, session, keys).union(offered) if keys else frozenset()
