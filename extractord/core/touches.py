"""Which memories a watched agent wrote and opened in an exchange."""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

from extractord.core.changeset import INDEX
from extractord.core.direct import below, may_spell, telling
from extractord.core.merging import whole
from extractord.core.records import Deferred, Entry, Exchange, Origin, Project, Thaw, ToolCall
from extractord.core.survey import root_of
from extractord.policy.requests import RootKind

_READ_TOOL = re.compile(r"(?:^|[^a-z])memory_?read$", re.IGNORECASE)
"""The tool of our server, whatever the agent puts before its name."""
_READ_NAME = b"memoryread"
_VIRTUAL = re.compile(r"/memory/(user|project)/(.+)", re.DOTALL)


class Touches(Struct, frozen=True):
    """Paths below <memory>; what our server was asked for is virtual, as `/memory/project/a.md`."""

    written: tuple[str, ...] = ()
    opened: tuple[str, ...] = ()


def touches(exchange: Exchange, roots: tuple[str, ...], home: str) -> Touches:
    """Given an exchange and <memory> as configured and as real path, return what was done to memories.

    A write whose outcome is unknown counts only where no call of the exchange has one. So it counts
    for an agent that records no results, and not for a call that was interrupted. An index is none.
    """
    if exchange.thaw is not None:
        if not _may_touch(exchange, exchange.thaw, roots, home):
            return Touches()
        exchange = whole(exchange)
    calls = [call for entry in exchange.entries if entry.origin is not Origin.COPIED for call in entry.calls]
    succeeded = (True,) if any(call.ok is not None for call in calls) else (True, None)
    written: dict[str, None] = {}
    opened: dict[str, None] = {}
    for call in calls:
        places = dict.fromkeys(_places(call, roots, home))
        if call.writes and call.ok in succeeded:
            written |= places
        elif not call.writes and call.ok is not False:
            opened |= {place: None for place in places if _is_memory(place)}
    return Touches(tuple(written), tuple(opened))


def placed(place: str, project: Project) -> str:
    """Given a path that was touched and the session's project, return it below <memory>."""
    found = _VIRTUAL.fullmatch(place)
    return f"{root_of(RootKind(found[1]), project)}/{found[2]}" if found else place


def is_read_tool(name: str) -> bool:
    """True for our server's tool that reads a memory."""
    return _READ_TOOL.search(name) is not None


def _places(call: ToolCall, roots: tuple[str, ...], home: str) -> Iterable[str]:
    if not call.writes and is_read_tool(call.name):
        return [path for path in call.paths if _VIRTUAL.fullmatch(path)]
    return [place for path in call.paths if (place := below(path, roots, home)) is not None]


def _is_memory(place: str) -> bool:
    name = place.rpartition("/")[2]
    return name.endswith(".md") and name != INDEX and not set("*?[") & set(place)


def _may_touch(exchange: Exchange, thaw: Thaw, roots: tuple[str, ...], home: str) -> bool:
    """True if a call of what is kept names a file below <memory>.

    A deferred record need not be read for it where it cannot spell a root's name. That is all, since
    an adapter makes paths of a record's own words and of its cwd, which it holds or which stands beside
    it: a path below the root has the root's name from one of the two. What hides it is the home (`~`, not
    asked for), quotes and backslashes (looked through), a variable or an escape by number (read).
    """
    names = (*telling(roots, home), _READ_NAME)
    asked = [each for each in exchange.kept if isinstance(each, Deferred) and each.calls]
    records = b"\n".join([each.record for each in asked])
    may_name = any(may_spell(names, records, cwd) for cwd in {each.cwd for each in asked})
    for each in exchange.kept if may_name else exchange.entries:
        if isinstance(each, Entry):
            made = each.calls
        elif each.calls and may_spell(names, each.record, each.cwd):
            made = tuple(call for entry in thaw((each,)) for call in entry.calls)
        else:
            continue
        if made and any(_places(call, roots, home) for call in made):
            return True
    return False
