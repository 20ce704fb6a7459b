"""The page of what was spent, and how long runs took; its charts are pictures of their own."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median

from aiohttp import web

from extractord.cli import plotting
from extractord.cli.web.site import Asked, Look, Shows, Site
from extractord.core.ports import RunRow, Spent

DAYS = 14
TIMED_RUNS = 60
_LABELLED = 6
"""Of so many runs one is labelled."""
_HALF, _WIDE = (560, 300), (1140, 300)
_INK = "svg{color:#5a626c}@media(prefers-color-scheme:dark){svg{color:#a2aab4}}"
"""`--soft` of the pages: a picture does not inherit it."""
_STYLE = re.compile(r"<style[^>]*>(.*?)</style>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Day:
    """What one day came to."""

    day: datetime
    spent: Spent


def spending(site: Site, _: Asked, look: Look) -> web.Response:
    """Spend by day, with its limits, and how long the newest runs took."""
    days, rows = _days(look, site.clock()), _timed(look)
    return site.page(
        "spending",
        "Spending and timing",
        look,
        days=days[::-1],
        today=days[-1].spent,
        budget=site.settings.budget,
        timed=rows,
        middle=median(row.ms for row in rows) if rows else 0,
        longest=max((row.ms for row in rows), default=0),
    )


def dollars(site: Site, _: Asked, look: Look) -> web.Response:
    """A chart of dollars a day."""
    days = _days(look, site.clock())
    return _picture(
        plotting.bars(
            "Dollars a day", _labels(days), {"dollars": [day.spent.dollars for day in days]}, size=_HALF
        )
    )


def tokens(site: Site, _: Asked, look: Look) -> web.Response:
    """A chart of tokens and requests a day."""
    days = _days(look, site.clock())
    return _picture(
        plotting.bars(
            "Tokens a day", _labels(days), {"tokens": [float(day.spent.tokens) for day in days]}, size=_HALF
        )
    )


def timing(_site: Site, _: Asked, look: Look) -> web.Response:
    """A chart of how long the newest runs took, oldest first."""
    rows = _timed(look)[::-1]
    labels = [
        f"{row.started_at.astimezone():%m-%d}" if number % _LABELLED == 0 else ""
        for number, row in enumerate(rows)
    ]
    seconds = {"seconds": [row.ms / 1000 for row in rows]}
    return _picture(plotting.lines("Seconds a run", labels, seconds, unit="s", size=_WIDE))


def _days(look: Look, now: datetime) -> list[Day]:
    """The last days, oldest first: what was spent since each midnight, less what was since the next."""
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    since = Spent()
    days = []
    for back in range(DAYS):
        begin = midnight - timedelta(days=back)
        total = look.ledger.runs.spent(begin)
        days.append(Day(begin, _less(total, since)))
        since = total
    return days[::-1]


def _less(total: Spent, later: Spent) -> Spent:
    return Spent(
        requests=total.requests - later.requests,
        tokens=total.tokens - later.tokens,
        dollars=max(0.0, round(total.dollars - later.dollars, 9)),
    )


def _timed(look: Look) -> Sequence[RunRow]:
    return [row for row in look.ledger.runs.recent(TIMED_RUNS) if row.ended_at is not None]


def _labels(days: Sequence[Day]) -> list[str]:
    return [f"{day.day:%m-%d}" for day in days]


def _picture(svg: str) -> web.Response:
    """The chart in the page's ink, which may style itself, by the hashes of its styles, and nothing else."""
    svg = svg.replace("<defs>", f"<defs><style>{_INK}</style>", 1)
    hashes = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()}'"
        for style in _STYLE.findall(svg)
    )
    policy = f"default-src 'none'; style-src {hashes}; frame-ancestors 'none'"
    return web.Response(text=svg, content_type="image/svg+xml", headers={"Content-Security-Policy": policy})


SHOWS: dict[str, Shows] = {
    "spending": spending,
    "spending/dollars.svg": dollars,
    "spending/tokens.svg": tokens,
    "spending/timing.svg": timing,
}
