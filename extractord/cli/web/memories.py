"""The page of all memories, by project, and by how far they can be believed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from aiohttp import web

from extractord.cli.choosing import Row
from extractord.cli.web.site import Asked, Look, Shows, Site
from extractord.cli.web.wording import called
from extractord.core.survey import Surveyed
from extractord.recall.unopened import unopened

PAGE_ROWS = 200
TRUSTS = ("confirmed", "stated", "inferred", "untrusted")
STANDINGS = ("pinned", "foreign", "withheld", "at fault", "never opened")
SORTS: dict[str, Callable[[Surveyed], object]] = {
    "newest": lambda row: (-row.mtime_ns, row.path),
    "oldest": lambda row: (row.mtime_ns, row.path),
    "name": lambda row: (row.title.casefold(), row.path),
    "trust": lambda row: (-(row.trust if row.trust is not None else -1), -row.mtime_ns, row.path),
}


@dataclass(frozen=True, slots=True)
class Group:
    """The memories of one root."""

    root: str
    directory: str
    """Of the project, where a session was in it."""
    rows: Sequence[Surveyed]


def memories(site: Site, asked: Asked, look: Look) -> web.Response:
    """Every memory that the filters leave, a section a root."""
    everything = look.rows()
    never = {(one.root, one.row.path) for one in unopened(look.ledger.uses, everything)}
    kept = [
        (root, row)
        for root, row in everything
        if _is_wanted(asked, root, row, is_unopened=(root, row.path) in never)
    ]
    key = SORTS.get(asked.word("sort"), SORTS["newest"])
    kept.sort(key=lambda one: (one[0] != "user", one[0], key(one[1])))
    first = (asked.number("page", 1, 1_000_000) - 1) * PAGE_ROWS
    return site.page(
        "memories",
        "Memories",
        look,
        groups=list(_groups(look, kept[first : first + PAGE_ROWS])),
        total=len(everything),
        found=len(kept),
        first=first,
        page_rows=PAGE_ROWS,
        asked={name: asked.word(name) for name in ("root", "trust", "type", "standing", "sort", "page")},
        roots=sorted({root for root, _ in everything}, key=lambda root: (root != "user", called(root), root)),
        types=sorted({row.type for _, row in everything if row.type}),
        trusts=TRUSTS,
        standings=STANDINGS,
        sorts=tuple(SORTS),
        done=asked.word("done"),
    )


def _groups(look: Look, rows: Sequence[Row]) -> Iterator[Group]:
    homes = {f"projects/{home.slug}": home.directory for home in look.ledger.rehoming.homes()}
    for root, mine in groupby(rows, key=lambda one: one[0]):
        yield Group(root, homes.get(root, ""), [row for _, row in mine])


def _is_wanted(asked: Asked, root: str, row: Surveyed, *, is_unopened: bool) -> bool:
    trust = row.trust.word if row.trust is not None else ""
    return (
        asked.word("root") in ("", root)
        and asked.word("trust") in ("", trust)
        and asked.word("type") in ("", row.type)
        and asked.word("standing") in ("", *_standing(row, is_unopened=is_unopened))
    )


def _standing(row: Surveyed, *, is_unopened: bool) -> Iterator[str]:
    marks = (row.pinned, row.foreign, bool(row.withheld), bool(row.fault), is_unopened)
    return (name for name, is_so in zip(STANDINGS, marks, strict=True) if is_so)


SHOWS: dict[str, Shows] = {"memories": memories}
