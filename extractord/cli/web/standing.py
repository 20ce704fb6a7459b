"""The page of how things stand: the daemon, what waits and for whom, what was parked."""

from __future__ import annotations

import msgspec
from aiohttp import web

from extractord.cli import status
from extractord.cli.web.site import Asked, Look, Shows, Site
from extractord.core.budget import Limits


def standing(site: Site, _: Asked, look: Look) -> web.Response:
    """What `extractord status` says, with buttons."""
    limits = msgspec.convert(site.settings.budget, Limits, from_attributes=True)
    now = site.clock()
    found = status.look(site.settings.state_dir, limits, now)
    return site.page(
        "status",
        "Status",
        look,
        found=found,
        limits=limits,
        outside=list(status.outside(found)),
        memory_dir=str(site.settings.memory_dir),
        state_dir=str(site.settings.state_dir),
        mode=site.settings.mode,
        model=site.settings.model.name,
    )


SHOWS: dict[str, Shows] = {"status": standing}
