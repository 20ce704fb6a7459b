"""What every page has at hand: the settings, the templates, and what it was asked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime

from aiohttp import web
from jinja2 import Environment

from extractord.cli.choosing import Row, rows_of
from extractord.cli.deciding import Waits, waiting
from extractord.cli.looking import looked_at
from extractord.cli.web.entering import Entry
from extractord.cli.web.wording import link
from extractord.config import Settings
from extractord.edges.ledger import Ledger
from extractord.edges.store.roots import Roots
from extractord.errors import UsageError
from extractord.storeroom import Storeroom, storeroom, to_stderr

_DIGITS = 18
"""Of the longest number that is taken for one: Python reads none of thousands."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What the browser asks for."""

    query: Mapping[str, str]
    form: Mapping[str, str] = field(default_factory=dict)

    def word(self, name: str, otherwise: str = "") -> str:
        """The value of a field, of the form first."""
        return self.form.get(name, self.query.get(name, otherwise))

    def required(self, name: str) -> str:
        """The value of a field. Raise UsageError where it is missing."""
        value = self.word(name)
        if not value:
            raise UsageError(f"the address says nothing for {name!r}: follow a link of one of the pages")
        return value

    def number(self, name: str, otherwise: int, most: int) -> int:
        """The value of a field as a number from 1 to `most`; `otherwise` where it is none."""
        value = self.word(name)
        is_number = value.isascii() and value.isdigit() and len(value) <= _DIGITS
        return max(1, min(int(value), most)) if is_number else otherwise


@dataclass(slots=True)
class Look:
    """What a page that only shows stands on: nothing is changed through it."""

    roots: Roots
    names: tuple[str, ...]
    ledger: Ledger
    warnings: list[str] = field(default_factory=list)
    """What is wrong with some root; the others are shown."""
    _rows: list[Row] | None = None

    def rows(self) -> list[Row]:
        """Every memory with its root's name, as they were when this was first asked."""
        if self._rows is None:
            self._rows = rows_of(self.roots, self.names, self.warn)
        return self._rows

    def waiting(self) -> list[Waits]:
        """All that waits for a person."""
        return waiting(self.ledger, self.rows())

    def warn(self, warning: str) -> None:
        """Note what is wrong with a root, for the page to say."""
        if warning not in self.warnings:
            self.warnings.append(warning)


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """The pages of one start."""

    settings: Settings
    entry: Entry
    unattended: str
    """Why nothing may be changed here, a sentence; empty where a person sits at it."""
    templates: Environment
    clock: Callable[[], datetime]
    confinement: str = "none"
    """What this process gave up, for the audit."""

    @contextmanager
    def look(self) -> Iterator[Look]:
        """Open ledger and roots to read, as they are at this moment."""
        with looked_at(self.settings) as (roots, names, ledger):
            yield Look(roots, names, ledger)

    @contextmanager
    def room(self) -> Iterator[Storeroom]:
        """Open ledger and store to change something."""
        with storeroom(self.settings, to_stderr) as room:
            room.ledger.confined(self.confinement)
            yield room

    def page(
        self, name: str, title: str, look: Look | None = None, *, status: int = 200, **values: object
    ) -> web.Response:
        """Given a template, a title and what it shows, return the page."""
        text = self.templates.get_template(f"{name}.html").render(
            title=title,
            page=name,
            held=len(look.waiting()) if look else 0,
            warnings=look.warnings if look else [],
            unattended=self.unattended,
            now=self.clock(),
            **values,
        )
        return web.Response(text=text, content_type="text/html", status=status)

    def go(self, page: str, **query: str) -> web.Response:
        """Send the browser on to a page, by GET."""
        return web.Response(status=303, headers={"Location": link(self.entry, page, **query)})


Shows = Callable[[Site, Asked, Look], web.Response | Awaitable[web.Response]]
"""A page that shows something."""
Does = Callable[[Site, Asked], web.Response]
"""What a form does, and where it leads."""
