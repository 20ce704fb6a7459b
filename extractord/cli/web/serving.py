"""The server: the guard before every page, the headers on each, and faults as pages."""

from __future__ import annotations

import asyncio
import signal
import socket
from pathlib import Path

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from extractord.cli.web import amending, held, memories, memory, runs, said, searching, spending, standing
from extractord.cli.web.entering import Refused, check_kind
from extractord.cli.web.faults import fault_page
from extractord.cli.web.site import Asked, Does, Shows, Site
from extractord.errors import UsageError

_BODY_BYTES = 1024 * 1024
_PLACE = Path(__file__).parent
_STATIC = {"style.css": "text/css", "icon.svg": "image/svg+xml"}
"""What is no secret, and error pages need before anybody is let in."""
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; "
        "base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
    "Server": "extractord",
}
_SHOWS: dict[str, Shows] = {
    **memories.SHOWS, **memory.SHOWS, **held.SHOWS, **runs.SHOWS, **spending.SHOWS, **standing.SHOWS,
    **searching.SHOWS, **said.SHOWS,
}  # fmt: skip
_ASKS: dict[str, Shows] = {**amending.ASKS, **held.ASKS}
"""Pages that are a form and nothing else."""
_DOES: dict[str, Does] = {**amending.DOES, **held.DOES, **runs.DOES}


def listening(port: int) -> socket.socket:
    """Given a port, 0 for any, listen on it on the loopback interface. Raise UsageError where it is taken."""
    if not 0 <= port < 2**16:
        raise UsageError(f"--port {port}: give a number up to 65535, or 0 for one that is free")
    try:
        return socket.create_server(("127.0.0.1", port))
    except OSError as error:
        raise UsageError(
            f"port {port} cannot be used ({error.strerror}): give another with --port, or 0"
        ) from error


async def serve(site: Site, listener: socket.socket) -> None:
    """Answer on the listening socket until SIGINT or SIGTERM."""
    ended = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    runner = web.AppRunner(application(site), access_log=None, shutdown_timeout=1.0, auto_decompress=False)
    await runner.setup()
    try:
        await web.SockSite(runner, listener).start()
        await ended.wait()
    finally:
        await runner.cleanup()


def application(site: Site) -> web.Application:
    """Given a site, return what answers for it."""
    app = web.Application(middlewares=[_as_pages(site), _guard(site)], client_max_size=_BODY_BYTES)
    app.on_response_prepare.append(_with_headers)
    app.router.add_get("/", _admitting(site))
    for name, kind in _STATIC.items():
        app.router.add_get(f"/{name}", _giving(name, kind))
    below = f"/{site.entry.folder}/"
    app.router.add_get(below, _leading_home(site))
    for name, shows in _SHOWS.items():
        app.router.add_get(below + name, _showing(site, shows))
    for name, asks in _ASKS.items():
        app.router.add_get(below + name, _asking(site, asks))
    for name, does in _DOES.items():
        app.router.add_post(below + name, _doing(site, does))
    return app


def _admitting(site: Site) -> Handler:
    async def admit(request: web.Request) -> web.Response:
        return site.entry.admit(request.query.get("token", ""))

    return admit


def _leading_home(site: Site) -> Handler:
    async def lead(_: web.Request) -> web.Response:
        return site.go("memories")

    return lead


def _giving(name: str, kind: str) -> Handler:
    content = (_PLACE / name).read_bytes()

    async def give(_: web.Request) -> web.Response:
        return web.Response(body=content, content_type=kind)

    return give


def _showing(site: Site, shows: Shows) -> Handler:
    async def show(request: web.Request) -> web.Response:
        with site.look() as look:
            answer = shows(site, Asked(request.query), look)
            return answer if isinstance(answer, web.Response) else await answer

    return show


def _asking(site: Site, asks: Shows) -> Handler:
    show = _showing(site, asks)

    async def ask(request: web.Request) -> web.StreamResponse:
        _require_a_person(site)
        return await show(request)

    return ask


def _doing(site: Site, does: Does) -> Handler:
    async def do(request: web.Request) -> web.Response:
        check_kind(request)
        form = await _form(request)
        site.entry.check_form(request, form.get("word", ""))
        _require_a_person(site)
        return await asyncio.to_thread(does, site, Asked({}, form))  # others read while it waits for the lock

    return do


async def _form(request: web.Request) -> dict[str, str]:
    """The fields of a form. Raise Refused for bytes that are none."""
    try:
        sent = await request.post()
    except (LookupError, UnicodeError, ValueError) as error:
        raise Refused(400, "This is not a form in UTF-8.", is_guest=True) from error
    return {name: value for name, value in sent.items() if isinstance(value, str)}


def _require_a_person(site: Site) -> None:
    if site.unattended:
        raise Refused(403, "Nothing can be changed here.", is_guest=True)


def _guard(site: Site) -> Middleware:
    @web.middleware
    async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
        site.entry.check_host(request)
        if request.path != "/" and request.path.removeprefix("/") not in _STATIC:
            site.entry.check_guest(request)
        return await handler(request)

    return guard


def _as_pages(site: Site) -> Middleware:
    @web.middleware
    async def as_pages(request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            return await handler(request)
        except Exception as error:  # noqa: BLE001 - the last place: the page says it, the terminal has the rest
            return fault_page(site, request.method, error)

    return as_pages


async def _with_headers(_: web.Request, response: web.StreamResponse) -> None:
    for name, value in _HEADERS.items():
        response.headers.setdefault(name, value)
    response.headers["Server"] = _HEADERS["Server"]
