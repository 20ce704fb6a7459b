"""Faults as pages: what is wrong, and what to do."""

from __future__ import annotations

import sys
import traceback

from aiohttp import web

from extractord.cli.web.entering import Refused
from extractord.cli.web.site import Site
from extractord.errors import ConflictError, ExtractordError, UsageError

_OURS = 500
_TITLES = {
    400: "Not like this",
    403: "Not let in",
    404: "Not here",
    405: "Not like this",
    409: "It changed meanwhile",
    413: "Too long",
    415: "Not like this",
    422: "That cannot be done",
    500: "Something is wrong",
}
_SENTENCES = {
    404: "There is no such page: the list of memories has what there is.",
    405: "This address either only shows, or takes only what one of our own forms sends.",
    413: "That is more than a megabyte: a memory is one fact, and far shorter.",
}
_FOUND = ("GET", "HEAD")


def fault_page(site: Site, method: str, error: Exception) -> web.Response:
    """Given what was raised for a request, return it as a page; what nobody foresaw is ours."""
    status, sentence = _told(method, error)
    title = _TITLES.get(status, "That cannot be done")
    is_inside = not isinstance(error, Refused) or error.is_guest
    return site.page("fault", title, status=status, sentence=sentence, status_code=status, inside=is_inside)


def status_of(error: ExtractordError) -> int:
    """Given why something could not be done, return the status that says so."""
    match error:
        case ConflictError():
            return 409
        case UsageError():
            return 422
        case _:
            return _OURS


def _told(method: str, error: Exception) -> tuple[int, str]:
    match error:
        case Refused():
            return error.status, str(error)
        case web.HTTPException():
            return error.status, _SENTENCES.get(error.status, error.reason)
        case UsageError() if method in _FOUND:
            return 404, str(error)
        case ExtractordError():
            return status_of(error), str(error)
        case _:
            traceback.print_exception(error, file=sys.stderr)
            return _OURS, "This is our fault: the terminal that `extractord web` runs in has the details."
