"""What a watched agent's tools do with which of their arguments."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Literal, assert_never

from msgspec import Struct

from extractord.core.records import ToolCall
from extractord.core.touches import is_read_tool
from extractord.core.transcripts.recorded import absolute, patch_paths, shell_reads, shell_writes


class Takes(Struct, frozen=True):
    """What a tool of the watched agent does with which arguments; the first that is there counts."""

    how: Literal["read", "write", "patch", "shell"]
    keys: tuple[str, ...]
    place: tuple[str, ...] = ()
    """The arguments that name the directory of a shell command."""


_OURS = Takes("read", ("path",))
"""Our server's tool, which every agent calls by another name."""
_CHANGES = re.compile(
    r"(?:.*(?:__|[^a-zA-Z]))?(?:write|edit|create|append|delete|remove|move|rename|insert|replace|patch)"
    r"(?!(?:ed|er|or|d|r)(?![a-z]))",
    re.IGNORECASE,
)
_FOREIGN = Takes(
    "write", ("path", "file_path", "filePath", "absolute_path", "destination", "new_path", "newPath")
)
"""A tool of somebody's server that by its name changes the file that it is given."""


def changes_by_name(name: str) -> bool:
    """True for a tool of somebody's server (`mcp__files__write_file`) that changes files, by its name."""
    return _CHANGES.match(name) is not None


def tool_call(
    ident: str, name: str, arguments: object, cwd: str | None, tools: Mapping[str, Takes]
) -> ToolCall:
    """Given a call as recorded, return it with the files that it names, absolute."""
    takes = tools.get(name) or (_OURS if is_read_tool(name) else None)
    if (
        takes is None
        and changes_by_name(name)
        and isinstance(arguments, dict)
        and _first(arguments, _FOREIGN.keys)
    ):
        takes = _FOREIGN
    if takes is None or not isinstance(arguments, dict):
        return ToolCall(id=ident, name=name)
    value = _first(arguments, takes.keys)
    if value is None:
        return ToolCall(id=ident, name=name, writes=takes.how in ("write", "patch"))
    match takes.how:
        case "read" | "write":
            return ToolCall(id=ident, name=name, paths=(absolute(value, cwd),), writes=takes.how == "write")
        case "patch":
            return ToolCall(id=ident, name=name, paths=patch_paths(value, cwd), writes=True)
        case "shell":
            place = _first(arguments, takes.place)
            there = absolute(place, cwd) if place else cwd
            written = shell_writes(value, there)
            paths = written or shell_reads(value, there)
            return ToolCall(id=ident, name=name, paths=paths, writes=bool(written))
        case _:
            assert_never(takes.how)


def _first(arguments: Mapping[str, object], keys: Iterable[str]) -> str | None:
    return next((value for key in keys if isinstance(value := arguments.get(key), str) and value), None)
