"""The tools that the sub-agent is offered: their schemas, and their arguments as types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from extractord.core.records import Evidence, Tool

ARGUMENT_BYTES = 1024 * 1024
"""Longer arguments are refused unread."""

_Positive = Annotated[int, Meta(ge=1)]


class ReadCall(Struct, frozen=True, forbid_unknown_fields=True):
    """Look at one memory, from the line `offset` on."""

    file_path: str
    offset: _Positive = 1
    limit: _Positive = 2000


class GrepCall(Struct, frozen=True, forbid_unknown_fields=True):
    """Find a literal string in the memories below `path`, or in both roots."""

    pattern: Annotated[str, Meta(min_length=1, max_length=1000)]
    path: str | None = None


class GlobCall(Struct, frozen=True, forbid_unknown_fields=True):
    """List memories and folders by a pattern of their virtual path."""

    pattern: Annotated[str, Meta(min_length=1, max_length=1024)]


class WriteCall(Struct, frozen=True, forbid_unknown_fields=True):
    """Create or replace a memory."""

    file_path: str
    content: str
    evidence: tuple[Evidence, ...] = ()


class EditCall(Struct, frozen=True, forbid_unknown_fields=True):
    """Replace the single occurrence of `old_string`."""

    file_path: str
    old_string: str
    new_string: str
    evidence: tuple[Evidence, ...] = ()


class BashCall(Struct, frozen=True, forbid_unknown_fields=True):
    """An rm command; it is understood, never executed."""

    command: str
    evidence: tuple[Evidence, ...] = ()


class FinishCall(Struct, frozen=True, forbid_unknown_fields=True):
    """The run is over."""


ToolCall = ReadCall | GrepCall | GlobCall | WriteCall | EditCall | BashCall | FinishCall

TYPES: Mapping[str, type[ToolCall]] = {
    "Read": ReadCall,
    "Grep": GrepCall,
    "Glob": GlobCall,
    "Write": WriteCall,
    "Edit": EditCall,
    "Bash": BashCall,
    "Finish": FinishCall,
}

_DECODERS = {name: msgspec.json.Decoder(kind) for name, kind in TYPES.items()}


def _schema(required: str, /, **properties: object) -> dict[str, object]:
    """Given the required names and all properties, return an object's JSON schema."""
    return {"type": "object", "properties": properties, "required": required.split()}


_TEXT = {"type": "string"}
_COUNT = {"type": "integer", "minimum": 1}
_EVIDENCE = {"type": "array", "items": _schema("entry quote", entry=_TEXT, quote=_TEXT)}

CATALOGUE: tuple[Tool, ...] = (
    Tool(
        name="Read",
        description="Show a memory with line numbers. Not for folders (Glob) or searching (Grep).",
        parameters=_schema("file_path", file_path=_TEXT, offset=_COUNT, limit=_COUNT),
    ),
    Tool(
        name="Grep",
        description="Find a literal string, any case, in memories. Not for regular expressions, nor for "
        "anything outside /memory.",
        parameters=_schema("pattern", pattern=_TEXT, path=_TEXT),
    ),
    Tool(
        name="Glob",
        description="List memories and folders, as in /memory/project/**/*.md. Not for their contents.",
        parameters=_schema("pattern", pattern=_TEXT),
    ),
    Tool(
        name="Write",
        description="Create a memory or replace a whole one, at most 64 KiB. Not for small changes (Edit), "
        "the index MEMORY.md or any file that is not a memory. What it replaces cannot be got back by you.",
        parameters=_schema("file_path content evidence", file_path=_TEXT, content=_TEXT, evidence=_EVIDENCE),
    ),
    Tool(
        name="Edit",
        description="Replace old_string, which must occur exactly once, by new_string. Not for a new memory "
        "(Write). What it replaces cannot be got back by you.",
        parameters=_schema(
            "file_path old_string new_string evidence",
            file_path=_TEXT,
            old_string=_TEXT,
            new_string=_TEXT,
            evidence=_EVIDENCE,
        ),
    ),
    Tool(
        name="Bash",
        description="Only `rm /memory/…/name.md …`: removes memories that no longer hold. Not a shell: no "
        "other command, option, pattern or pipe. What it removes cannot be got back by you.",
        parameters=_schema("command evidence", command=_TEXT, evidence=_EVIDENCE),
    ),
    Tool(
        name="Finish",
        description="End the run and keep what was done; in one reply with the last calls, or alone. Not for "
        "a pause: nothing can be done after it.",
        parameters=_schema(""),
    ),
)

_SCHEMAS = {tool.name: msgspec.json.encode(tool.parameters).decode() for tool in CATALOGUE}


def schema(name: str) -> str:
    """Given a tool's name, return the JSON text of its schema."""
    return _SCHEMAS[name]


def unwrap(arguments: str) -> str | None:
    """Given arguments as they came, return them as one JSON object's text, or None.

    Empty text is the empty object; an object inside a JSON string is taken out of it, as some
    models wrap it.
    """
    if len(arguments) > ARGUMENT_BYTES:
        return None
    text = arguments.strip() or "{}"
    try:
        value = msgspec.json.decode(text)
        if isinstance(value, str):
            text, value = value, msgspec.json.decode(value)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None
    return text if isinstance(value, dict) else None


def decode(name: str, arguments: str) -> ToolCall | str:
    """Given a known tool's name and its arguments, return them typed, or what is wrong with them."""
    if len(arguments) > ARGUMENT_BYTES:
        return f"the arguments are longer than {ARGUMENT_BYTES // 1024} KiB"
    text = unwrap(arguments)
    if text is None:
        return "the arguments are not a JSON object"
    try:
        return _DECODERS[name].decode(text)
    except msgspec.ValidationError as error:
        return str(error)
