"""The page of what is found: the memories that have some words, the best first, and where."""

from __future__ import annotations

from aiohttp import web

from extractord.cli.web.site import Asked, Look, Shows, Site
from extractord.errors import UsageError
from extractord.recall import Findings, search

_FIRST_ROWS, _MOST_ROWS = 20, 1000


def searching(site: Site, asked: Asked, look: Look) -> web.Response:
    """What `extractord search` finds in every root."""
    words = asked.word("words")
    limit = asked.number("limit", _FIRST_ROWS, _MOST_ROWS)
    return site.page(
        "search",
        "Search",
        look,
        words=words,
        findings=_found(look, words, limit),
        more=min(limit * 5, _MOST_ROWS) if limit < _MOST_ROWS else 0,
    )


def _found(look: Look, words: str, limit: int) -> Findings | None:
    """None where there is no word to look for."""
    try:
        return search(look.roots, look.names, words, limit=limit, warn=look.warn)
    except UsageError:
        return None


SHOWS: dict[str, Shows] = {"search": searching}
