"""`web`: a page on this machine alone, for looking at what was learned and putting it right."""

from __future__ import annotations

import asyncio
import sys
import tempfile
import webbrowser
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from extractord.cli.attended import unattended
from extractord.cli.web.entering import Entry
from extractord.cli.web.serving import listening, serve
from extractord.cli.web.site import Site
from extractord.cli.web.wording import templates
from extractord.config import load_settings, platform_surroundings
from extractord.storeroom import confined, now, storeroom, to_stderr


def web(
    *,
    port: Annotated[int, Parameter(help="Of the loopback interface; 0 takes one that is free.")] = 0,
    open_: Annotated[
        bool, Parameter(name="--open", negative="--no-open", help="Open it in the browser.")
    ] = True,
) -> None:
    """Show memories, what is held, runs and spending on a page of this machine, and change them there.

    The address that is printed lets in whoever has it, until this command ends. Where it is not
    printed to a person's terminal, the page only shows.
    """
    settings, reason = load_settings(), unattended()
    tmp = tempfile.gettempdir()  # found by writing, which this process soon can't
    with storeroom(settings, to_stderr) as room:  # they are there, whole, and ours
        for warning in room.store.notice(filter(room.store.roots.is_usable, room.store.names())):
            to_stderr(warning)
    listener = listening(port)
    entry = Entry.fresh(listener.getsockname()[1])
    site = Site(settings=settings, entry=entry, unattended=reason, templates=templates(entry), clock=now)
    print(f"extractord is at {entry.address()}", flush=True)
    if reason:
        to_stderr(f"{reason}: the page only shows")
    else:
        to_stderr("whoever has this address may change memories, until Ctrl-C ends it")
        if open_ and _has_browser():
            webbrowser.open(entry.address(once=True))
    kept = [settings.state_dir] if reason else [settings.memory_dir, settings.state_dir]
    level = confined(settings, Path(tmp), kept)
    asyncio.run(serve(replace(site, confinement=level), listener))


def _has_browser() -> bool:
    """True where a browser would come up in a window, and not in this terminal."""
    environ, _, _ = platform_surroundings()
    return sys.platform == "darwin" or bool(environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY"))
