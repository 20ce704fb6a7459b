"""Values as OTLP writes them in JSON, or plain already."""

from __future__ import annotations

import re
from typing import Any

from extractord.core.transcripts.commontools import parsed

_DEPTH = 8
_VALUES = ("stringValue", "intValue", "doubleValue", "boolValue")


def plain(value: object, depth: int = _DEPTH) -> Any:
    """Given attributes or a value in OTLP's form, or plain already, return them plain."""
    if depth == 0:
        return None
    match value:
        case [{"key": str()}, *_]:
            pairs = ((each.get("key"), each.get("value")) for each in value if isinstance(each, dict))
            return {key: plain(inner, depth - 1) for key, inner in pairs if isinstance(key, str)}
        case {"arrayValue": {"values": list() as values}}:
            return [plain(each, depth - 1) for each in values]
        case {"kvlistValue": {"values": list() as values}}:
            return plain(values, depth - 1) if values else {}
        case dict() if len(value) == 1 and next(iter(value)) in _VALUES:
            return next(iter(value.values()))
        case _:
            return value


def objects(value: object) -> list[dict[str, Any]]:
    """The objects in a list, or in JSON text of one, else nothing."""
    found = parsed(value) if isinstance(value, str) else value
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def mapping(value: object) -> dict[str, Any]:
    """An object, else an empty one."""
    return value if isinstance(value, dict) else {}


def text(value: object) -> str | None:
    """A text that says something, else None."""
    return value if isinstance(value, str) and value else None


def milliseconds(value: object) -> object:
    """Given nanoseconds, as OTLP counts them, return milliseconds; an instant that is written stays."""
    if isinstance(value, str) and not value.isdigit():
        return value
    number = int(value) if isinstance(value, str) and re.fullmatch(r"\d{1,19}", value, re.ASCII) else value
    return number // 1_000_000 if isinstance(number, int) and number > 0 else None
